/** One step of the accordion. Folded, it keeps what is in it. */
import { type ReactNode, useEffect, useId, useRef } from 'react';
import styles from './PaywallModal.module.css';

interface Props {
  number: number;
  of: number;
  heading: string;
  open: boolean;
  done: boolean;
  /** Shown while it is folded. */
  summary?: ReactNode;
  /** The control beside the heading. */
  control?: ReactNode;
  children: ReactNode;
}

export function Step({ number, of, heading, open, done, summary, control, children }: Props) {
  const id = useId();
  const title = useRef<HTMLHeadingElement>(null);
  // Opened, a step is read out from its heading on.
  useEffect(() => {
    if (open) title.current?.focus({ preventScroll: true });
    if (open) title.current?.scrollIntoView?.({ block: 'nearest' });
  }, [open]);

  return (
    <section
      className={styles.step}
      data-step={heading.toLowerCase()}
      data-open={open || undefined}
      aria-labelledby={id}
    >
      <div className={styles.stepHead}>
        <span className={styles.number} data-done={(done && !open) || undefined} aria-hidden="true">
          {done && !open ? (
            <svg viewBox="0 0 16 16" width="14" height="14" focusable="false" aria-hidden="true">
              <path d="M3 8.5l3.2 3.2L13 5" fill="none" stroke="currentColor" strokeWidth="2" />
            </svg>
          ) : (
            number
          )}
        </span>
        <h3 className={styles.stepTitle} id={id} ref={title} tabIndex={-1}>
          <span className="visually-hidden">
            Step {number} of {of}:{' '}
          </span>
          {heading}
        </h3>
        {control}
        {!open && summary && <div className={styles.summary}>{summary}</div>}
      </div>
      <div className={styles.stepBody} hidden={!open}>
        {children}
      </div>
    </section>
  );
}
