/** State of the request that a form or a button makes: one at a time, and the message about a failure. */
import { useRef, useState } from 'react';

/** @param first a problem that the server has rendered */
export function useRequest(first: string | null = null) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(first);
  const running = useRef(false);
  return {
    busy,
    /** An error message, as a sentence; `null`: no error. */
    problem,
    setProblem,
    /** Makes the call, and is busy until `end`. @returns `null` while another call runs */
    async start<T>(call: () => Promise<T>): Promise<T | null> {
      if (running.current) return null;
      running.current = true;
      setBusy(true);
      setProblem(null);
      return call();
    },
    /** Not called when the page is left, so that the button stays busy. */
    end(message: string | null = null): void {
      running.current = false;
      setBusy(false);
      setProblem(message);
    },
  };
}
