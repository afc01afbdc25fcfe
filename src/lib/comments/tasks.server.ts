/**
 * Background tasks of the comments: reports, and names to be erased, are jobs that are tried until WordPress has taken them. Drafts whose
 * answer was lost are looked up at WordPress.
 */
import type { AccountsTransaction } from '../database.ts';
import { createJobQueue, type Job } from '../jobs/queue.server.ts';
import { backOff } from '../jobs/retry.ts';
import type { ModerationAnswer } from './moderation.server.ts';
import type { Posting } from './posting.server.ts';
import type { CommentDependencies } from './service.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const everyMs = 30_000;
const longestWaitMs = 15 * minute;
/** Rows of one round. */
const step = 20;

/** `erase-draft` names the comment by our own number, the others by WordPress's. */
export type CommentJob = 'report' | 'erase' | 'erase-draft';

export interface Tasks {
  /**
   * Adds a job within a transaction; {@link Tasks.nudge} after it.
   *
   * @param due not before, epoch milliseconds; at once unless given
   */
  add(tx: AccountsTransaction, kind: CommentJob, subject: string | number, due?: number): Promise<void>;
  /** Works on what is due now. */
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
  const jobs = createJobQueue<CommentJob>(database, 'comments', now);
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;
  let asked = false;
  let stopped = false;

  async function perform({ kind, subject }: Job<CommentJob>): Promise<ModerationAnswer> {
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

  async function work(job: Job<CommentJob>): Promise<void> {
    const answer = await perform(job);
    if (answer.ok || isMissing(answer)) return jobs.complete(job);
    const why = answer.kind === 'unavailable' ? answer.why : `${answer.status} ${answer.code}`;
    log.warn(
      { kind: job.kind, why, tries: job.tries },
      'WordPress did not take a change of a comment; it will be retried',
    );
    await jobs.release(job, now() + backOff(job.tries, minute / 2, longestWaitMs));
  }

  /** Settles drafts whose reader left before the answer came. */
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
    for (let done = 0; done < step && !stopped; done++) {
      // One at a time: the lease of a second one could end while WordPress is slow with the first.
      const [job] = await jobs.claim(1);
      if (!job) break;
      await work(job);
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
          log.warn({ err: error }, 'The background tasks of the comments failed and will be retried'),
        );
      }
    })().finally(() => {
      running = null;
      if (asked) nudge();
    });
  }

  return {
    add: (tx, kind, subject, due = now()) => jobs.add(tx, { kind, subject: String(subject), due, once: true }),
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
