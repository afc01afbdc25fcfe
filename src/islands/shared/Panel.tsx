/** A panel that loads what it shows: its states, its error boundary, and the hook that asks the server. */
import { Component, type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import type { Reply } from '../../lib/http/ask.ts';
import { common } from '../../lib/http/messages.ts';
import { useRetryOnline } from './online.ts';
import styles from './Panel.module.css';

const messages = {
  loading: 'Loading…',
  again: 'Try again',
  offline: 'You’re offline. We’ll load this when you’re back online.',
};

export type PanelPhase = 'loading' | 'empty' | 'error' | 'offline' | 'ready';

interface PanelStateProps {
  phase: PanelPhase;
  /** Shown when there is nothing to list. */
  empty?: ReactNode;
  /** An error, as a sentence. */
  error?: string;
  /** Offered with an error. Offline, {@link usePanel} repeats the request by itself. */
  onRetry?: () => void;
  /** Lines of the skeleton while it loads. */
  lines?: number;
  /** Shown when ready; content that was loaded earlier is also shown with `offline` and `error`. */
  children?: ReactNode;
}

/**
 * What a panel shows instead of its content: loading, empty, an error with a button to try again, offline. One live region holds
 * them all; it stays in the page, so that screen readers announce each change.
 */
export function PanelState(props: PanelStateProps) {
  const { phase, empty, error = common.wrong, onRetry, lines = 3, children } = props;
  const region = useRef<HTMLDivElement>(null);
  const retried = useRef(false);
  // The pressed button disappears: keyboard users keep their place.
  useEffect(() => {
    if (!retried.current) return;
    if (phase !== 'loading') retried.current = false;
    region.current?.focus();
  }, [phase]);
  return (
    <>
      <div ref={region} className={styles.state} aria-live="polite" tabIndex={-1} data-phase={phase}>
        {phase === 'loading' && (
          <div className={styles.skeleton}>
            <span className="visually-hidden">{messages.loading}</span>
            {Array.from({ length: lines }, (_, line) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines of a skeleton are all alike
              <span key={line} aria-hidden="true" />
            ))}
          </div>
        )}
        {phase === 'empty' && <div className={styles.empty}>{empty}</div>}
        {phase === 'offline' && <p className={styles.notice}>{messages.offline}</p>}
        {phase === 'error' && (
          <div className={`${styles.notice} ${styles.error}`}>
            <p>{error}</p>
            {onRetry && (
              <button
                type="button"
                className="button button-plain"
                onClick={() => {
                  retried.current = true;
                  onRetry();
                }}
              >
                {messages.again}
              </button>
            )}
          </div>
        )}
      </div>
      {phase !== 'loading' && phase !== 'empty' && children}
    </>
  );
}

interface BoundaryProps {
  children: ReactNode;
  /** A sentence in place of a panel that couldn't be rendered. */
  error?: string;
}

/** Error boundary of one panel: its neighbors stay, and it can be rendered again. */
export class PanelBoundary extends Component<BoundaryProps, { readonly broken: boolean }> {
  override state = { broken: false };
  static getDerivedStateFromError() {
    return { broken: true };
  }
  override render() {
    const { children, error } = this.props;
    if (!this.state.broken) return children;
    const retry = () => this.setState({ broken: false });
    return <PanelState phase="error" {...(error !== undefined && { error })} onRetry={retry} />;
  }
}

export interface PanelOptions<T> {
  /** Loads the value; returns failures as values and never throws. */
  readonly load: () => Promise<Reply<T>>;
  /** What the server has rendered already; then nothing is requested until `retry`. `null`: nothing. */
  readonly first: T | null;
  readonly isEmpty?: (value: T) => boolean;
}

export interface Panel<T> {
  readonly phase: PanelPhase;
  readonly value: T | null;
  /** Requests again; ignored while a request runs. */
  retry(): void;
  /** Shows a changed value. */
  set(value: T): void;
}

/** Loads what a panel shows. One request at a time; when the browser comes back online, a failed one is repeated. */
export function usePanel<T>({ load, first, isEmpty = () => false }: PanelOptions<T>): Panel<T> {
  const [value, setValue] = useState<T | null>(first);
  const [failed, setFailed] = useState<'error' | 'offline' | null>(null);
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
  useRetryOnline(failed === 'offline', () => void retry());

  const set = useCallback((next: T) => {
    setFailed(null);
    setValue(next);
  }, []);
  const phase = failed ?? (value === null ? 'loading' : isEmpty(value) ? 'empty' : 'ready');
  return { phase, value, retry: () => void retry(), set };
}
