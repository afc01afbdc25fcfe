/**
 * Dates as the paper prints them: always in the paper's own zone, whatever zone the server or the reader is in
 * (spec section 9). Every function takes UTC instants, as ISO 8601 strings or epoch milliseconds.
 */
import { publication } from '../publication.ts';
import { createBoundedMap } from './bounded-map.ts';

const timeZone = publication.timeZone;
const language = publication.language;
const full = new Intl.DateTimeFormat(language, { timeZone, dateStyle: 'full' });
const long = new Intl.DateTimeFormat(language, { timeZone, dateStyle: 'long' });
const clock = new Intl.DateTimeFormat('en-US', { timeZone, hour: 'numeric', minute: '2-digit' });
const digits = new Intl.DateTimeFormat('en-US', {
  timeZone,
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'longOffset',
});

/**
 * Formatted dates are cached: the same ones appear on dozens of pages, and formatting one costs as much as the rest of its
 * card.
 */
const known = createBoundedMap<string>(5000);

function remembered(key: string, make: () => string): string {
  let text = known.get(key);
  if (text === undefined) {
    text = make();
    known.set(key, text);
  }
  return text;
}

const format = (instant: string | number, name: string, form: Intl.DateTimeFormat): string =>
  remembered(`${instant} ${name}`, () => form.format(new Date(instant)));

/** "Saturday, November 21, 2026": the day in the masthead. */
export const mastheadDay = (instant: string | number): string => format(instant, 'full', full);

/** "November 21, 2026": the date of an article. */
export const longDate = (instant: string | number): string => format(instant, 'long', long);

type Part = Intl.DateTimeFormatPartTypes;

/** Splits a time into its parts. */
function partsOf(form: Intl.DateTimeFormat, instant: string | number): (type: Part) => string {
  const parts = form.formatToParts(new Date(instant));
  return (type) => parts.find((part) => part.type === type)?.value ?? '';
}

/** "November 21, 2026, 9:05 a.m. ET": date and time for bylines and corrections. */
export const dateAndTime = (instant: string | number): string =>
  remembered(`${instant} time`, () => {
    const part = partsOf(clock, instant);
    const half = part('dayPeriod') === 'AM' ? 'a.m.' : 'p.m.';
    return `${longDate(instant)}, ${part('hour')}:${part('minute')} ${half} ${publication.timeZoneLabel}`;
  });

/**
 * ISO 8601 with the paper's own offset, e.g. `2026-11-21T09:05:00-05:00`; what JSON-LD and feeds carry. Before standard time an offset had
 * seconds (New York until 1883), which they can't express: then in UTC.
 */
export const isoInZone = (instant: string | number): string =>
  remembered(`${instant} iso`, () => {
    const part = partsOf(digits, instant);
    const offset = part('timeZoneName').replace('GMT', '') || 'Z';
    if (offset.length > '-05:00'.length) return new Date(instant).toISOString().replace('.000Z', 'Z');
    return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}:${part('second')}${offset}`;
  });
