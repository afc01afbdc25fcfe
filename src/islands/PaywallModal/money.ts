/** Sums and dates of the order. */
import type { Price } from '../../lib/billing/wire.ts';
import { formatMoney, formatSum } from '../../lib/money.ts';
import { publication } from '../../publication.ts';

/** "$120", and "$0.60" where there are cents. */
export const sum = formatSum;

/** "$0.01/Day" (spec section 2, "Paywall modal"). */
export const perDay = (minor: number, currency: string): string =>
  `${formatMoney(minor, { currency, cents: true })}/Day`;

/** "$120 a year", "$30 every 3 months". */
export function rate({ unit_amount, currency, recurring: { interval, interval_count: count } }: Price): string {
  const amount = sum(unit_amount, currency);
  return count === 1 ? `${amount} a ${interval}` : `${amount} every ${count} ${interval}s`;
}

/** "year", "3 months". */
export const period = ({ recurring: { interval, interval_count: count } }: Price): string =>
  count === 1 ? interval : `${count} ${interval}s`;

/** Minor units that a year paid at once saves over twelve months; 0 where there is no month to compare, or nothing saved. */
export function yearlySaving(price: Price, choices: readonly Price[]): number {
  if (price.recurring.interval !== 'year' || price.recurring.interval_count !== 1) return 0;
  const month = choices.find(
    ({ currency, recurring: { interval, interval_count: count } }) =>
      currency === price.currency && interval === 'month' && count === 1,
  );
  return month ? Math.max(0, 12 * month.unit_amount - price.unit_amount) : 0;
}

const day = new Intl.DateTimeFormat(publication.language, { timeZone: publication.timeZone, dateStyle: 'long' });

/** "January 20, 2027", in the paper's own zone. @param instant epoch milliseconds */
export const dayOf = (instant: number): string => day.format(instant);
