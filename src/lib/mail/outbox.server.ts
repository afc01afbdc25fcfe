/**
 * Outbox: a message is a job that is queued in the caller's transaction and sent as soon as that has committed, by whichever
 * process claims it first. It is tried again until it is sent, refused for good, or expired.
 *
 * In normal operation each message is sent once. A process that dies between the mail server's receipt and the end of the job
 * leaves a message that is sent again, with the same `Message-ID`.
 */
import type { AccountsTransaction, Database } from '../database.ts';
import { createJobQueue, type Job, type Waiting } from '../jobs/queue.server.ts';
import { backOff } from '../jobs/retry.ts';
import type { Logger } from '../logging.ts';
import { createSealer } from '../sealed.server.ts';
import { isAddress } from './address.ts';
import { renderMessage } from './messages/messages.ts';
import type { Message, Outbox, Publisher } from './model.ts';
import type { Delivered, MailTransport } from './smtp.server.ts';

export interface MailStats {
  /** Messages since the start, by how they ended. */
  readonly sent: number;
  readonly refused: number;
  readonly expired: number;
  /** Tries that failed and are repeated. */
  readonly failedTries: number;
  /** Messages that wait, and since when the oldest does (epoch milliseconds); a few seconds old. */
  readonly waiting: number;
  readonly oldest: number | null;
  /** Why nothing is being sent; `null` when all is well. */
  readonly problem: string | null;
}

export interface OutboxOptions {
  readonly database: Database;
  /** `null`: no mail server is configured; messages wait until they expire. */
  readonly transport: MailTransport | null;
  readonly paper: Publisher;
  /** Seals what waits: who reads the database alone learns no link and no code. */
  readonly secret: string;
  readonly log: Logger;
  /** Messages sent at once, at most; the transport has as many connections. */
  readonly concurrency?: number;
  /** Milliseconds between two looks when nobody nudges. */
  readonly pollMs?: number;
  /** First and longest wait after the mail server was away, milliseconds. */
  readonly backOffMs?: readonly [first: number, longest: number];
  readonly now?: () => number;
}

export interface RunningOutbox extends Outbox<AccountsTransaction> {
  stats(): MailStats;
}

type MailKind = Message['kind'];
type MailJob = Job<MailKind>;

const minute = 60_000;
const purpose = 'mail';
/** A job is dropped by its time in the table; the seal only has to last longer. */
const graceSeconds = 3600;
/** How long a message without a link or a code may wait for the mail server. */
const letterLife = 3 * 24 * 60 * minute;
/** How long it is known what became of a message. */
const keptMs = 7 * 24 * 60 * minute;
const pruneEveryMs = 60 * minute;
/** How long {@link Outbox.stop} waits for what is being sent. */
const stopMs = 8000;
const longestSealed = 64 * 1024;
/** First and longest wait when the server does not take one message now; a code must not wait longer than it lives. */
const laterMs = [5000, minute] as const;
/** The same when a limit of the account is used up. */
const limitedMs = [minute, 60 * minute] as const;

export function openOutbox(options: OutboxOptions): RunningOutbox {
  const {
    database,
    transport,
    paper,
    secret,
    log,
    concurrency = 4,
    pollMs = 5000,
    backOffMs = [500, 15_000],
    now = Date.now,
  } = options;
  const jobs = createJobQueue<MailKind>(database, 'mail', now);
  const sealer = createSealer({ secrets: [secret], longest: longestSealed, now });
  const counts = { sent: 0, refused: 0, expired: 0, failedTries: 0 };
  const sending = new Set<Promise<void>>();
  const stopping = new AbortController();
  let running = false;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | null = null;
  let again = false;
  let state: Waiting = { count: 0, oldest: null, due: null };
  /** Since the mail server was last heard: how often it was asked, and when it is asked next. */
  let silence = { tries: 0, until: 0 };
  let problem: string | null = null;
  /** Whether the last look failed. */
  let unread = false;
  let prunedAt = Number.NEGATIVE_INFINITY;
  let pruning: Promise<void> = Promise.resolve();

  /** Looks now, or once more when a look is under way. */
  function nudge(): void {
    if (!running) return;
    if (looking) {
      again = true;
      return;
    }
    clearTimeout(timer);
    looking = look()
      .catch((error: unknown) => {
        // Once: the database says itself what is wrong with it, and may be away for hours.
        if (!unread) log.warn({ err: error }, 'The outbox cannot be read now; it is looked at every second');
        unread = true;
        state = { ...state, due: now() + 1000 };
      })
      .finally(() => {
        looking = null;
        if (!running) return;
        if (again) {
          again = false;
          nudge();
          return;
        }
        const due =
          free() > 0 ? Math.max(state.due ?? Number.POSITIVE_INFINITY, silence.until) : Number.POSITIVE_INFINITY;
        timer = setTimeout(nudge, Math.max(10, Math.min(due - now(), pollMs)));
        timer.unref();
      });
  }

  /** How many more may be sent now; while the server is silent one message asks for all. */
  const free = (): number => (transport ? (silence.tries > 0 ? 1 : concurrency) - sending.size : 0);

  async function look(): Promise<void> {
    note(await jobs.expire());
    if (now() - prunedAt > pruneEveryMs) {
      prunedAt = now();
      pruning = jobs
        .prune(now() - keptMs, () => running)
        .catch((error: unknown) => log.warn({ err: error }, 'What became of old messages could not be forgotten yet'));
    }
    if (transport && free() > 0 && silence.until <= now()) {
      for (const job of await jobs.claim(free())) {
        const delivering = deliver(job, transport).finally(() => {
          sending.delete(delivering);
          nudge();
        });
        sending.add(delivering);
      }
    }
    state = await jobs.waiting();
    unread = false;
  }

  function note(expired: Readonly<Record<string, number>>): void {
    for (const [kind, messages] of Object.entries(expired)) {
      counts.expired += messages;
      log.warn({ kind, messages, problem }, 'Messages could not be sent in time and were dropped');
    }
  }

  async function deliver(job: MailJob, by: MailTransport): Promise<void> {
    const result = await attempt(job, by);
    // A message that is too late is not sent: it says nothing of the mail server.
    if (result.kind !== 'down' && result.kind !== 'expired') heard();
    // A message that was interrupted by stopping was not refused.
    if (stopping.signal.aborted && result.kind !== 'sent') return settle(() => jobs.release(job, now(), false));
    if (result.kind === 'sent' || result.kind === 'refused' || result.kind === 'expired') {
      const { kind } = result;
      const detail = 'detail' in result ? result.detail : null;
      if (kind === 'expired') note({ [job.kind]: 1 });
      else counts[kind]++;
      if (kind === 'refused') {
        log.warn({ kind: job.kind, detail, domain: domainOf(job.subject) }, 'A message was refused for good');
      }
      return settle(async () => {
        if (await jobs.end(job, kind, detail)) return;
        log.warn({ kind: job.kind }, 'A message was taken over while it was being sent; it may arrive twice');
      });
    }
    counts.failedTries++;
    if (result.kind === 'later') {
      const { detail, limited } = result;
      const [first, longest] = limited ? limitedMs : laterMs;
      const wait = backOff(job.tries, first, longest);
      const note = { kind: job.kind, detail, tries: job.tries, waitMs: wait };
      if (limited) log.warn(note, 'A message has to wait: the mail server says that the account sends too much');
      else log.info(note, 'A message has to wait');
      return settle(() => jobs.release(job, now() + wait));
    }
    silent(result.problem);
    return settle(() => jobs.release(job, now(), false));
  }

  /** `null` when it was sealed under a secret that is gone. */
  function messageOf({ kind, subject, payload }: MailJob): Message | null {
    const rest = sealer.open(purpose, payload ?? undefined) as Omit<Message, 'kind' | 'to'> | null;
    return rest === null ? null : ({ kind, to: subject, ...rest } as Message);
  }

  async function attempt(job: MailJob, by: MailTransport): Promise<Delivered | { kind: 'expired' }> {
    const left = (job.expires ?? Number.POSITIVE_INFINITY) - now();
    if (left <= 0) return { kind: 'expired' };
    const message = messageOf(job);
    if (!message) return { kind: 'refused', detail: 'sealed under another ACCOUNTS_SECRET' };
    try {
      const rendered = renderMessage(message, paper, Math.ceil(left / minute));
      return await by.send(job.id, job.subject, rendered, stopping.signal);
    } catch (error) {
      log.error({ err: error, kind: job.kind }, 'A message could not be written');
      return { kind: 'refused', detail: 'not written' };
    }
  }

  function heard(): void {
    if (problem !== null) log.info({}, 'The mail server takes mail again');
    problem = null;
    silence = { tries: 0, until: 0 };
  }

  function silent(why: string): void {
    if (why !== problem) log.error({ problem: why }, 'Mail cannot be sent; it waits');
    problem = why;
    // Several that were under way together are one silence.
    if (silence.until > now()) return;
    const tries = silence.tries + 1;
    silence = { tries, until: now() + backOff(Math.min(tries, 20), ...backOffMs) };
  }

  /** Writes down what came of a message, however long the database is away: what was sent must not be sent again. */
  async function settle(write: () => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await write();
      } catch (error) {
        if (tries === 1) log.warn({ err: error }, 'What came of a message cannot be written down yet');
        if (stopping.signal.aborted && tries > 3) return;
        await new Promise((resolve) => setTimeout(resolve, Math.min(1000, 50 * tries)));
      }
    }
  }

  return {
    async enqueue(transaction, message) {
      if (!isAddress(message.to)) throw new Error('A message is addressed to something that is no e-mail address.');
      const life = 'minutes' in message ? message.minutes * minute : letterLife;
      const { kind, to, ...rest } = message;
      await jobs.add(transaction, {
        kind,
        subject: to,
        // Sealed: the database alone reveals no link and no code.
        payload: sealer.seal(purpose, rest, Math.ceil(life / 1000) + graceSeconds),
        // A code never waits behind a newsletter.
        priority: kind === 'newsletter' ? 1 : 0,
        expires: now() + life,
      });
    },
    forget: jobs.forget,
    nudge,
    async waiting() {
      const { count, oldest } = await jobs.waiting();
      return { count, oldest };
    },
    stats: () => ({ ...counts, waiting: state.count, oldest: state.oldest, problem }),
    start() {
      running = true;
      nudge();
    },
    async stop() {
      running = false;
      clearTimeout(timer);
      await looking;
      await pruning;
      const limit = setTimeout(() => stopping.abort(), stopMs);
      while (sending.size > 0) await Promise.all(sending);
      clearTimeout(limit);
      transport?.close();
    },
  };
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1);
