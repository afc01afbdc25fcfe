/**
 * Headline tests: a story's card has two to four headlines, each for a share of the readers, until one proves better. Readers who take part
 * have a cookie with the number of their group:
 *
 *     headline-group=7
 *
 * Twelve groups can be divided evenly among two, three and four headlines, and are too few to identify readers.
 */
import { createBoundedMap } from '../bounded-map.ts';
import { readConsent } from '../consent/model.ts';
import type { HeadlineTest } from '../content/model.ts';

/** Groups of readers. */
export const groups = 12;
const groupCookieName = 'headline-group';
/** Longest duration of a test, in days; afterward the story keeps its own headline. */
export const longestDays = 14;
/** As long as the longest test: a reader sees one headline during a test, and isn't in the same group forever. */
const groupMaxAge = longestDays * 24 * 60 * 60;

/** Which readers may take part: those who have allowed measurement or, where the law permits it, all who haven't refused it. */
export type Participation = 'consent' | 'all';

const cookieStart = `${groupCookieName}=`;

/** The group in a header `Cookie`; `null`: none, or not one of ours. */
export function groupIn(cookies: string | undefined): number | null {
  if (cookies === undefined) return null;
  let at = cookies.indexOf(cookieStart);
  // Skips matches that are only the end of another cookie's name.
  while (at > 0 && cookies[at - 1] !== ' ' && cookies[at - 1] !== ';') at = cookies.indexOf(cookieStart, at + 1);
  if (at < 0) return null;
  const end = cookies.indexOf(';', at);
  const value = cookies.slice(at + cookieStart.length, end < 0 ? undefined : end).trim();
  return /^(?:\d|1[01])$/.test(value) ? Number(value) : null;
}

/** Whether a reader may take part. @param gpc whether the browser sends Global Privacy Control */
export function mayTakePart(cookies: string, gpc: boolean, participation: Participation): boolean {
  const { status, measurement } = readConsent(cookies, gpc);
  return measurement || (participation === 'all' && status === 'unasked');
}

/** A whole `Set-Cookie` value. @param group `null` removes the cookie */
export function groupCookie(group: number | null, secure: boolean): string {
  const life = group === null ? 'Max-Age=0' : `Max-Age=${groupMaxAge}`;
  return `${cookieStart}${group ?? ''}; Path=/; ${life}; SameSite=Lax; HttpOnly${secure ? '; Secure' : ''}`;
}

/** Form of a test's id. */
export const testIdForm = /^[0-9a-f]{16}$/;
/** Most headlines, the story's own among them. */
export const mostHeadlines = 4;

/**
 * The order in which a test assigns its headlines to the groups. It differs from test to test, so that two tests don't divide readers in
 * the same way.
 */
function orderOf(id: string): readonly number[] {
  let state = Number.parseInt(id.slice(0, 8), 16) ^ Number.parseInt(id.slice(8), 16);
  // Mulberry32.
  const random = (below: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
  const order = Array.from({ length: groups }, (_, at) => at);
  for (let at = groups - 1; at > 0; at--) {
    const other = random(at + 1);
    [order[at], order[other]] = [order[other] ?? 0, order[at] ?? 0];
  }
  return order;
}

const orders = createBoundedMap<readonly number[]>(500);

/** The headline that a group sees: 0 is the story's own. All headlines have the same number of groups. */
export function headlineFor(id: string, headlines: number, group: number): number {
  let order = orders.get(id);
  if (!order) {
    order = orderOf(id);
    orders.set(id, order);
  }
  return (order[group] ?? 0) % headlines;
}

/** Number of headlines of a test. */
export const headlinesOf = ({ others }: HeadlineTest): number => others.length + 1;

// Tables of headline tests, created by `src/server/migrations/headline-tests.ts`. They contain no reader and no group.

export interface HeadlineReadingsTable {
  /** Id of the test. */
  test: string;
  /** Number of the headline, 0 for the story's own. */
  headline: number;
  readings: number;
  /** Time of the last reading. */
  at: number;
}

export interface HeadlineEndsTable {
  /** Id of the test: it can end only once. */
  test: string;
  /** Number of the winning headline; `null`: none won in time. */
  headline: number | null;
  /** Final counts of readings for each headline, as JSON. */
  readings: string;
  at: number;
}

export interface HeadlineTestTables {
  headline_readings: HeadlineReadingsTable;
  headline_ends: HeadlineEndsTable;
}
