/**
 * The paper's calendar day, separate from the other date functions: islands share their script files, so an island that used those would
 * bring them to every page.
 */
import { publication } from '../publication.ts';

const day = new Intl.DateTimeFormat('en-CA', {
  timeZone: publication.timeZone,
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
});

/** Calendar day in the paper's zone as `yyyy-MM-dd`; changes at the zone's midnight. @param instant UTC, ISO 8601 or epoch milliseconds */
export const dayInZone = (instant: string | number): string => day.format(new Date(instant));

const hour = new Intl.DateTimeFormat('en-US', { timeZone: publication.timeZone, hour: 'numeric', hourCycle: 'h23' });

/** Hour of the day in the paper's zone, from 0 to 23. @param instant epoch milliseconds */
export const hourInZone = (instant: number): number => Number(hour.format(instant));

const long = new Intl.DateTimeFormat(publication.language, { timeZone: publication.timeZone, dateStyle: 'long' });

/** "November 21, 2026" in the paper's zone, for islands. @param instant UTC, ISO 8601 or epoch milliseconds */
export const longDayInZone = (instant: string | number): string => long.format(new Date(instant));
