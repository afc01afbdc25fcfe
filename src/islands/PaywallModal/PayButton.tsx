/** The button that pays, with the sum that is charged, and what is said about the payment. */
import { Notice } from '../shared/form.tsx';
import styles from './PaywallModal.module.css';
import type { PaymentState } from './payment.ts';

interface Props {
  state: PaymentState;
  label: string;
  /** The sum as it is charged; `null` as long as it is not known. */
  sum: string | null;
  disabled: boolean;
  notice: string | null;
}

const waits = {
  paying: 'Paying…',
  confirming: 'Waiting for your bank…',
  checking: 'One moment, looking at your payment…',
} as const;

export function PayButton({ state, label, sum, disabled, notice }: Props) {
  const { busy, error } = state;
  return (
    <div className={styles.pay}>
      <div role="status" className={styles.payNotice}>
        {(notice ?? state.notice) && <p>{notice ?? state.notice}</p>}
      </div>
      <Notice id="paywall-pay-error" text={error?.text ?? null} />
      <button
        type="submit"
        className={`button button-gold ${styles.wide} ${styles.payButton}`}
        disabled={disabled && busy === null}
        aria-disabled={busy !== null}
        aria-describedby="paywall-pay-error"
      >
        {busy ? waits[busy] : label}
        {busy === null && sum !== null && <span className={styles.payment}>{sum}</span>}
      </button>
      <span className="visually-hidden" role="status">
        {busy && waits[busy]}
      </span>
    </div>
  );
}
