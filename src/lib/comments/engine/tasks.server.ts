/**
 * What WordPress has yet to be told, done again until it has been: reports, and names to be forgotten. And drafts of which nobody
 * knows whether WordPress has them: it is asked.
 */
import { randomUUID } from 'node:crypto';
import type { AccountsTransaction } from '../../database.ts';
import { backOff } from '../../jobs/retry.ts';
import type { CommentTasksTable } from '../tables.ts';
import type { CommentDependencies } from './dependencies.ts';
import type { ModerationAnswer } from './moderation.server.ts';
import type { Posting } from './posting.server.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const everyMs = 30_000;
const longestWaitMs = 15 * minute;
/** Rows of one round. */
const step = 20;

export interface Tasks {
  /**
   * Notes a task within a transaction; {@link Tasks.nudge} after it.
   *
   * @param due not before, epoch milliseconds; at once unless given
   */
  add(tx: AccountsTransaction, kind: CommentTasksTable['kind'], subject: string | number, due?: number): Promise<void>;
  /** Does at once what is due. */
  nudge(): void;
  /** One round, for tests. */
  round(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

/** WordPress has no such comment. A refusal for any other reason, such as a password that was changed, says nothing of it. */
const isMissing = (answer: ModerationAnswer): boolean =>
  !answer.ok && answer.kind === 'refused' && answer.status === 404 && answer.code !== 'rest_no_route';

export function createTasks(dependencies: CommentDependencies, { settle }: Pick<Posting, 'settle'>): Tasks {
  const { database, moderation, rules, log, now } = dependencies;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;
  let asked = false;
  let stopped = false;

  async function perform({ kind, subject }: CommentTasksTable): Promise<ModerationAnswer> {
    if (kind === 'erase-draft') {
      const found = await moderation.find(subject);
      return found.ok ? moderation.erase(found.id) : found;
    }
    if (kind === 'erase') return moderation.erase(Number(subject));
    const { count } = await database.db
      .selectFrom('comment_reports')
      .select((rows) => rows.fn.countAll<number>().as('count'))
      .where('comment_id', '=', Number(subject))
      .executeTakeFirstOrThrow();
    return moderation.report(Number(subject), Number(count), rules.reportsToHold);
  }

  async function work(task: CommentTasksTable): Promise<void> {
    const answer = await perform(task);
    const same = (query: 'done' | 'again') =>
      query === 'done'
        ? // One that was asked for anew meanwhile stays.
          database.db.deleteFrom('comment_tasks').where('id', '=', task.id).where('stamp', '=', task.stamp).execute()
        : database.db
            .updateTable('comment_tasks')
            .set({ due: now() + backOff(task.tries + 1, minute / 2, longestWaitMs), tries: task.tries + 1 })
            .where('id', '=', task.id)
            .execute();
    if (answer.ok || isMissing(answer)) {
      await same('done');
      return;
    }
    const why = answer.kind === 'unavailable' ? answer.why : `${answer.status} ${answer.code}`;
    log.warn(
      { kind: task.kind, why, tries: task.tries + 1 },
      'WordPress could not be told about a comment; it is tried again',
    );
    await same('again');
  }

  /** A reader who has gone away never learns what became of the draft; here it is learned. */
  async function settleDrafts(): Promise<void> {
    const time = now();
    const rows = await database.db
      .selectFrom('comment_posts')
      .selectAll()
      .where('state', '=', 'sending')
      .where('created', '<=', time - 2 * minute)
      .where('claimed', '<=', time - 2 * minute)
      .where('checked', '<=', time - 2 * minute)
      .limit(step)
      .execute();
    for (const row of rows) {
      // WordPress may take long over each.
      if (stopped) return;
      const answer = await moderation.find(row.id);
      if (answer.ok) await settle(row, answer);
      else if (isMissing(answer) && Number(row.created) < time - day) {
        await database.db.deleteFrom('comment_posts').where('id', '=', row.id).execute();
      } else {
        await database.db.updateTable('comment_posts').set({ checked: time }).where('id', '=', row.id).execute();
      }
    }
  }

  async function round(): Promise<void> {
    const due = await database.db
      .selectFrom('comment_tasks')
      .selectAll()
      .where('due', '<=', now())
      .orderBy('due')
      .limit(step)
      .execute();
    for (const task of due) {
      if (stopped) return;
      await work({ ...task, tries: Number(task.tries) });
    }
    if (!stopped) await settleDrafts();
  }

  function nudge(): void {
    if (stopped) return;
    asked = true;
    running ??= (async () => {
      while (asked && !stopped) {
        asked = false;
        await round().catch((error: unknown) =>
          log.warn({ err: error }, 'The tasks of the comments could not be looked at'),
        );
      }
    })().finally(() => {
      running = null;
      if (asked) nudge();
    });
  }

  return {
    async add(tx, kind, subject, due = now()) {
      const task = {
        id: `${kind}:${subject}`,
        kind,
        subject: String(subject),
        stamp: randomUUID(),
        due,
        tries: 0,
      };
      await tx
        .insertInto('comment_tasks')
        .values(task)
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ stamp: task.stamp, due: task.due, tries: 0 }))
        .execute();
    },
    nudge,
    round,
    start() {
      timer ??= setInterval(nudge, everyMs).unref();
      nudge();
    },
    async stop() {
      stopped = true;
      if (timer) clearInterval(timer);
      await running;
    },
  };
}
