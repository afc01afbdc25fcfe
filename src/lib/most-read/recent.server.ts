/**
 * Readings of the last two hours, by minute and article, for the newsroom. They are written in the same transaction as the scores, and
 * the database adds up the counts of several processes. Nothing in them identifies a reader.
 */
import { sql } from 'kysely';
import type { AccountsTransaction, Database } from '../database.ts';
import type { ReadingNow } from './model.ts';

const minuteMs = 60_000;
/** Lengths of the periods that the newsroom sees, the shortest first. */
const readingMinutes = [5, 30, 60];
/** Number of minutes that are stored: twice the longest period, plus the minute in which the second period begins. */
const keptMinutes = 2 * Math.max(...readingMinutes) + 1;
/** Stories of a period, at most. */
const mostStories = 20;

export interface Readings {
  readonly article_id: number;
  readonly total: number;
}

/** Adds readings that were made at `now`. @param rows sorted by article, so that two processes can't deadlock */
export async function addRecent(tx: AccountsTransaction, rows: readonly Readings[], now: number): Promise<void> {
  const minute = Math.floor(now / minuteMs);
  await tx
    .insertInto('recent_readings')
    .values(rows.map(({ article_id, total }) => ({ minute, article_id, readings: total })))
    .onConflict((conflict) =>
      conflict
        .columns(['minute', 'article_id'])
        .doUpdateSet({ readings: sql<number>`recent_readings.readings + excluded.readings` }),
    )
    .execute();
}

/** Deletes readings that are older than any period. */
export async function dropOld(tx: AccountsTransaction, now: number): Promise<void> {
  await tx
    .deleteFrom('recent_readings')
    .where('minute', '<', Math.floor(now / minuteMs) - keptMinutes)
    .execute();
}

/**
 * Reads the current readings. A period slides: of the minute in which it begins, only the part within the period counts. So the current
 * minute counts from its first second, and the previous period has the same length.
 *
 * @param published which of some articles are published
 * @throws DatabaseUnavailable
 */
export async function readRecent(
  { db }: Pick<Database, 'db'>,
  now: number,
  published: (articles: readonly number[]) => ReadonlySet<number>,
): Promise<ReadingNow> {
  const minute = Math.floor(now / minuteMs);
  const elapsed = (now % minuteMs) / minuteMs;
  const rows = await db
    .selectFrom('recent_readings')
    .select(['article_id', 'minute', 'readings'])
    .where('minute', '>=', minute - keptMinutes)
    .execute();
  const counted = rows.map((row) => ({
    article: Number(row.article_id),
    age: minute - Number(row.minute),
    readings: Number(row.readings),
  }));
  return {
    at: now,
    periods: readingMinutes.map((minutes) => {
      const sums = new Map<number, { readings: number; before: number }>();
      for (const { article, age, readings } of counted) {
        const inPeriod = shareOf(age, minutes, elapsed);
        const inBoth = shareOf(age, 2 * minutes, elapsed);
        if (inBoth === 0) continue;
        const sum = sums.get(article) ?? { readings: 0, before: 0 };
        sum.readings += readings * inPeriod;
        sum.before += readings * (inBoth - inPeriod);
        sums.set(article, sum);
      }
      return periodOf(minutes, sums, published);
    }),
  };
}

/** The share of a minute that is within the last `minutes`. @param age in minutes; 0 is the current minute */
function shareOf(age: number, minutes: number, elapsed: number): number {
  if (age < minutes) return 1;
  return age === minutes ? 1 - elapsed : 0;
}

function periodOf(
  minutes: number,
  sums: ReadonlyMap<number, { readonly readings: number; readonly before: number }>,
  published: (articles: readonly number[]) => ReadonlySet<number>,
): ReadingNow['periods'][number] {
  const all = [...sums].map(([id, { readings, before }]) => ({
    id,
    readings: Math.round(readings),
    before: Math.round(before),
  }));
  // Some more than are shown, because one may have been withdrawn.
  const highest = all
    .filter(({ readings }) => readings > 0)
    .sort((a, b) => b.readings - a.readings || b.id - a.id)
    .slice(0, 2 * mostStories);
  const publishedIds = published(highest.map(({ id }) => id));
  const sumOf = (key: 'readings' | 'before'): number => all.reduce((sum, story) => sum + story[key], 0);
  return {
    minutes,
    readings: sumOf('readings'),
    before: sumOf('before'),
    stories: highest.filter(({ id }) => publishedIds.has(id)).slice(0, mostStories),
  };
}
