/** The line that asks for another message, and the brief word that it was sent. */
import styles from './shared.module.css';

interface Props {
  question: string;
  action: string;
  resent: boolean;
  busy: boolean;
  onResend(): void;
}

export function Resend({ question, action, resent, busy, onResend }: Props) {
  return (
    <p className={styles.resend}>
      {question}{' '}
      <button
        type="button"
        className={styles.textButton}
        aria-disabled={busy || resent}
        onClick={() => {
          if (!busy && !resent) onResend();
        }}
      >
        {action}
      </button>{' '}
      <span className={styles.resent} role="status">
        {resent && 'Resent!'}
      </span>
    </p>
  );
}
