/** The library over the accounts' database: saved articles, and the history of what was read. */
import { setImmediate as turn } from 'node:timers/promises';
import type { AccountsTransaction, Database } from '../database.ts';
import { repeat } from '../jobs/repeat.ts';
import type { Logger } from '../logging.ts';
import type { Kept, Library, LibraryRules } from './model.ts';

export interface LibraryOptions {
  readonly database: Database;
  readonly rules: LibraryRules;
  readonly log: Logger;
  /** Epoch milliseconds; for tests. */
  readonly now?: () => number;
}

export interface RunningLibrary extends Library {
  /** Deletes readings that have had their time. @returns how many went */
  prune(): Promise<number>;
  stop(): Promise<void>;
}

/** Tables of a user, and what becomes of their rows when the address is proven by another person. */
const tables = { saved_articles: 'gone', reading_history: 'gone', history_refusals: 'gone' } as const;

const day = 24 * 60 * 60 * 1000;
/** Milliseconds between two prunings, and rows of one step. */
const pruneEvery = 60 * 60 * 1000;
const step = 1000;

export function createLibrary({ database, rules, log, now = Date.now }: LibraryOptions): RunningLibrary {
  const { db } = database;
  const oldest = (): number => now() - rules.historyDays * day;

  /** One change of a reader's library at a time, so that two tabs cannot go past a bound together. */
  const alone = <T>(userId: string, work: (tx: AccountsTransaction) => Promise<T>): Promise<T> =>
    database.transaction(async (tx) => {
      await tx
        .updateTable('users')
        .set((each) => ({ updatedAt: each.ref('updatedAt') }))
        .where('id', '=', userId)
        .execute();
      return work(tx);
    });

  const list = async (table: 'saved_articles' | 'reading_history', userId: string, since = 0): Promise<Kept[]> => {
    const rows = await db
      .selectFrom(table)
      .select(['article_id', 'at'])
      .where('user_id', '=', userId)
      .where('at', '>', since)
      .orderBy('at', 'desc')
      .orderBy('article_id', 'desc')
      .execute();
    return rows.map((row) => ({ articleId: Number(row.article_id), at: Number(row.at) }));
  };
  const take = async (table: 'saved_articles' | 'reading_history', userId: string, articleId: number) => {
    await db.deleteFrom(table).where('user_id', '=', userId).where('article_id', '=', articleId).execute();
  };
  const refuses = async (queries: Database['db'], userId: string): Promise<boolean> =>
    (await queries
      .selectFrom('history_refusals')
      .select('user_id')
      .where('user_id', '=', userId)
      .executeTakeFirst()) !== undefined;

  async function history(userId: string) {
    const [off, items] = await Promise.all([refuses(db, userId), list('reading_history', userId, oldest())]);
    return { on: !off, items };
  }

  async function prune(signal?: AbortSignal): Promise<number> {
    let gone = 0;
    for (let more = true; more && !signal?.aborted; ) {
      // Some at once: each statement is a write to the disk, for which all requests wait.
      const { numDeletedRows } = await db
        .deleteFrom('reading_history')
        .where(({ eb, refTuple, selectFrom }) =>
          eb(
            refTuple('user_id', 'article_id'),
            'in',
            selectFrom('reading_history')
              .select(['user_id', 'article_id'])
              .where('at', '<=', oldest())
              .limit(step)
              .$asTuple('user_id', 'article_id'),
          ),
        )
        // It may have been read again meanwhile.
        .where('at', '<=', oldest())
        .executeTakeFirstOrThrow();
      gone += Number(numDeletedRows);
      more = Number(numDeletedRows) === step;
      await turn();
    }
    return gone;
  }

  const pruning = repeat(pruneEvery, prune, (error) =>
    log.warn({ err: error }, "Old readings couldn't be deleted; the next run tries again"),
  );

  return {
    rules,
    save: (userId, articleId) =>
      alone(userId, async (tx) => {
        const mine = await tx.selectFrom('saved_articles').select('article_id').where('user_id', '=', userId).execute();
        if (mine.some((row) => Number(row.article_id) === articleId)) return 'saved';
        if (mine.length >= rules.saved) return 'full';
        await tx.insertInto('saved_articles').values({ user_id: userId, article_id: articleId, at: now() }).execute();
        return 'saved';
      }),
    unsave: (userId, articleId) => take('saved_articles', userId, articleId),
    isSaved: async (userId, articleId) =>
      (await db
        .selectFrom('saved_articles')
        .select('at')
        .where('user_id', '=', userId)
        .where('article_id', '=', articleId)
        .executeTakeFirst()) !== undefined,
    saved: (userId) => list('saved_articles', userId),

    read: (userId, articleId) =>
      alone(userId, async (tx) => {
        if (await refuses(tx, userId)) return false;
        await tx
          .insertInto('reading_history')
          .values({ user_id: userId, article_id: articleId, at: now() })
          .onConflict((conflict) => conflict.columns(['user_id', 'article_id']).doUpdateSet({ at: now() }))
          .execute();
        const last = await tx
          .selectFrom('reading_history')
          .select('at')
          .where('user_id', '=', userId)
          .orderBy('at', 'desc')
          .offset(rules.history)
          .limit(1)
          .executeTakeFirst();
        if (last) {
          await tx
            .deleteFrom('reading_history')
            .where('user_id', '=', userId)
            .where('at', '<=', Number(last.at))
            .execute();
        }
        return true;
      }),
    history,
    forgetRead: (userId, articleId) => take('reading_history', userId, articleId),
    async clearHistory(userId) {
      await db.deleteFrom('reading_history').where('user_id', '=', userId).execute();
    },
    keepHistory: (userId, on) =>
      alone(userId, async (tx) => {
        await tx.deleteFrom('history_refusals').where('user_id', '=', userId).execute();
        if (on) return;
        await tx.insertInto('history_refusals').values({ user_id: userId, at: now() }).execute();
        await tx.deleteFrom('reading_history').where('user_id', '=', userId).execute();
      }),

    personalData: {
      tables,
      async export({ userId }) {
        const plain = (items: readonly Kept[]) =>
          items.map(({ articleId, at }) => ({ article: articleId, time: new Date(at).toISOString() }));
        const [saved, { on, items }] = await Promise.all([list('saved_articles', userId), history(userId)]);
        return { saved_articles: plain(saved), reading_history: plain(items), reading_history_kept: on };
      },
      // Rows are deleted with the account's row.
      erase: async () => {},
      async disown(tx, userId) {
        for (const table of Object.keys(tables) as (keyof typeof tables)[]) {
          await tx.deleteFrom(table).where('user_id', '=', userId).execute();
        }
      },
    },

    prune,
    stop: pruning.stop,
  };
}
