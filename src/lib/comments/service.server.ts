/** The comments service, over the accounts' database and WordPress. */
import type { Caller, Session } from '../accounts/service.ts';
import type { AccountsTransaction, Database } from '../database.ts';
import { createJobQueue, type JobQueue } from '../jobs/queue.server.ts';
import type { PersonalData } from '../personal-data.ts';
import { cleanComment } from './model.ts';
import { type Checking, editOwn, listOwn, removeOwn } from './own.server.ts';
import { claimMs, postDraft } from './posting.server.ts';
import {
  type CommentDependencies,
  type CommentJob,
  type CommentOutcome,
  type Comments,
  done,
  failed,
} from './service.ts';
import { createTasks, type Tasks } from './tasks.server.ts';

export interface CommentsOptions extends Omit<CommentDependencies, 'jobs' | 'now'> {
  readonly now?: () => number;
}

export interface RunningComments extends Comments {
  /** Comments stay in WordPress, without the name and address of the author. */
  readonly personalData: PersonalData;
  /** Starts the background tasks. */
  start(): void;
  stop(): Promise<void>;
  /** For tests. */
  readonly tasks: Pick<Tasks, 'round'>;
}

export function createComments(options: CommentsOptions): RunningComments {
  const { database, now = Date.now } = options;
  const jobs = queueOf(database, now);
  const dependencies: CommentDependencies = { ...options, jobs, now };
  const checking: Checking = new Map();
  const tasks = createTasks(dependencies);
  const data = commentsData(database, now, jobs);

  return {
    async post(session, draft, caller) {
      const outcome = await postDraft(dependencies, session, draft, caller);
      if (!outcome.ok || outcome.value.content === cleanComment(draft.content)) return outcome;
      // WordPress accepted an earlier text and its response was lost: this text is an edit or, after the time for edits, a new comment.
      const changed = await editOwn(dependencies, session, outcome.value.id, draft.content, caller);
      if (changed.ok || !['too-late', 'gone'].includes(changed.failure.kind)) return changed;
      return postDraft(dependencies, session, { ...draft, draft: undefined }, caller);
    },
    mine: (session, articleId, isPublished) => listOwn(dependencies, checking, session, articleId, isPublished),
    edit: (session, id, content, caller) => editOwn(dependencies, session, id, content, caller),
    remove: (session, id) => removeOwn(dependencies, session, id),

    async report(session, commentId, caller) {
      const outcome = await report(dependencies, session, commentId, caller);
      if (outcome.ok) tasks.nudge();
      return outcome;
    },

    personalData: {
      ...data,
      async erase(user, by) {
        await data.erase(user, by);
        tasks.nudge();
      },
    },

    start: tasks.start,
    async stop() {
      await tasks.stop();
      await Promise.all(checking.values());
    },
    tasks,
  };
}

async function report(
  { database, jobs, limiter, now }: CommentDependencies,
  session: Session,
  commentId: number,
  caller: Caller,
): Promise<CommentOutcome<null>> {
  // A few reports hide a comment, so reports by accounts with an unconfirmed address must not count.
  if (!session.emailVerified) return failed({ kind: 'unconfirmed' });
  const mine = await database.db
    .selectFrom('comment_posts')
    .select('id')
    .where('user_id', '=', session.userId)
    .where('wordpress_id', '=', commentId)
    .executeTakeFirst();
  if (mine) return failed({ kind: 'own' });
  const over = await limiter.count('report', { address: caller.address, account: session.email });
  if (over) return failed({ kind: 'limited', retryAfter: over.retryAfter });
  await database.transaction(async (tx) => {
    const made = await tx
      .insertInto('comment_reports')
      .values({ user_id: session.userId, comment_id: commentId, at: now() })
      .onConflict((conflict) => conflict.columns(['user_id', 'comment_id']).doNothing())
      .returning('comment_id')
      .executeTakeFirst();
    if (made) await jobs.add(tx, { kind: 'report', subject: String(commentId), once: true });
  });
  return done(null);
}

const queueOf = (database: Database, now: () => number): JobQueue<CommentJob> =>
  createJobQueue(database, 'comments', now);

/** What is stored about a user's comments. While comments are off, the jobs that take the names out of WordPress wait. */
export function commentsData(
  database: Database,
  now: () => number = Date.now,
  jobs: JobQueue<CommentJob> = queueOf(database, now),
): PersonalData {
  const disown = (tx: AccountsTransaction, userId: string) => disownComments(jobs, tx, userId, now);
  return {
    tables: { comment_posts: 'gone', comment_reports: 'gone' },
    export: async ({ userId }) => ({ comments: await exportComments(database, userId) }),
    // Before the account is deleted: that deletes the rows that name the author.
    erase: ({ userId }) => database.transaction((tx) => disown(tx, userId)),
    disown,
  };
}

/** Removes a user's name from the comments; a job removes it in WordPress. */
async function disownComments(
  jobs: JobQueue<CommentJob>,
  tx: AccountsTransaction,
  userId: string,
  now: () => number,
): Promise<void> {
  const rows = await tx
    .selectFrom('comment_posts')
    .select(['id', 'wordpress_id', 'claimed'])
    .where('user_id', '=', userId)
    .execute();
  for (const { id, wordpress_id, claimed } of rows) {
    // A comment that is being sent may reach WordPress after a look-up, so the look-up waits until the request has ended.
    const due = Math.max(now(), Number(claimed) + claimMs);
    if (wordpress_id === null) await jobs.add(tx, { kind: 'erase-draft', subject: id, due, once: true });
    else await jobs.add(tx, { kind: 'erase', subject: String(wordpress_id), once: true });
  }
  await tx.deleteFrom('comment_posts').where('user_id', '=', userId).execute();
  await tx.deleteFrom('comment_reports').where('user_id', '=', userId).execute();
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
