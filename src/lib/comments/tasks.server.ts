/**
 * Background tasks of the comments: reports and erasures of names are jobs that are retried until WordPress accepts them. Drafts whose
 * response was lost are looked up at WordPress.
 */
import { inJobSpan, type Job } from '../jobs/queue.server.ts';
import { backOff, type RepeatedTask, repeat } from '../jobs/tasks.ts';
import type { ModerationAnswer } from './moderation.server.ts';
import { recordResult } from './posting.server.ts';
import type { CommentDependencies, CommentJob } from './service.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const everyMs = 30_000;
const longestWaitMs = 15 * minute;
/** Most jobs and drafts of one round. */
const step = 20;

export interface Tasks {
  /** Runs the due jobs soon. */
  nudge(): void;
  /** Runs one round, for tests: when it resolves, no round is running. */
  round(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

/** WordPress has no such comment. Other refusals, for example after a password change, don't show whether it exists. */
const isMissing = (answer: ModerationAnswer): boolean =>
  !answer.ok && answer.kind === 'refused' && answer.status === 404 && answer.code !== 'rest_no_route';

export function createTasks(dependencies: CommentDependencies): Tasks {
  const { jobs, log } = dependencies;
  let repeated: RepeatedTask | null = null;
  const stopping = new AbortController();

  async function round(signal: AbortSignal = stopping.signal): Promise<void> {
    for (let done = 0; done < step && !signal.aborted; done++) {
      // One at a time: the lease of a second job could end while WordPress is slow with the first.
      const [job] = await jobs.claim(1);
      if (!job) break;
      await inJobSpan('comment job', job, () => work(dependencies, job));
    }
    await recoverDrafts(dependencies, signal);
  }

  function start(): void {
    if (stopping.signal.aborted) return;
    repeated ??= repeat(everyMs, round, (error) =>
      log.warn({ err: error }, 'The background tasks of the comments failed and will be retried'),
    );
    void repeated.runNow();
  }

  return {
    nudge: start,
    round: () => repeated?.runNow() ?? round(),
    start,
    async stop() {
      stopping.abort();
      await repeated?.stop();
    },
  };
}

async function work(
  { database, jobs, moderation, rules, log, now }: CommentDependencies,
  job: Job<CommentJob>,
): Promise<void> {
  const { kind, subject, tries } = job;

  async function perform(): Promise<ModerationAnswer> {
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

  const answer = await perform();
  if (answer.ok || isMissing(answer)) return jobs.complete(job);
  const why = answer.kind === 'unavailable' ? answer.why : `${answer.status} ${answer.code}`;
  log.warn({ kind, why, tries }, 'WordPress did not accept a change of a comment; it will be retried');
  await jobs.release(job, now() + backOff(tries, minute / 2, longestWaitMs));
}

/** Resolves drafts whose response was lost. */
async function recoverDrafts(dependencies: CommentDependencies, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { moderation, now } = dependencies;
  const { db } = dependencies.database;
  const time = now();
  const rows = await db
    .selectFrom('comment_posts')
    .selectAll()
    .where('state', '=', 'sending')
    .where('created', '<=', time - 2 * minute)
    .where('claimed', '<=', time - 2 * minute)
    .where('checked', '<=', time - 2 * minute)
    .limit(step)
    .execute();
  for (const row of rows) {
    // Each request to WordPress may take long.
    if (signal.aborted) return;
    const answer = await moderation.find(row.id);
    if (answer.ok) await recordResult(dependencies, row, answer);
    else if (isMissing(answer) && Number(row.created) < time - day) {
      await db.deleteFrom('comment_posts').where('id', '=', row.id).execute();
    } else {
      await db.updateTable('comment_posts').set({ checked: time }).where('id', '=', row.id).execute();
    }
  }
}
