/**
 * Instants in the format of the content store, the comments and the headline tests: UTC, to the second, so that text order is time order.
 */

/** `YYYY-MM-DDTHH:MM:SSZ`. @param time epoch milliseconds @throws RangeError if it is invalid */
export const instantAt = (time: number): string => `${new Date(time).toISOString().slice(0, 19)}Z`;

/** Years of four digits; longer ones have another format, which can't be compared with a story's date. */
const years = [Date.parse('0000-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59Z')] as const;

/** Converts an ISO 8601 instant to this format. @throws RangeError if it is invalid */
export function canonicalInstant(instant: string): string {
  const time = Date.parse(instant);
  if (Number.isNaN(time)) throw new RangeError(`Not an instant: ${instant}`);
  return instantAt(Math.min(Math.max(time, years[0]), years[1]));
}

/** Whether a text is a day of the calendar, `YYYY-MM-DD`. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
