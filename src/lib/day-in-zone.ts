/** The paper's calendar day, without the library of the other dates: the server asks for it every second, and starts sooner. */
import { publication } from '../publication.ts';

const day = new Intl.DateTimeFormat('en-CA', {
  timeZone: publication.timeZone,
  ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
});

/** Calendar day in the paper's zone as `yyyy-MM-dd`; changes at New York's midnight. @param instant UTC, ISO 8601 or epoch milliseconds */
export const dayInZone = (instant: string | number): string => day.format(new Date(instant));
