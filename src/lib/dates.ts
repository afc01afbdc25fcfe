/**
 * Dates as the paper prints them: always in the paper's own zone, whatever zone the server or the reader is in
 * (spec section 9). Every function takes UTC instants, as ISO 8601 strings or epoch milliseconds.
 */
// Each of these alone: Node parses the 200 kB package.json of date-fns once for every module, and the whole of it has 300.
import { format as formatDate } from 'date-fns/format';
import { toZonedTime } from 'date-fns-tz/toZonedTime';
import { publication } from '../publication.ts';

const zone = publication.timeZone;

/** The dates of a story stand on dozens of pages, and each costs as much as the rest of its card. */
const known = new Map<string, string>();

function remembered(key: string, make: () => string): string {
  let text = known.get(key);
  if (text === undefined) {
    text = make();
    if (known.size >= 5000) known.clear();
    known.set(key, text);
  }
  return text;
}

const format = (instant: string | number, pattern: string): string =>
  remembered(`${instant} ${pattern}`, () => formatDate(toZonedTime(instant, zone), pattern));

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
export const isoInZone = (instant: string | number): string =>
  remembered(
    `${instant} iso`,
    () => `${formatDate(toZonedTime(instant, zone), "yyyy-MM-dd'T'HH:mm:ss")}${offsetOf(instant)}`,
  );

/** `-05:00`, or `Z` for UTC. */
function offsetOf(instant: string | number): string {
  const wall = toZonedTime(instant, zone);
  const asUtc = Date.UTC(wall.getFullYear(), wall.getMonth(), wall.getDate(), wall.getHours(), wall.getMinutes());
  const minutes = Math.round((asUtc - Math.floor(new Date(instant).getTime() / 60_000) * 60_000) / 60_000);
  if (minutes === 0) return 'Z';
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
}
