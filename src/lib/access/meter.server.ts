/** The meter of registered readers, kept with their account, so that it is one on all their devices. */
import type { Database } from '../database.ts';
import type { MeterState } from './decide.ts';

export interface MeterRules {
  /** Days that a reading counts. */
  readonly days: number;
  /** Different articles within these days. */
  readonly registered: number;
}

export interface MeterReading {
  /** Where the meter stood for this article. */
  readonly state: MeterState;
  readonly total: number;
  /** Articles that are left, this reading included. */
  readonly remaining: number;
  /** Whether this reading was counted. */
  readonly counted: boolean;
}

export interface Meter {
  /**
   * Where the meter stands for an article.
   *
   * @param articleId `null`: for none in particular
   * @param count whether to count it, where there is anything left and it is not counted yet
   */
  read(userId: string, articleId: number | null, count: boolean): Promise<MeterReading>;
  /** Articles that count now, for the reader's own copy of everything that is kept. */
  list(userId: string): Promise<readonly { readonly article: number; readonly time: string }[]>;
}

const day = 24 * 60 * 60 * 1000;

/** @param now epoch milliseconds */
export function createMeter(database: Database, rules: MeterRules, now: () => number): Meter {
  const total = rules.registered;

  async function look(queries: Database['db'], userId: string, articleId: number | null) {
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
    async read(userId, articleId, count) {
      const seen = await look(database.db, userId, articleId);
      if (!count || articleId === null || seen.state !== 'left') return { ...seen, total, counted: false };
      return database.transaction(async (tx) => {
        // Two tabs may have come this far together.
        const again = await look(tx, userId, articleId);
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
    async list(userId) {
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
