/** The comments service: puts its dependencies together over the accounts' database and WordPress. */

import type { AccountsTransaction, Database } from '../database.ts';
import { createHmacs } from '../hmacs.server.ts';
import { createLimiter } from '../http/limiter.server.ts';
import { defaultLimits, type Limits } from '../http/limits.ts';
import type { PersonalData } from '../personal-data.ts';
import { cleanComment } from './model.ts';
import { createOwn } from './own.server.ts';
import { claimMs, createPosting } from './posting.server.ts';
import type { Comments } from './service.ts';
import { type CommentDependencies, done, failed } from './service.ts';
import { createTasks, type Tasks } from './tasks.server.ts';

export interface CommentsOptions extends Omit<CommentDependencies, 'limiter' | 'now'> {
  /** As that of the accounts. */
  readonly secret: string;
  readonly limits?: Limits;
  readonly now?: () => number;
}

export interface RunningComments extends Comments {
  /** Comments stay in WordPress, without the name and address of the author. */
  readonly personalData: PersonalData;
  /** Begins to tell WordPress what it has yet to be told. */
  start(): void;
  stop(): Promise<void>;
  /** For tests. */
  readonly tasks: Pick<Tasks, 'round'>;
}

export function createComments(options: CommentsOptions): RunningComments {
  const { database, secret, limits = defaultLimits, now = Date.now } = options;
  const limiter = createLimiter(database, createHmacs(secret), limits, now);
  const dependencies: CommentDependencies = { ...options, limiter, now };
  const posting = createPosting(dependencies);
  const own = createOwn(dependencies);
  const tasks = createTasks(dependencies, posting);

  /** Removes a user's name from what was written; a task passes it on to WordPress. */
  async function takeAway(tx: AccountsTransaction, userId: string): Promise<void> {
    const rows = await tx
      .selectFrom('comment_posts')
      .select(['id', 'wordpress_id', 'claimed'])
      .where('user_id', '=', userId)
      .execute();
    for (const { id, wordpress_id, claimed } of rows) {
      // One that is being sent at this moment may reach WordPress after the question whether it has it.
      if (wordpress_id === null) await tasks.add(tx, 'erase-draft', id, Math.max(now(), Number(claimed) + claimMs));
      else await tasks.add(tx, 'erase', Number(wordpress_id));
    }
    await tx.deleteFrom('comment_posts').where('user_id', '=', userId).execute();
    await tx.deleteFrom('comment_reports').where('user_id', '=', userId).execute();
  }

  return {
    async post(session, draft, caller) {
      const outcome = await posting.post(session, draft, caller);
      if (!outcome.ok || outcome.value.content === cleanComment(draft.content)) return outcome;
      // WordPress has taken it with another text, and its answer was lost: this text is an edit, or, later, another comment.
      const changed = await own.edit(session, outcome.value.id, draft.content, caller);
      if (changed.ok || !['too-late', 'gone'].includes(changed.failure.kind)) return changed;
      return posting.post(session, { ...draft, draft: undefined }, caller);
    },
    mine: own.mine,
    edit: own.edit,
    remove: own.remove,

    async report(session, commentId, caller) {
      // So many reports take a comment off the page: accounts that cost nothing but an invented address have no say in it.
      if (!session.emailVerified) return failed({ kind: 'unconfirmed' });
      const mine = await database.db
        .selectFrom('comment_posts')
        .select('id')
        .where('user_id', '=', session.userId)
        .where('wordpress_id', '=', commentId)
        .executeTakeFirst();
      if (mine) return failed({ kind: 'own' });
      const over = await limiter.count('report', { address: caller.address, email: session.email });
      if (over) return failed({ kind: 'limited', retryAfter: over.retryAfter });
      await database.transaction(async (tx) => {
        const made = await tx
          .insertInto('comment_reports')
          .values({ user_id: session.userId, comment_id: commentId, at: now() })
          .onConflict((conflict) => conflict.columns(['user_id', 'comment_id']).doNothing())
          .returning('comment_id')
          .executeTakeFirst();
        if (made) await tasks.add(tx, 'report', commentId);
      });
      tasks.nudge();
      return done(null);
    },

    personalData: {
      tables: { comment_posts: 'gone', comment_reports: 'gone' },
      export: async ({ userId }) => ({ comments: await exportComments(database, userId) }),
      // Before the account is deleted, which deletes the rows that say whose the comments are.
      async erase({ userId }) {
        await database.transaction((tx) => takeAway(tx, userId));
        tasks.nudge();
      },
      disown: takeAway,
    },

    start: tasks.start,
    async stop() {
      await tasks.stop();
      await own.idle();
    },
    tasks,
  };
}

async function exportComments(database: Database, userId: string) {
  const iso = (time: number): string => new Date(Number(time)).toISOString();
  const comments = await database.db
    .selectFrom('comment_posts')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('created')
    .execute();
  const reports = await database.db
    .selectFrom('comment_reports')
    .select(['comment_id', 'at'])
    .where('user_id', '=', userId)
    .orderBy('at')
    .execute();
  return {
    written: comments.map((row) => ({
      article: Number(row.article_id),
      answers: Number(row.parent_id) || null,
      name: row.name,
      text: row.content,
      state: row.state,
      time: iso(row.created),
    })),
    reported: reports.map((row) => ({ comment: Number(row.comment_id), time: iso(row.at) })),
  };
}
