/** Support hours: weekdays between the publication's hours (spec section 9), except holidays. Browsers load this file. */
import { publication } from '../../publication.ts';
import { supportHoursMessages } from './schema.ts';

export interface Hours {
  /** Whether support is available now. */
  readonly open: boolean;
  /** A message about it. */
  readonly words: string;
}

const opens = publication.support.opens;
const closes = publication.support.closes;
const holidays = publication.support.holidays;
const dayMs = 24 * 60 * 60 * 1000;
const names = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

const clock = new Intl.DateTimeFormat('en-US', {
  timeZone: publication.timeZone,
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  hourCycle: 'h23',
});

/** Day and hour in the paper's zone. */
function inZone(instant: number): { readonly day: number; readonly hour: number } {
  const part = Object.fromEntries(clock.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  // The calendar day as midnight UTC, so that days are counted without a time zone.
  return { day: Date.UTC(part.year ?? 0, (part.month ?? 1) - 1, part.day), hour: part.hour ?? 0 };
}

/** The nth given weekday of a month (1: the first, -1: the last), as midnight UTC. */
function nth(year: number, month: number, weekday: number, count: number): number {
  if (count < 0) return nth(year, month + 1, weekday, 1) - 7 * dayMs;
  const first = new Date(Date.UTC(year, month, 1)).getUTCDay();
  return Date.UTC(year, month, 1 + ((weekday - first + 7) % 7) + 7 * (count - 1));
}

const isHoliday = (day: number): boolean =>
  holidays === 'us' ? isFederalHoliday(day) : holidays.includes(new Date(day).toISOString().slice(0, 10));

/** Holidays of the United States; one on a weekend is observed on the nearest weekday. */
function isFederalHoliday(day: number): boolean {
  const year = new Date(day).getUTCFullYear();
  const observed = (month: number, date: number, of = year): number => {
    const at = Date.UTC(of, month, date);
    const weekday = new Date(at).getUTCDay();
    return weekday === 6 ? at - dayMs : weekday === 0 ? at + dayMs : at;
  };
  return [
    observed(0, 1),
    observed(0, 1, year + 1),
    nth(year, 0, 1, 3),
    nth(year, 1, 1, 3),
    nth(year, 4, 1, -1),
    observed(5, 19),
    observed(6, 4),
    nth(year, 8, 1, 1),
    nth(year, 9, 1, 2),
    observed(10, 11),
    nth(year, 10, 4, 4),
    observed(11, 25),
  ].includes(day);
}

const works = (day: number): boolean => {
  const weekday = new Date(day).getUTCDay();
  return weekday > 0 && weekday < 6 && !isHoliday(day);
};

/** @param now epoch milliseconds */
export function supportHours(now: number): Hours {
  const { day, hour } = inZone(now);
  if (works(day) && hour >= opens && hour < closes) {
    return { open: true, words: supportHoursMessages.open };
  }
  if (works(day) && hour < opens) return { open: false, words: supportHoursMessages.opensToday };
  let next = day + dayMs;
  while (!works(next)) next += dayMs;
  const when = next === day + dayMs ? 'tomorrow' : (names[new Date(next).getUTCDay()] ?? '');
  return { open: false, words: supportHoursMessages.opens(when) };
}
