/** Sums and dates of the order. */
import type { Price } from '../../lib/billing/wire.ts';
import { formatMoney } from '../../lib/money.ts';
import { publication } from '../../publication.ts';

/** "$120", and "$0.60" where there are cents. */
export const sum = (minor: number, currency: string): string =>
  formatMoney(minor, { currency, cents: minor % 100 !== 0 });

/** "$0.01/Day" (spec section 2, "Paywall modal"). */
export const perDay = (minor: number, currency: string): string =>
  `${formatMoney(minor, { currency, cents: true })}/Day`;

/** "$120 a year", "$30 every 3 months". */
export function rate({ unit_amount, currency, recurring: { interval, interval_count: count } }: Price): string {
  const amount = sum(unit_amount, currency);
  return count === 1 ? `${amount} a ${interval}` : `${amount} every ${count} ${interval}s`;
}

const day = new Intl.DateTimeFormat(publication.language, { timeZone: publication.timeZone, dateStyle: 'long' });

/** "January 20, 2027", in the paper's own zone. @param instant epoch milliseconds */
export const dayOf = (instant: number): string => day.format(instant);
