/** Entering the six digits of a mail (spec section 2, "Code view"). */
import { type SyntheticEvent, useEffect, useId, useRef, useState } from 'react';
import { Resend } from '../shared/form.tsx';
import { Notice } from '../shared/notice.tsx';
import parts from '../shared/shared.module.css';
import { CodeBoxes } from './CodeBoxes.tsx';
import styles from './SignIn.module.css';

export interface CodeViewProps {
  email: string;
  /** Said about the code. */
  error: string | null;
  /** Said about the rest. */
  trouble: string | null;
  busy: boolean;
  resent: boolean;
  onConfirm(code: string): void;
  onResend(): void;
  onEdit(): void;
}

export function CodeView(props: CodeViewProps) {
  const { email, error, trouble, busy, resent } = props;
  const id = useId();
  const [code, setCode] = useState('');
  // Once a code was wrong, the reader says when the next one is to be tried (spec section 2).
  const failed = useRef(false);
  useEffect(() => {
    if (error !== null) failed.current = true;
  }, [error]);
  // The digits of an older code are of no use to a new one.
  const [sent, setSent] = useState(0);
  useEffect(() => {
    if (!resent) return;
    setCode('');
    setSent((count) => count + 1);
  }, [resent]);

  function submit(event: SyntheticEvent) {
    event.preventDefault();
    props.onConfirm(code);
  }

  return (
    <div className={styles.panel} data-step="code">
      <h2 className={styles.heading}>Please check your email.</h2>
      <p className={styles.note}>
        A verification code was sent to <b className={styles.address}>{email}</b>.{' '}
        <button type="button" className={parts.textButton} onClick={props.onEdit}>
          Edit
        </button>
      </p>
      <form className={styles.form} aria-busy={busy} onSubmit={submit}>
        <CodeBoxes
          key={sent}
          describedBy={`${id}-error`}
          invalid={error !== null}
          disabled={busy}
          onChange={setCode}
          onComplete={(whole) => {
            if (!failed.current) props.onConfirm(whole);
          }}
        />
        <Notice id={`${id}-error`} text={error} />
        <button className={`button ${styles.submit}`} type="submit" aria-disabled={busy}>
          {busy ? 'One moment…' : 'Confirm'}
        </button>
      </form>
      <Notice id={`${id}-trouble`} text={trouble} />
      <Resend
        question="Didn't get a code?"
        action="Click to resend."
        resent={resent}
        busy={busy}
        onResend={props.onResend}
      />
    </div>
  );
}
