/** A link is on its way (spec section 2, "Email login panel"): the address is locked, and there are three ways on. */
import { useEffect, useId, useRef } from 'react';
import { Resend } from '../shared/form.tsx';
import { Notice } from '../shared/notice.tsx';
import parts from '../shared/shared.module.css';
import styles from './SignIn.module.css';

export interface SentViewProps {
  email: string;
  error: string | null;
  busy: boolean;
  resent: boolean;
  onEdit(): void;
  onResend(): void;
  /** `null` where nobody signs in by code. */
  onUseCode: (() => void) | null;
}

export function SentView({ email, error, busy, resent, onEdit, onResend, onUseCode }: SentViewProps) {
  const id = useId();
  const heading = useRef<HTMLParagraphElement>(null);
  useEffect(() => heading.current?.focus(), []);

  return (
    <div className={styles.panel} data-step="sent" aria-busy={busy}>
      <p className={styles.lead} ref={heading} tabIndex={-1}>
        A login link has been sent to
      </p>
      <div className={styles.locked}>
        <label className="visually-hidden" htmlFor={`${id}-email`}>
          Email address
        </label>
        <input className={styles.lockedEmail} id={`${id}-email`} type="email" value={email} readOnly />
        <button type="button" className={parts.textButton} onClick={onEdit}>
          Edit
        </button>
      </div>
      <p className={styles.note}>Open it on this device or on any other. It is good for ten minutes.</p>
      <Notice id={`${id}-error`} text={error} />
      <div className={styles.ways}>
        <Resend question="Didn't get a link?" action="Resend" resent={resent} busy={busy} onResend={onResend} />
        {onUseCode && (
          <button type="button" className="button button-plain" aria-disabled={busy} onClick={onUseCode}>
            Login with code instead
          </button>
        )}
      </div>
    </div>
  );
}
