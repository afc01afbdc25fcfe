/**
 * Dates as the paper prints them: always in the paper's own zone, whatever zone the server or the reader is in
 * (spec section 9). Every function takes UTC instants, as ISO 8601 strings or epoch milliseconds.
 */
import { publication } from '../publication.ts';

/** One formatter for all of them: making one costs a hundred times what using it does. */
const formatter = new Intl.DateTimeFormat('en-US', {
  timeZone: publication.timeZone,
  ...{ weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' },
  ...{ hour: 'numeric', minute: '2-digit', second: '2-digit', hourCycle: 'h23', timeZoneName: 'longOffset' },
});
const monthName = new Intl.DateTimeFormat('en-US', { month: 'long', timeZone: 'UTC' });
const monthNumbers = new Map(
  Array.from({ length: 12 }, (_, month) => [
    monthName.format(Date.UTC(2026, month)),
    String(month + 1).padStart(2, '0'),
  ]),
);

type Part = 'weekday' | 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'timeZoneName';

type Parts = Readonly<Record<Part, string>>;

/** The dates of a story stand on dozens of pages, and each costs as much as the rest of its card. */
const known = new Map<string | number, Parts>();

/** What clock and calendar in the paper's zone say. @throws RangeError when it is no instant */
function partsOf(instant: string | number): Parts {
  let parts = known.get(instant);
  if (!parts) {
    const named = formatter.formatToParts(new Date(instant)).map(({ type, value }) => [type, value]);
    parts = Object.fromEntries(named) as Parts;
    if (known.size >= 5000) known.clear();
    known.set(instant, parts);
  }
  return parts;
}

/** "Saturday, November 21, 2026": the day in the masthead. */
export function mastheadDay(instant: string | number): string {
  const { weekday, month, day, year } = partsOf(instant);
  return `${weekday}, ${month} ${day}, ${year}`;
}

/** "November 21, 2026": the date of an article. */
export function longDate(instant: string | number): string {
  const { month, day, year } = partsOf(instant);
  return `${month} ${day}, ${year}`;
}

/** "Nov. 21, 2026, 9:05 a.m. ET": date and time for bylines and corrections. */
export function dateAndTime(instant: string | number): string {
  const { month, day, year, hour, minute } = partsOf(instant);
  const half = Number(hour) < 12 ? 'a.m.' : 'p.m.';
  return `${month} ${day}, ${year}, ${Number(hour) % 12 || 12}:${minute} ${half} ET`;
}

/** ISO 8601 with the paper's own offset, e.g. `2026-11-21T09:05:00-05:00`; what JSON-LD and feeds carry. */
export function isoInZone(instant: string | number): string {
  const { hour, minute, second, timeZoneName } = partsOf(instant);
  return `${dayInZone(instant)}T${hour.padStart(2, '0')}:${minute}:${second}${timeZoneName.slice('GMT'.length) || 'Z'}`;
}

/** Calendar day in the paper's zone as `yyyy-MM-dd`; changes at New York's midnight. */
export function dayInZone(instant: string | number): string {
  const { year, month, day } = partsOf(instant);
  return `${year}-${monthNumbers.get(month)}-${day.padStart(2, '0')}`;
}

const steps: readonly [limit: number, unit: number, name: string][] = [
  [60, 1, 'second'],
  [3600, 60, 'minute'],
  [86_400, 3600, 'hour'],
  [2_592_000, 86_400, 'day'],
  [31_536_000, 2_592_000, 'month'],
  [Number.POSITIVE_INFINITY, 31_536_000, 'year'],
];

/**
 * "N ago" (spec section 9): "5 minutes ago", "1 day ago". Less than a minute, and anything in the future by clock drift,
 * is "just now".
 *
 * @param instant the moment spoken of
 * @param now the moment of speaking, epoch milliseconds
 */
export function ago(instant: string | number, now: number): string {
  const seconds = Math.floor((now - new Date(instant).getTime()) / 1000);
  if (!(seconds >= 60)) return 'just now';
  for (const [limit, unit, name] of steps) {
    if (seconds < limit) {
      const count = Math.floor(seconds / unit);
      return `${count} ${name}${count === 1 ? '' : 's'} ago`;
    }
  }
  return 'just now';
}
