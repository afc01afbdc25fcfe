/** Saved articles and the reading history, in the accounts' database. */
import type { CorrectionMark } from '../content/model.ts';
import { namedNote } from '../corrections/model.ts';
import { type AccountsTransaction, type Database, lockUserRow, type Queries } from '../database.ts';
import { type OldRows, rowsUntil } from '../jobs/old-rows.ts';
import type { ListedArticle, SavedStories, SavedStoriesRules, UnseenCorrection } from './model.ts';

export interface SavedStoriesOptions {
  readonly database: Database;
  readonly rules: SavedStoriesRules;
  /** Epoch milliseconds; for tests. */
  readonly now?: () => number;
}

export interface RunningSavedStories extends SavedStories {
  readonly oldRows: OldRows;
}

const day = 24 * 60 * 60 * 1000;

type ListTable = 'saved_articles' | 'reading_history';
type State = Required<Pick<SavedStoriesOptions, 'database' | 'rules' | 'now'>>;

const oldest = ({ rules, now }: State): number => now() - rules.historyDays * day;

export function createSavedStories({ database, rules, now = Date.now }: SavedStoriesOptions): RunningSavedStories {
  const { db } = database;
  const state: State = { database, rules, now };

  async function history(userId: string) {
    const [off, items] = await Promise.all([
      refusesHistory(db, userId),
      list(state, 'reading_history', userId, oldest(state)),
    ]);
    return { on: !off, items };
  }

  return {
    rules,
    save: (userId, articleId) => locked(database, userId, (tx) => save(tx, state, userId, articleId)),
    unsave: (userId, articleId) => remove(db, 'saved_articles', userId, articleId),
    isSaved: async (userId, articleId) =>
      (await db
        .selectFrom('saved_articles')
        .select('at')
        .where('user_id', '=', userId)
        .where('article_id', '=', articleId)
        .executeTakeFirst()) !== undefined,
    saved: (userId) => list(state, 'saved_articles', userId),

    read: (userId, articleId) => locked(database, userId, (tx) => noteReading(tx, state, userId, articleId)),
    history,
    forgetRead: (userId, articleId) => remove(db, 'reading_history', userId, articleId),
    async clearHistory(userId) {
      await db.deleteFrom('reading_history').where('user_id', '=', userId).execute();
    },
    keepHistory: (userId, on) =>
      locked(database, userId, async (tx) => {
        await tx.deleteFrom('history_refusals').where('user_id', '=', userId).execute();
        if (on) return;
        await tx.insertInto('history_refusals').values({ user_id: userId, at: now() }).execute();
        await tx.deleteFrom('reading_history').where('user_id', '=', userId).execute();
      }),

    unseen: (userId, corrected) => unseen(state, userId, corrected),
    markCorrectionsSeen: (userId, until) => storeSeen(db, userId, until),

    personalData: {
      tables: { saved_articles: 'gone', reading_history: 'gone', history_refusals: 'gone', corrections_told: 'gone' },
      async export({ userId }) {
        const plain = (items: readonly ListedArticle[]) =>
          items.map(({ articleId, at }) => ({ article: articleId, time: new Date(at).toISOString() }));
        const [saved, { on, items }, until] = await Promise.all([
          list(state, 'saved_articles', userId),
          history(userId),
          seenUntil(db, userId),
        ]);
        return {
          saved_articles: plain(saved),
          reading_history: plain(items),
          reading_history_kept: on,
          corrections_told: until === 0 ? null : new Date(until).toISOString(),
        };
      },
    },

    oldRows: [rowsUntil(db, 'reading_history', ['user_id', 'article_id'], 'at', () => oldest(state))],
  };
}

/** Runs one change of a user's lists at a time, so that two tabs together can't exceed a limit. */
const locked = <T>(database: Database, userId: string, work: (tx: AccountsTransaction) => Promise<T>): Promise<T> =>
  database.transaction(async (tx) => {
    await lockUserRow(tx, userId);
    return work(tx);
  });

async function list(
  { database: { db } }: State,
  table: ListTable,
  userId: string,
  since = 0,
): Promise<ListedArticle[]> {
  const rows = await db
    .selectFrom(table)
    .select(['article_id', 'at'])
    .where('user_id', '=', userId)
    .where('at', '>', since)
    .orderBy('at', 'desc')
    .orderBy('article_id', 'desc')
    .execute();
  return rows.map((row) => ({ articleId: Number(row.article_id), at: Number(row.at) }));
}

async function remove(db: Queries, table: ListTable, userId: string, articleId: number): Promise<void> {
  await db.deleteFrom(table).where('user_id', '=', userId).where('article_id', '=', articleId).execute();
}

async function save(
  tx: AccountsTransaction,
  { rules, now }: State,
  userId: string,
  articleId: number,
): Promise<'saved' | 'full'> {
  const mine = await tx.selectFrom('saved_articles').select('article_id').where('user_id', '=', userId).execute();
  if (mine.some((row) => Number(row.article_id) === articleId)) return 'saved';
  if (mine.length >= rules.saved) return 'full';
  await tx.insertInto('saved_articles').values({ user_id: userId, article_id: articleId, at: now() }).execute();
  return 'saved';
}

async function seenUntil(db: Queries, userId: string): Promise<number> {
  const row = await db.selectFrom('corrections_told').select('at').where('user_id', '=', userId).executeTakeFirst();
  return Number(row?.at ?? 0);
}

async function unseen(
  state: State,
  userId: string,
  corrected: ReadonlyMap<number, readonly CorrectionMark[]>,
): Promise<UnseenCorrection[]> {
  if (corrected.size === 0) return [];
  const { db } = state.database;
  // If the history is turned off, it is empty.
  const [read, until] = await Promise.all([
    list(state, 'reading_history', userId, oldest(state)),
    seenUntil(db, userId),
  ]);
  return read
    .flatMap(({ articleId, at: when }): UnseenCorrection[] => {
      const notes = (corrected.get(articleId) ?? []).filter(({ date }) => {
        const at = Date.parse(date);
        // A note with a future date is shown from that date on.
        return at > Math.max(when, until) && at <= state.now();
      });
      const [newest] = notes;
      return newest ? [{ articleId, at: Date.parse(newest.date), kind: namedNote(notes)?.kind ?? newest.kind }] : [];
    })
    .toSorted((a, b) => b.at - a.at);
}

async function storeSeen(db: Queries, userId: string, until: number): Promise<void> {
  await db
    .insertInto('corrections_told')
    .values({ user_id: userId, at: until })
    .onConflict((conflict) =>
      // Two tabs may report different corrections; the later one counts.
      conflict.column('user_id').doUpdateSet({ at: until }).where('corrections_told.at', '<', until),
    )
    .execute();
}

const refusesHistory = async (queries: Queries, userId: string): Promise<boolean> =>
  (await queries.selectFrom('history_refusals').select('user_id').where('user_id', '=', userId).executeTakeFirst()) !==
  undefined;

async function noteReading(
  tx: AccountsTransaction,
  { rules, now }: State,
  userId: string,
  articleId: number,
): Promise<boolean> {
  if (await refusesHistory(tx, userId)) return false;
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
    await tx.deleteFrom('reading_history').where('user_id', '=', userId).where('at', '<=', Number(last.at)).execute();
  }
  return true;
}
