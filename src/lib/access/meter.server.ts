/** The meter of registered readers, kept with their account, so that all their devices share it. */
import { type Database, lockUserRow } from '../database.ts';
import type { MeterState } from './decide.ts';

export interface MeterRules {
  /** Days for which a reading counts. */
  readonly days: number;
  /** Different articles within these days. */
  readonly registered: number;
}

export interface MeterReading {
  /** State of the meter for this article. */
  readonly state: MeterState;
  readonly total: number;
  /** Articles that are left, including this reading. */
  readonly remaining: number;
  /** Whether this reading was counted. */
  readonly counted: boolean;
}

export type Meter = ReturnType<typeof createMeter>;

const day = 24 * 60 * 60 * 1000;

/** @param now epoch milliseconds */
export function createMeter(database: Database, rules: MeterRules, now: () => number) {
  const total = rules.registered;

  async function readState(queries: Database['db'], userId: string, articleId: number | null) {
    const rows = await queries
      .selectFrom('article_reads')
      .select('article_id')
      .where('user_id', '=', userId)
      .where('at', '>', now() - rules.days * day)
      .execute();
    const used = rows.length;
    const known = rows.some((row) => Number(row.article_id) === articleId);
    const state: MeterState = known ? 'counted' : used < total ? 'left' : 'over';
    return { state, remaining: Math.max(0, total - used) };
  }

  return {
    /**
     * Counts a reading if `count` is set, and it isn't counted yet and an article is left.
     *
     * @param articleId `null`: only how many are left
     * @returns the state of the meter for the article
     */
    async count(userId: string, articleId: number | null, count: boolean): Promise<MeterReading> {
      const seen = await readState(database.db, userId, articleId);
      if (!count || articleId === null || seen.state !== 'left') return { ...seen, total, counted: false };
      return database.transaction(async (tx) => {
        // Two tabs may get here at the same time, with different articles.
        await lockUserRow(tx, userId);
        const again = await readState(tx, userId, articleId);
        if (again.state !== 'left') return { ...again, total, counted: false };
        await tx
          .deleteFrom('article_reads')
          .where('user_id', '=', userId)
          .where('at', '<=', now() - rules.days * day)
          .execute();
        const { numInsertedOrUpdatedRows } = await tx
          .insertInto('article_reads')
          .values({ user_id: userId, article_id: articleId, at: now() })
          .onConflict((conflict) => conflict.columns(['user_id', 'article_id']).doNothing())
          .executeTakeFirst();
        const counted = Number(numInsertedOrUpdatedRows ?? 0) > 0;
        return { state: 'left', total, remaining: again.remaining - (counted ? 1 : 0), counted };
      });
    },
    /** Articles that currently count, for the export. */
    async list(userId: string) {
      const rows = await database.db
        .selectFrom('article_reads')
        .select(['article_id', 'at'])
        .where('user_id', '=', userId)
        .orderBy('at')
        .execute();
      return rows.map((row) => ({ article: Number(row.article_id), time: new Date(Number(row.at)).toISOString() }));
    },
  };
}
