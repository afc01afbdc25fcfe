/**
 * Dates as the paper prints them: always in the paper's own zone, whatever zone the server or the reader is in
 * (spec section 9). Every function takes UTC instants, as ISO 8601 strings or epoch milliseconds.
 */
import { formatInTimeZone } from 'date-fns-tz';
import { publication } from '../publication.ts';

const zone = publication.timeZone;

/** The dates of a story stand on dozens of pages, and each costs as much as the rest of its card. */
const known = new Map<string, string>();

function format(instant: string | number, pattern: string): string {
  const key = `${instant} ${pattern}`;
  let text = known.get(key);
  if (text === undefined) {
    text = formatInTimeZone(instant, zone, pattern);
    if (known.size >= 5000) known.clear();
    known.set(key, text);
  }
  return text;
}

/** "Saturday, November 21, 2026": the day in the masthead. */
export const mastheadDay = (instant: string | number): string => format(instant, 'EEEE, MMMM d, yyyy');

/** "November 21, 2026": the date of an article. */
export const longDate = (instant: string | number): string => format(instant, 'MMMM d, yyyy');

/** "Nov. 21, 2026, 9:05 a.m. ET": date and time for bylines and corrections. */
export function dateAndTime(instant: string | number): string {
  const text = format(instant, 'MMMM d, yyyy, h:mm a');
  return `${text.replace(/AM$/, 'a.m.').replace(/PM$/, 'p.m.')} ET`;
}

/** ISO 8601 with the paper's own offset, e.g. `2026-11-21T09:05:00-05:00`; what JSON-LD and feeds carry. */
export const isoInZone = (instant: string | number): string => format(instant, "yyyy-MM-dd'T'HH:mm:ssXXX");
