/**
 * What a panel shows while what it is about is not there: loading, empty, an error with a way to try again, no line. One live
 * region says each of them; it stays in the page, so that a change is read out.
 */
import { type ReactNode, useEffect, useRef } from 'react';
import styles from './PanelState.module.css';

export type PanelPhase = 'loading' | 'empty' | 'error' | 'offline' | 'ready';

interface Props {
  phase: PanelPhase;
  /** Said to those who do not see the skeleton. */
  loading?: string;
  /** In the place of what there is none of. */
  empty?: ReactNode;
  /** What went wrong, a sentence. */
  error?: string;
  offline?: string;
  /** Offered with an error. Without a line it goes on by itself, see {@link usePanel}. */
  onRetry?: () => void;
  /** Lines of the skeleton while it loads. */
  lines?: number;
  /** Shown when it is ready; and, where there is something from before, beside `offline` and `error`. */
  children?: ReactNode;
}

export function PanelState(props: Props) {
  const { phase, loading = 'Loading…', empty, onRetry, lines = 3, children } = props;
  const { error = 'Something went wrong. Please try again.', offline = offlineWords } = props;
  const region = useRef<HTMLDivElement>(null);
  const retried = useRef(false);
  // The button that was pressed goes; whoever works by keys stays where it was.
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
            <span className="visually-hidden">{loading}</span>
            {Array.from({ length: lines }, (_, line) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines of a skeleton are all alike
              <span key={line} aria-hidden="true" />
            ))}
          </div>
        )}
        {phase === 'empty' && <div className={styles.empty}>{empty}</div>}
        {phase === 'offline' && <p className={styles.notice}>{offline}</p>}
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
                Try again
              </button>
            )}
          </div>
        )}
      </div>
      {phase !== 'loading' && phase !== 'empty' && children}
    </>
  );
}

const offlineWords = 'You are offline. This goes on as soon as there is a line again.';
