/** The browser's connection: whether there is one, and what to repeat when it comes back. */
import { useEffect, useRef, useSyncExternalStore } from 'react';

const onChange = (changed: () => void): (() => void) => {
  addEventListener('online', changed);
  addEventListener('offline', changed);
  return () => {
    removeEventListener('online', changed);
    removeEventListener('offline', changed);
  };
};

/** Whether the browser is online; on the server it always is. */
export const useOnline = (): boolean =>
  useSyncExternalStore(
    onChange,
    () => navigator.onLine,
    () => true,
  );

/**
 * Repeats a failed action when the browser comes back online.
 * @param failed whether there is something to repeat
 */
export function useRetryOnline(failed: boolean, retry: () => void): void {
  const current = useRef(retry);
  current.current = retry;
  useEffect(() => {
    if (!failed) return;
    const again = () => current.current();
    addEventListener('online', again);
    return () => removeEventListener('online', again);
  }, [failed]);
}
