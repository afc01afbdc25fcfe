/** The order: what is offered, the coupon, the buyer's place for tax, the sums, and the pay button. */
import { type FocusEvent, type KeyboardEvent, useEffect, useId, useState } from 'react';
import { countries, needsPostalCode } from '../../lib/billing/countries.ts';
import type { Price, QuoteAnswer, TaxAddress } from '../../lib/billing/wire.ts';
import { longDayInZone } from '../../lib/day-in-zone.ts';
import { formatTaxed } from '../../lib/money.ts';
import { dailyRate, intervalName, money, priceInWords, type Rate, rateOf, savingOf } from '../../lib/plans/model.ts';
import { Notice } from '../shared/notice.tsx';
import parts from '../shared/shared.module.css';
import type { CouponState } from './order.ts';
import styles from './PaywallModal.module.css';
import type { PaymentState } from './payment.ts';

interface OfferProps {
  price: Price;
  choices: readonly Price[];
  locked: boolean;
  onChoose(price: Price): void;
}

/** What is offered: a plan with its price, the penny promotion, or a choice of two plans. */
export function Offer({ price, choices, locked, onChoose }: OfferProps) {
  const name = useId();
  if (price.promotion)
    return (
      <div className={styles.penny} data-offer="penny">
        <p className={styles.coin}>{dailyRate(price, price.promotion)}</p>
        <p>{price.pennySubheading}</p>
      </div>
    );
  const month = choices.map(rateOf).find(({ interval, count }) => interval === 'month' && count === 1);
  const saving = (rate: Rate) => (rate.interval === 'year' && rate.count === 1 ? savingOf(rate, month) : 0);
  if (choices.length > 1)
    return (
      <fieldset className={styles.choices} data-offer="choice" disabled={locked}>
        <legend className="visually-hidden">Your subscription</legend>
        {choices.map((each) => (
          <label className={styles.choice} key={each.id}>
            <input
              type="radio"
              name={name}
              value={each.zephrPlanId}
              checked={each.id === price.id}
              onChange={() => onChoose(each)}
            />
            <span>
              <b>{each.recurring.interval === 'year' ? 'Yearly' : 'Monthly'}</b> {priceInWords(rateOf(each))}
              {saving(rateOf(each)) > 0 && (
                <em className={styles.saving}> Save {money(saving(rateOf(each)), each.currency)} a year</em>
              )}
            </span>
          </label>
        ))}
      </fieldset>
    );
  return (
    <div className={styles.offer} data-offer="plan">
      <p className={styles.offerName}>{price.product.name}</p>
      <p className={styles.offerRate}>{priceInWords(rateOf(price))}</p>
      {price.print && <p className={styles.offerNote}>With the weekly print edition by mail</p>}
    </div>
  );
}

interface CouponProps {
  state: CouponState;
  currency: string;
  /** Nothing may change while it is paid. */
  locked: boolean;
  onApply(code: string): void;
  onRemove(): void;
}

/** The coupon: none, then applied (Remove) or an error (Apply to try again) (spec section 4). */
export function Coupon({ state, currency, locked, onApply, onRemove }: CouponProps) {
  const id = useId();
  const [code, setCode] = useState(state.code);
  const applying = state.kind === 'applying';
  // What was wrong with a code says nothing about the one that is typed next.
  const wrong = state.kind === 'error' && state.code.trim() === code.trim();
  const disabled = code.trim() === '' || applying || locked;

  if (state.kind === 'applied') {
    const { amountOff, percentOff } = state;
    const off = percentOff !== null ? `${percentOff}%` : amountOff !== null ? money(amountOff, currency) : '';
    return (
      <div className={styles.applied}>
        <p role="status">
          <b>{state.code}</b> {off && <span>takes {off} off</span>}
        </p>
        <button
          type="button"
          className={parts.textButton}
          aria-disabled={locked}
          onClick={() => {
            if (locked) return;
            setCode('');
            onRemove();
          }}
        >
          Remove<span className="visually-hidden"> the coupon</span>
        </button>
      </div>
    );
  }

  const apply = () => {
    if (!disabled) onApply(code);
  };
  return (
    <div className={styles.fieldset}>
      <label className={styles.label} htmlFor={`${id}-code`}>
        Coupon <span className={styles.optional}>if you have one</span>
      </label>
      <div className={styles.couponRow}>
        <input
          className="field"
          id={`${id}-code`}
          name="coupon"
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          maxLength={100}
          value={code}
          readOnly={applying || locked}
          aria-describedby={`${id}-error`}
          aria-invalid={wrong || undefined}
          onChange={(event) => setCode(event.target.value)}
          onKeyDown={(event: KeyboardEvent) => {
            if (event.key !== 'Enter') return;
            // Else the form would be paid.
            event.preventDefault();
            apply();
          }}
        />
        <button type="button" className="button button-plain" disabled={disabled} onClick={apply}>
          {applying ? 'Applying…' : 'Apply'}
        </button>
      </div>
      <Notice id={`${id}-error`} text={wrong ? state.text : null} />
    </div>
  );
}

interface TaxPlaceProps {
  known: TaxAddress | null;
  /** Where the reader seems to be; `null`: not known. */
  country: string | null;
  locked: boolean;
  onPlace(place: TaxAddress): void;
}

/** Where a buyer lives, as far as tax depends on it: asked for before the sum can be said. */
export function TaxPlace({ known, country: near, locked, onPlace }: TaxPlaceProps) {
  const id = useId();
  const [all] = useState(countries);
  const [country, setCountry] = useState(known?.country ?? near ?? 'US');
  const [code, setCode] = useState(known?.postal_code ?? '');
  const needed = needsPostalCode(country);

  function tell(place: { country: string; code: string }) {
    const postal = place.code.trim();
    if (needsPostalCode(place.country) && postal === '') return;
    if (place.country === known?.country && postal === (known.postal_code ?? '')) return;
    onPlace(postal === '' ? { country: place.country } : { country: place.country, postal_code: postal });
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the fields appear
  useEffect(() => {
    // Where tax is the same all over a country, the country is all there is to ask.
    if (!known && near) tell({ country: near, code: '' });
  }, []);
  // A wallet may have said it.
  useEffect(() => {
    if (!known) return;
    setCountry(known.country);
    setCode(known.postal_code ?? '');
  }, [known]);
  // Told when both fields are left, so that no sum is asked for with half of an address.
  const left = ({ currentTarget, relatedTarget }: FocusEvent<HTMLFieldSetElement>) => {
    if (!currentTarget.contains(relatedTarget)) tell({ country, code });
  };

  return (
    <fieldset className={styles.place} disabled={locked} onBlur={left}>
      <legend>Where you live</legend>
      <p className={styles.hint}>Sales tax depends on it.</p>
      <label htmlFor={`${id}-country`}>Country</label>
      <select
        className="field"
        id={`${id}-country`}
        autoComplete="billing country"
        value={country}
        onChange={({ target }) => {
          setCountry(target.value);
          if (!needsPostalCode(target.value)) tell({ country: target.value, code });
        }}
      >
        {all.map((each) => (
          <option key={each.code} value={each.code}>
            {each.name}
          </option>
        ))}
      </select>
      <label htmlFor={`${id}-code`}>{country === 'US' ? 'ZIP code' : 'Postal code'}</label>
      <input
        className="field"
        id={`${id}-code`}
        autoComplete="billing postal-code"
        maxLength={20}
        required={needed}
        value={code}
        onChange={({ target }) => {
          setCode(target.value);
          if (country === 'US' && /^\d{5}$/.test(target.value.trim())) tell({ country, code: target.value });
        }}
      />
    </fieldset>
  );
}

interface TotalsProps {
  price: Price;
  quote: QuoteAnswer | null;
  asking: boolean;
}

/** What is due today and later (spec section 2, "Paywall modal"). Every sum is Stripe's own. */
export function Totals({ price, quote, asking }: TotalsProps) {
  const currency = quote?.currency ?? price.currency;
  const inMoney = (amount: number) => money(amount, currency);
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
              <span>{description}</span> <span>{inMoney(amount).replace('-', '−')}</span>
            </li>
          ))}
        </ul>
      )}
      <p className={styles.due}>
        <span>Due today</span> <strong data-due="">{known ? inMoney(known.dueToday) : waiting}</strong>
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
          <dd>{known ? longDayInZone(known.renewalDate) : waiting}</dd>
        </div>
      </dl>
      {known && (
        <p className={styles.hint} data-renewal="">
          Your subscription renews on {longDayInZone(known.renewalDate)} for{' '}
          {formatTaxed(known.dueAfterRenewal, known.tax?.renewal, currency)}, and again every{' '}
          {intervalName(rateOf(price))}, until you cancel.
        </p>
      )}
      <p className={styles.hint}>You may cancel your subscription at any time.</p>
    </div>
  );
}

interface PayButtonProps {
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

/** The button that pays, with the sum that is charged, and what is said about the payment. */
export function PayButton({ state, label, sum, disabled, notice }: PayButtonProps) {
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
