/** What is due today and later (spec section 2, "Paywall modal"). Every sum is Stripe's own. */
import type { Price, QuoteAnswer } from '../../lib/billing/wire.ts';
import { formatTaxed } from '../../lib/money.ts';
import { dayOf, period, sum } from './money.ts';
import styles from './PaywallModal.module.css';

interface Props {
  price: Price;
  quote: QuoteAnswer | null;
  asking: boolean;
}

export function Totals({ price, quote, asking }: Props) {
  const currency = quote?.currency ?? price.currency;
  const money = (amount: number) => sum(amount, currency);
  // Without an address the sums lack the tax, and say nothing.
  const known = quote && !asking && !quote.needs ? quote : null;
  const waiting = (
    <span className={styles.blank}>{quote?.needs && !asking ? 'Tell us where you live' : 'One moment…'}</span>
  );
  // For a new subscription the lines say no more than the sum.
  const lines = quote?.kind === 'upgrade' ? quote.lines : [];
  return (
    <div className={styles.totals} aria-busy={asking} aria-live="polite">
      {lines.length > 0 && (
        <ul className={styles.lines}>
          {lines.map(({ description, amount }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two lines of an invoice may be alike
            <li key={`${at} ${description}`}>
              <span>{description}</span> <span>{money(amount).replace('-', '−')}</span>
            </li>
          ))}
        </ul>
      )}
      <p className={styles.due}>
        <span>Due today</span> <strong data-due="">{known ? money(known.dueToday) : waiting}</strong>
      </p>
      {known?.tax?.today && (
        <p className={styles.hint} data-tax="">
          {formatTaxed(known.dueToday, known.tax.today, currency)}
        </p>
      )}
      <dl className={styles.later}>
        <div>
          <dt>Total due after renewal</dt>
          <dd>{known ? formatTaxed(known.dueAfterRenewal, known.tax?.renewal, currency) : waiting}</dd>
        </div>
        <div>
          <dt>Renewal date</dt>
          <dd>{known ? dayOf(known.renewalDate) : waiting}</dd>
        </div>
      </dl>
      {known && (
        <p className={styles.hint} data-renewal="">
          Your subscription renews on {dayOf(known.renewalDate)} for{' '}
          {formatTaxed(known.dueAfterRenewal, known.tax?.renewal, currency)}, and again every {period(price)}, until you
          cancel.
        </p>
      )}
      <p className={styles.hint}>You may cancel your subscription at any time.</p>
    </div>
  );
}
