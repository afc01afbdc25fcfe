/** The order: what is offered, the coupon, the buyer's place for tax, the sums, and the pay button. */

import { type FocusEvent, type KeyboardEvent, type RefObject, useEffect, useId, useRef, useState } from 'react';
import {
  countries,
  couponFields,
  needsPostalCode,
  type Price,
  type QuoteAnswer,
  type TaxAddress,
  taxFields,
} from '../../lib/billing/schema.ts';
import { longDayInZone } from '../../lib/day-in-zone.ts';
import { formatSum, formatTaxed } from '../../lib/money.ts';
import { order as messages, paywall } from '../../lib/plans/messages.ts';
import { dailyRate, intervalName, priceInWords, type Rate, rateOf, savingOf } from '../../lib/plans/model.ts';
import { Notice } from '../shared/notice.tsx';
import { useRetryOnline } from '../shared/online.ts';
import parts from '../shared/shared.module.css';
import styles from './Order.module.css';
import type { CouponState } from './order.ts';
import sheet from './PaywallModal.module.css';
import type { PaymentState } from './payment.ts';

interface OfferProps {
  price: Price;
  choices: readonly Price[];
  locked: boolean;
  onChoose(price: Price): void;
}

/** "Yearly", "Monthly"; for another interval, such as three months, Stripe's name of the price. */
function choiceName({ name, recurring: { interval, interval_count: count } }: Price): string {
  if (count !== 1) return name;
  return interval === 'year' ? messages.yearly : interval === 'month' ? messages.monthly : name;
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
        <legend className="visually-hidden">{messages.yourSubscription}</legend>
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
              <b>{choiceName(each)}</b> {priceInWords(rateOf(each))}
              {saving(rateOf(each)) > 0 && (
                <em className={styles.saving}> {messages.saves(formatSum(saving(rateOf(each)), each.currency))}</em>
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
      {price.print && <p className={styles.offerNote}>{messages.withPrint}</p>}
    </div>
  );
}

interface CouponProps {
  state: CouponState;
  /** Whether the reader has pressed a button here; the button that replaces it takes the focus. */
  pressed: RefObject<boolean>;
  currency: string;
  /** While the order is paid nothing can change. */
  locked: boolean;
  onApply(code: string): void;
  onRemove(): void;
}

/** The coupon: none, then applied (Remove) or an error (Apply to try again) (spec section 4). */
export function Coupon({ state, pressed, currency, locked, onApply, onRemove }: CouponProps) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const remove = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // A reader who has gone on to another field, such as the card's, keeps the focus there.
    const isLost = document.activeElement === null || document.activeElement.matches('body, dialog');
    if (pressed.current && isLost) (field.current ?? remove.current)?.focus();
    pressed.current = false;
  }, [pressed]);
  const [code, setCode] = useState(state.code);
  const applying = state.kind === 'applying';
  // The error is about the code that was sent, not about what is typed next.
  const wrong = state.kind === 'error' && state.code.trim() === code.trim();
  const disabled = code.trim() === '' || applying || locked;

  if (state.kind === 'applied') {
    const { amountOff, percentOff } = state;
    const off = percentOff !== null ? `${percentOff}%` : amountOff !== null ? formatSum(amountOff, currency) : '';
    return (
      <div className={styles.applied}>
        <p role="status">
          <b>{state.code}</b> {off && <span>{messages.takesOff(off)}</span>}
        </p>
        <button
          ref={remove}
          type="button"
          className={parts.textButton}
          aria-disabled={locked}
          onClick={() => {
            if (locked) return;
            pressed.current = true;
            setCode('');
            onRemove();
          }}
        >
          {messages.remove}
          <span className="visually-hidden"> {messages.theCoupon}</span>
        </button>
      </div>
    );
  }

  const apply = () => {
    if (disabled) return;
    pressed.current = true;
    // The button is disabled while the code is checked, and would lose the focus.
    field.current?.focus();
    onApply(code);
  };
  return (
    <div className={sheet.fieldset}>
      <label className={sheet.label} htmlFor={`${id}-code`}>
        {couponFields.code.label} <span className={styles.optional}>{messages.couponOptional}</span>
      </label>
      <div className={styles.couponRow}>
        <input
          ref={field}
          className="field"
          id={`${id}-code`}
          name="coupon"
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          maxLength={couponFields.code.longest}
          value={code}
          readOnly={applying || locked}
          aria-describedby={`${id}-error`}
          aria-invalid={wrong || undefined}
          onChange={(event) => setCode(event.target.value)}
          onKeyDown={(event: KeyboardEvent) => {
            if (event.key !== 'Enter') return;
            // Enter would submit the payment.
            event.preventDefault();
            apply();
          }}
        />
        <button type="button" className="button button-plain" disabled={disabled} onClick={apply}>
          {applying ? messages.applying : messages.apply}
        </button>
      </div>
      <Notice id={`${id}-error`} text={wrong ? state.text : null} />
    </div>
  );
}

interface TaxPlaceProps {
  known: TaxAddress | null;
  /** The country of the reader's network address; `null`: not known. */
  country: string | null;
  locked: boolean;
  onPlace(place: TaxAddress): void;
}

/** The address that tax depends on. Without it there is no sum. */
export function TaxPlace({ known, country: near, locked, onPlace }: TaxPlaceProps) {
  const id = useId();
  const [all] = useState(countries);
  const [country, setCountry] = useState(known?.country ?? near ?? 'US');
  const [code, setCode] = useState(known?.postal_code ?? '');
  const needed = needsPostalCode(country);

  function report(place: { country: string; code: string }) {
    const postal = place.code.trim();
    if (needsPostalCode(place.country) && postal === '') return;
    if (place.country === known?.country && postal === (known.postal_code ?? '')) return;
    onPlace(postal === '' ? { country: place.country } : { country: place.country, postal_code: postal });
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the fields appear
  useEffect(() => {
    // If tax is the same in the whole country, the country is enough.
    if (!known && near) report({ country: near, code: '' });
  }, []);
  // A wallet may have brought the address.
  useEffect(() => {
    if (!known) return;
    setCountry(known.country);
    setCode(known.postal_code ?? '');
  }, [known]);
  // Only when the reader leaves both fields, so that no sum is fetched for half an address.
  const reportOnLeave = ({ currentTarget, relatedTarget }: FocusEvent<HTMLFieldSetElement>) => {
    if (!currentTarget.contains(relatedTarget)) report({ country, code });
  };

  return (
    <fieldset className={styles.place} disabled={locked} onBlur={reportOnLeave}>
      <legend>{messages.place}</legend>
      <p className={sheet.hint}>{messages.placeNote}</p>
      <div>
        <label htmlFor={`${id}-country`}>{taxFields.country.label}</label>
        <select
          className="field"
          id={`${id}-country`}
          autoComplete={taxFields.country.autoComplete}
          value={country}
          onChange={({ target }) => {
            setCountry(target.value);
            if (!needsPostalCode(target.value)) report({ country: target.value, code });
          }}
        >
          {all.map((each) => (
            <option key={each.code} value={each.code}>
              {each.name}
            </option>
          ))}
        </select>
      </div>
      <div>
        <label htmlFor={`${id}-code`}>{country === 'US' ? messages.zip : taxFields.postal_code.label}</label>
        <input
          className="field"
          id={`${id}-code`}
          autoComplete={taxFields.postal_code.autoComplete}
          maxLength={taxFields.postal_code.longest}
          required={needed}
          value={code}
          onChange={({ target }) => {
            setCode(target.value);
            if (country === 'US' && /^\d{5}$/.test(target.value.trim())) report({ country, code: target.value });
          }}
        />
      </div>
    </fieldset>
  );
}

interface TotalsProps {
  price: Price;
  quote: QuoteAnswer | null;
  asking: boolean;
}

/** What is due today and later (spec section 2, "Paywall modal"). Every sum is Stripe's. */
export function Totals({ price, quote, asking }: TotalsProps) {
  const currency = quote?.currency ?? price.currency;
  const inMoney = (amount: number) => formatSum(amount, currency);
  // Without an address the sums lack the tax.
  const known = quote && !asking && !quote.needs ? quote : null;
  const waiting = (
    <span className={styles.blank}>{quote?.needs && !asking ? messages.placeMissing : messages.wait}</span>
  );
  // For a new subscription the lines would repeat the sum.
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
        <span>{messages.dueToday}</span> <strong data-due="">{known ? inMoney(known.dueToday) : waiting}</strong>
      </p>
      {known?.tax?.today && (
        <p className={sheet.hint} data-tax="">
          {formatTaxed(known.dueToday, known.tax.today, currency)}
        </p>
      )}
      <dl className={styles.later}>
        <div>
          <dt>{messages.dueAfterRenewal}</dt>
          <dd>{known ? formatTaxed(known.dueAfterRenewal, known.tax?.renewal, currency) : waiting}</dd>
        </div>
        <div>
          <dt>{messages.renewalDate}</dt>
          <dd>{known ? longDayInZone(known.renewalDate) : waiting}</dd>
        </div>
      </dl>
      {known && (
        <p className={sheet.hint} data-renewal="">
          {messages.renews(
            longDayInZone(known.renewalDate),
            formatTaxed(known.dueAfterRenewal, known.tax?.renewal, currency),
            intervalName(rateOf(price)),
          )}
        </p>
      )}
      <p className={sheet.hint}>{messages.cancelAnyTime}</p>
    </div>
  );
}

/** Why there is no sum, and a button to try again. It retries automatically when the browser comes back online. */
export function NoSum({ error, onRetry }: { error: string | null; onRetry(): void }) {
  useRetryOnline(error !== null, onRetry);
  return (
    <div className={styles.noSum}>
      <Notice id="paywall-sum-error" text={error} />
      {error !== null && (
        <button type="button" className="button button-plain" onClick={onRetry}>
          {paywall.retry}
        </button>
      )}
    </div>
  );
}

interface PayButtonProps {
  state: PaymentState;
  label: string;
  /** The sum as it is charged; `null` until it is known. */
  sum: string | null;
  disabled: boolean;
  notice: string | null;
}

/** The button that pays, with the sum, and messages about the payment. */
export function PayButton({ state, label, sum, disabled, notice }: PayButtonProps) {
  const { busy, error } = state;
  return (
    <div className={styles.pay}>
      <div role="status" className={styles.payNotice}>
        {(state.notice ?? notice) && <p>{state.notice ?? notice}</p>}
      </div>
      <Notice id="paywall-pay-error" text={error?.text ?? null} />
      <button
        type="submit"
        className={`button button-gold ${sheet.wide} ${styles.payButton}`}
        disabled={disabled && busy === null}
        aria-disabled={busy !== null}
        aria-describedby="paywall-pay-error"
      >
        {busy ? messages.busy[busy] : label}
        {busy === null && sum !== null && <span className={styles.payment}>{sum}</span>}
      </button>
      <span className="visually-hidden" role="status">
        {busy && messages.busy[busy]}
      </span>
    </div>
  );
}
