/**
 * The paper's calendar day, apart from the other dates: an island that used those would bring them to every page, for the islands' scripts
 * share their files.
 */
import { publication } from '../publication.ts';

const day = new Intl.DateTimeFormat('en-CA', {
  timeZone: publication.timeZone,
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
});

/** Calendar day in the paper's zone as `yyyy-MM-dd`; changes at New York's midnight. @param instant UTC, ISO 8601 or epoch milliseconds */
export const dayInZone = (instant: string | number): string => day.format(new Date(instant));

const long = new Intl.DateTimeFormat('en-US', { timeZone: publication.timeZone, dateStyle: 'long' });

/** "November 21, 2026" in the paper's zone, for islands. @param instant UTC, ISO 8601 or epoch milliseconds */
export const longDayInZone = (instant: string | number): string => long.format(new Date(instant));
