/** Reads what a panel shows, and keeps the state that {@link PanelState} draws: nothing is asked twice, a line that comes back goes on. */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Answer } from '../../lib/http/ask.ts';
import type { PanelPhase } from './PanelState.tsx';

export interface PanelOptions<T> {
  /** Asks the server; answers with a value and never throws. */
  readonly load: () => Promise<Answer<T>>;
  /** What the server has drawn already; nothing is asked until `retry` then. */
  readonly first?: T | null;
  readonly isEmpty?: (value: T) => boolean;
}

export interface Panel<T> {
  readonly phase: PanelPhase;
  readonly value: T | null;
  /** What the server says about an error, if it says something. */
  readonly message: string | null;
  /** Asks anew. Presses while it is asked are one. */
  retry(): void;
  /** What a change has made of it. */
  set(value: T): void;
}

export function usePanel<T>({ load, first = null, isEmpty = () => false }: PanelOptions<T>): Panel<T> {
  const [value, setValue] = useState<T | null>(first);
  const [failed, setFailed] = useState<'error' | 'offline' | null>(null);
  const [message, setMessage] = useState<string | null>(null);
  const asking = useRef(false);
  const here = useRef(true);
  const current = useRef(load);
  current.current = load;

  const retry = useCallback(async () => {
    if (asking.current) return;
    asking.current = true;
    setFailed(null);
    const answer = await current.current();
    asking.current = false;
    if (!here.current) return;
    setMessage(answer.ok ? null : answer.message);
    if (answer.ok) setValue(answer.value);
    else setFailed(answer.status === 0 && !navigator.onLine ? 'offline' : 'error');
  }, []);

  const known = first !== null;
  useEffect(() => {
    here.current = true;
    if (!known) void retry();
    return () => {
      here.current = false;
    };
  }, [known, retry]);
  useEffect(() => {
    if (failed !== 'offline') return;
    const again = () => void retry();
    addEventListener('online', again);
    return () => removeEventListener('online', again);
  }, [failed, retry]);

  const set = useCallback((next: T) => {
    setFailed(null);
    setValue(next);
  }, []);
  const phase = failed ?? (value === null ? 'loading' : isEmpty(value) ? 'empty' : 'ready');
  return { phase, value, message, retry: () => void retry(), set };
}
