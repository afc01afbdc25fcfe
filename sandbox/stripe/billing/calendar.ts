/** Stripe's calendar, in UTC: a month after 31 January is the last day of February, and a month after that 31 March. */
import type { Interval } from '../core/model.ts';

export const day = 86_400;
export const hour = 3_600;

export interface Recurrence {
  readonly interval: Interval;
  readonly interval_count: number;
}

/** The moment `times` intervals after `start`; Unix seconds. */
export function addIntervals(start: number, { interval, interval_count }: Recurrence, times = 1): number {
  const count = interval_count * times;
  if (interval === 'day') return start + count * day;
  if (interval === 'week') return start + count * 7 * day;
  const date = new Date(start * 1000);
  const months = date.getUTCMonth() + count * (interval === 'year' ? 12 : 1);
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), months + 1, 0)).getUTCDate();
  return (
    Date.UTC(
      date.getUTCFullYear(),
      months,
      Math.min(date.getUTCDate(), lastDay),
      date.getUTCHours(),
      date.getUTCMinutes(),
      date.getUTCSeconds(),
    ) / 1000
  );
}

/** The first boundary after `moment` of periods that are counted from `anchor`. */
export function boundaryAfter(anchor: number, recurrence: Recurrence, moment: number): number {
  if (anchor > moment) return anchor;
  let times = 1;
  while (addIntervals(anchor, recurrence, times) <= moment) times += 1;
  return addIntervals(anchor, recurrence, times);
}

/** The period, counted from `anchor`, that contains `moment`. */
export function periodAround(anchor: number, recurrence: Recurrence, moment: number): { start: number; end: number } {
  let [start, times] = [anchor, 1];
  for (;;) {
    const end = addIntervals(anchor, recurrence, times);
    if (end > moment) return { start, end };
    start = end;
    times += 1;
  }
}

/** `21 Nov 2026`, as in the lines of Stripe's invoices. */
export const shortDate = (moment: number): string => shortDay.format(moment * 1000);
const shortDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
const formats = new Map<string, Intl.NumberFormat>();

/** `$12.00`, `¥12`: some currencies have no minor unit. */
export function money(amount: number, currency: string): string {
  // Making a format takes a hundred times as long as using it.
  const format = formats.get(currency) ?? new Intl.NumberFormat('en-US', { style: 'currency', currency });
  formats.set(currency, format);
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}
