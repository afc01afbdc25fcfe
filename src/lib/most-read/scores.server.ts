/**
 * The scores of articles in the database, by which they are ranked. Readings lose half of their weight in every half-life: a reading at
 * time t is worth 2^(t / halfLife), and the score of an article is the binary logarithm of the sum of its readings. New readings gain
 * weight instead of old ones losing it, so no score has to be rewritten, and the order is always right. The logarithm keeps the numbers
 * small. One atomic statement adds readings, whichever process counts them.
 */
import { sql } from 'kysely';
import type { Database } from '../database.ts';
import { addRecent, dropOld } from './recent.server.ts';

/** Score of a number of simultaneous readings. @param at epoch milliseconds @param halfLife milliseconds */
export const scoreOf = (readings: number, at: number, halfLife: number): number => Math.log2(readings) + at / halfLife;

/** Combines two scores into the score of all their readings. */
export function combinedScore(a: number, b: number): number {
  const difference = Math.abs(a - b);
  const larger = Math.max(a, b);
  return difference > 64 ? larger : larger + Math.log2(1 + 2 ** -difference);
}

export interface Ranked {
  readonly article: number;
  readonly score: number;
}

export interface Scores {
  /**
   * Adds readings made at `now`, also to the recent readings.
   *
   * @param readings by article; each at least 1
   * @throws DatabaseUnavailable; then nothing was added
   */
  add(readings: ReadonlyMap<number, number>, now: number): Promise<void>;
  /** The highest articles, highest first. */
  highest(limit: number): Promise<readonly Ranked[]>;
  /** Converts scores of another half-life, and deletes scores near zero and old readings. */
  prune(now: number): Promise<void>;
}

/** Rows of one statement; SQLite takes 32,766 values in one. */
const rowsAtOnce = 500;
/** A score is deleted after this many half-lives. */
const keptHalfLives = 40;

/** @param halfLife milliseconds */
export function openScores({ db, transaction }: Pick<Database, 'db' | 'transaction'>, halfLife: number): Scores {
  /** {@link combinedScore} for one row; beyond 64 halvings the smaller part is less than the rounding, and would underflow. */
  const sum = sql<number>`case
    when popularity.heat - excluded.heat > 64 then popularity.heat
    when excluded.heat - popularity.heat > 64 then excluded.heat
    when popularity.heat > excluded.heat
      then popularity.heat + ln(1 + exp((excluded.heat - popularity.heat) * 0.6931471805599453)) / 0.6931471805599453
    else excluded.heat + ln(1 + exp((popularity.heat - excluded.heat) * 0.6931471805599453)) / 0.6931471805599453
  end`;

  return {
    async add(readings, now) {
      // Sorted, so that two processes can't deadlock.
      const rows = [...readings]
        .sort(([a], [b]) => a - b)
        .map(([article_id, total]) => ({
          article_id,
          total,
          half_life: halfLife,
          heat: scoreOf(total, now, halfLife),
        }));
      await transaction(async (tx) => {
        for (let at = 0; at < rows.length; at += rowsAtOnce) {
          await addRecent(tx, rows.slice(at, at + rowsAtOnce), now);
          await tx
            .insertInto('popularity')
            .values(rows.slice(at, at + rowsAtOnce))
            .onConflict((conflict) =>
              conflict.column('article_id').doUpdateSet({
                heat: sum,
                total: sql<number>`popularity.total + excluded.total`,
              }),
            )
            .execute();
        }
      });
    },
    async highest(limit) {
      const rows = await db
        .selectFrom('popularity')
        .select(['article_id', 'heat as score'])
        .orderBy('heat', 'desc')
        .orderBy('article_id', 'desc')
        .limit(limit)
        .execute();
      return rows.map(({ article_id, score }) => ({ article: Number(article_id), score }));
    },
    async prune(now) {
      await transaction(async (tx) => {
        // Keeps the present weight: heat - now / halfLife.
        await tx
          .updateTable('popularity')
          .set({
            heat: sql<number>`heat - ${now} * 1.0 / half_life + ${now / halfLife}`,
            half_life: halfLife,
          })
          .where('half_life', '<>', halfLife)
          .execute();
        await tx
          .deleteFrom('popularity')
          .where('heat', '<', now / halfLife - keptHalfLives)
          .execute();
        await dropOld(tx, now);
      });
    },
  };
}
