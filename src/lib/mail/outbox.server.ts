/**
 * Outbox: a message is a job that is queued in the caller's transaction and sent as soon as that has committed, by whichever
 * process claims it first. It is tried again until it is sent, refused for good, or expired.
 *
 * In normal operation each message is sent once. If a process dies after the mail server accepted a message and before the job
 * is marked as done, the message is sent again with the same `Message-ID`.
 */
import { createSealer, type Sealer } from '../crypto.server.ts';
import type { AccountsTransaction, Database } from '../database.ts';
import type { OldRows } from '../jobs/old-rows.ts';
import { createJobQueue, inJobSpan, type Job, type JobQueue, type Waiting } from '../jobs/queue.server.ts';
import { backOff, type RepeatedTask, repeatAfterPause } from '../jobs/tasks.ts';
import { createFailureLog, type FailureLog, type Logger } from '../logging.ts';
import { renderMessage } from './messages/messages.ts';
import { domainOf, isAddress, type Message, type Outbox, type Publisher } from './model.ts';
import { isUnknownMailbox, type MailTransport, type SendResult } from './smtp.server.ts';

export interface MailStats {
  /** Messages since the start, by result. */
  readonly sent: number;
  readonly refused: number;
  readonly expired: number;
  /** Failed tries that will be repeated. */
  readonly failedTries: number;
  /**
   * Number of waiting messages, and the time of the oldest that isn't a newsletter or an alert (epoch milliseconds); cached for a few
   * seconds.
   */
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
  /** Encrypts waiting messages: the database alone reveals no link and no code. */
  readonly secret: string;
  readonly log: Logger;
  /** A message as it may be sent now; `null` drops it. By default as it was written. */
  readonly revise?: (message: Message) => Message | null;
  /** Called when the mail server refuses a newsletter because the mailbox doesn't exist; may be called again for the same message. */
  readonly onUnknownMailbox?: (address: string) => Promise<void>;
  /** Most messages sent at once; the transport has as many connections. */
  readonly concurrency?: number;
  /** Milliseconds between two polls of the queue without a nudge. */
  readonly pollMs?: number;
  /** First and longest wait while the mail server is unavailable, milliseconds. */
  readonly backOffMs?: readonly [first: number, longest: number];
  readonly now?: () => number;
}

export interface RunningOutbox extends Outbox<AccountsTransaction> {
  stats(): MailStats;
  readonly oldRows: OldRows;
}

type MailKind = Message['kind'];
type MailJob = Job<MailKind>;

const minute = 60_000;
const purpose = 'mail';
/** A job expires at the time in its row; the encryption only has to be valid longer than that. */
const graceSeconds = 3600;
/** How long a message without a link or a code may wait for the mail server. */
const defaultLifeMs = 3 * 24 * 60 * minute;
/** How long the result of a message is stored. */
const keptMs = 7 * 24 * 60 * minute;
/** How long {@link Outbox.stop} waits for messages that are being sent. */
const stopMs = 8000;
const longestSealed = 64 * 1024;
/** First and longest wait while the mail server doesn't respond, milliseconds. */
const defaultBackOffMs = [500, 15_000] as const;
/** First and longest wait if the server temporarily rejects a message; a code must not wait longer than it is valid. */
const rejectedBackOffMs = [5000, minute] as const;
/** The same when a limit of the mail account is reached. */
const limitedBackOffMs = [minute, 60 * minute] as const;
/** Milliseconds after a failed poll in which nothing is claimed, so that another process can first store its results. */
const recoveryMs = 7000;
/** Milliseconds between two polls in that time. */
const recoveryPollMs = 1000;

/**
 * The share of unknown mailboxes among the last fifty or so recipients up to which the server is believed: a mail server that has lost its
 * list of mailboxes says it of all, and their readers must keep what they chose.
 */
const mostUnknown = 0.2;
const weightOfOne = 0.02;

interface State {
  readonly options: OutboxOptions;
  readonly jobs: JobQueue<MailKind>;
  /** Moving share of recipients that the mail server didn't know. It begins high, so that a new process first sees what is accepted. */
  unknownShare: number;
  readonly sealer: Sealer;
  readonly now: () => number;
  readonly counts: { sent: number; refused: number; expired: number; failedTries: number };
  readonly sending: Set<Promise<void>>;
  readonly stopping: AbortController;
  /** `null` before the start. */
  polling: RepeatedTask | null;
  waiting: Waiting;
  /** Set while the mail server doesn't respond: number of tries, and time of the next try. */
  outage: { readonly tries: number; readonly until: number };
  problem: string | null;
  readonly polls: FailureLog;
  /** When a poll last failed, by `performance.now()`. */
  pollFailedAt: number;
  /** Results that could not be stored yet. */
  readonly unstored: Set<() => Promise<void>>;
}

export function openOutbox(options: OutboxOptions): RunningOutbox {
  const { database, transport, secret, now = Date.now } = options;
  const jobs = createJobQueue<MailKind>(database, 'mail', now);
  const sealer = createSealer({ secrets: [secret], longest: longestSealed, now });
  const outbox: State = {
    options,
    jobs,
    unknownShare: 1,
    sealer,
    now,
    counts: { sent: 0, refused: 0, expired: 0, failedTries: 0 },
    sending: new Set(),
    stopping: new AbortController(),
    polling: null,
    waiting: { count: 0, oldest: null, due: null },
    outage: { tries: 0, until: 0 },
    problem: null,
    polls: createFailureLog(options.log),
    pollFailedAt: Number.NEGATIVE_INFINITY,
    unstored: new Set(),
  };

  return {
    async enqueue(transaction, message) {
      if (!isAddress(message.to)) throw new Error('The recipient of a message is not an email address.');
      const lifeMs = 'minutes' in message ? message.minutes * minute : defaultLifeMs;
      const { kind, to, ...rest } = message;
      await jobs.add(transaction, {
        kind,
        subject: to,
        payload: sealer.seal(purpose, rest, Math.ceil(lifeMs / 1000) + graceSeconds),
        // Codes never wait for breaking news, and breaking news never for newsletters.
        priority: message.kind !== 'newsletter' ? 0 : message.alert ? 1 : 2,
        expires: now() + lifeMs,
      });
    },
    forget: jobs.forget,
    oldRows: jobs.oldRows(keptMs),
    nudge: () => nudge(outbox),
    async waiting() {
      const { count, oldest } = await jobs.waiting();
      return { count, oldest };
    },
    stats: () => ({
      ...outbox.counts,
      waiting: outbox.waiting.count,
      oldest: outbox.waiting.oldest,
      problem: outbox.problem,
    }),
    start() {
      outbox.polling ??= startPolling(outbox);
      nudge(outbox);
    },
    async stop() {
      await outbox.polling?.stop();
      const limit = setTimeout(() => outbox.stopping.abort(), stopMs);
      while (outbox.sending.size > 0) await Promise.all(outbox.sending);
      clearTimeout(limit);
      transport?.close();
    },
  };
}

/** Polls the queue until it is stopped. */
function startPolling(outbox: State): RepeatedTask {
  const { now } = outbox;
  const { pollMs = 5000 } = outbox.options;
  const pauseMs = (): number => {
    if (isRecovering(outbox)) return recoveryPollMs;
    const never = Number.POSITIVE_INFINITY;
    const due = freeSlots(outbox) > 0 ? Math.max(outbox.waiting.due ?? never, now() + retryWait(outbox)) : never;
    return Math.max(10, Math.min(due - now(), pollMs));
  };
  return repeatAfterPause(
    pauseMs,
    () => poll(outbox),
    (error) => {
      outbox.polls.failed({ err: error }, 'The outbox cannot be read; it is tried again every second');
      outbox.pollFailedAt = performance.now();
    },
  );
}

/** Polls the queue now, or once more after the poll that is running. */
const nudge = ({ polling }: State): void => void polling?.runNow();

/** How many more messages may be sent now; while the mail server doesn't respond, one at a time. */
function freeSlots({ options: { transport, concurrency = 4 }, outage, sending }: State): number {
  return transport ? (outage.tries > 0 ? 1 : concurrency) - sending.size : 0;
}

/** Milliseconds until a mail server that doesn't respond is tried again; 0 also after the clock was set back, which must not delay mail. */
function retryWait({ outage, now, options: { backOffMs = defaultBackOffMs } }: State): number {
  const rest = outage.until - now();
  return rest > 0 && rest <= backOffMs[1] ? rest : 0;
}

/**
 * Whether the database has just been unavailable. A message whose lease ended in that time may have been sent: the process that knows the
 * result stores it first.
 */
const isRecovering = ({ unstored, pollFailedAt }: State): boolean =>
  unstored.size > 0 || performance.now() < pollFailedAt + recoveryMs;

async function poll(outbox: State): Promise<void> {
  if (!isRecovering(outbox)) await startDue(outbox);
  outbox.waiting = await outbox.jobs.waiting();
  outbox.polls.worked();
}

/** Expires late messages, and starts to send due ones. */
async function startDue(outbox: State): Promise<void> {
  const { jobs, sending } = outbox;
  const { transport } = outbox.options;
  countExpired(outbox, await jobs.expire());
  if (transport && freeSlots(outbox) > 0 && retryWait(outbox) === 0) {
    for (const job of await jobs.claim(freeSlots(outbox))) {
      const delivering = inJobSpan('mail job', job, () => deliver(outbox, job, transport)).finally(() => {
        sending.delete(delivering);
        nudge(outbox);
      });
      sending.add(delivering);
    }
  }
}

function countExpired({ counts, problem, options }: State, expired: Readonly<Record<string, number>>): void {
  for (const [kind, messages] of Object.entries(expired)) {
    counts.expired += messages;
    options.log.warn({ kind, messages, problem }, 'Messages could not be sent in time and were dropped');
  }
}

async function deliver(outbox: State, job: MailJob, transport: MailTransport): Promise<void> {
  const { jobs, now, counts } = outbox;
  const { log } = outbox.options;
  const result = await attempt(outbox, job, transport);
  // A message that was interrupted by the stop was not refused.
  if (outbox.stopping.signal.aborted && result.kind !== 'sent')
    return recordResult(outbox, () => jobs.release(job, now(), false));
  switch (result.kind) {
    case 'sent':
    case 'refused':
    case 'expired':
    case 'dropped': {
      const { kind } = result;
      const detail = 'detail' in result ? result.detail : null;
      if (kind === 'expired') countExpired(outbox, { [job.kind]: 1 });
      else if (kind !== 'dropped') counts[kind]++;
      if (kind === 'refused')
        log.warn({ kind: job.kind, detail, domain: domainOf(job.subject) }, 'The mail server refused a message');
      const isUnknown = kind === 'refused' && isUnknownMailbox(detail);
      if (kind === 'sent' || kind === 'refused')
        outbox.unknownShare += weightOfOne * ((isUnknown ? 1 : 0) - outbox.unknownShare);
      return recordResult(outbox, async () => {
        if (isUnknown && job.kind === 'newsletter' && outbox.unknownShare < mostUnknown)
          await outbox.options.onUnknownMailbox?.(job.subject);
        if (await jobs.end(job, kind, detail)) return;
        log.warn({ kind: job.kind }, 'Another process took over a message that was being sent; it may arrive twice');
      });
    }
    case 'later': {
      counts.failedTries++;
      const { detail, limited } = result;
      const [first, longest] = limited ? limitedBackOffMs : rejectedBackOffMs;
      const waitMs = backOff(job.tries, first, longest);
      const note = { kind: job.kind, detail, tries: job.tries, waitMs };
      if (limited) log.warn(note, 'A message has to wait: the sending limit of the mail account is reached');
      else log.info(note, 'A message has to wait');
      return recordResult(outbox, () => jobs.release(job, now() + waitMs));
    }
    case 'down':
      counts.failedTries++;
      recordOutage(outbox, result.problem);
      return recordResult(outbox, () => jobs.release(job, now(), false));
  }
}

async function attempt(
  outbox: State,
  job: MailJob,
  transport: MailTransport,
): Promise<SendResult | { kind: 'expired' | 'dropped' }> {
  const { sealer, now, stopping } = outbox;
  const { paper, log, revise = (message) => message } = outbox.options;
  const left = (job.expires ?? Number.POSITIVE_INFINITY) - now();
  if (left <= 0) return { kind: 'expired' };
  const rest = sealer.open(purpose, job.payload ?? undefined) as Omit<Message, 'kind' | 'to'> | null;
  if (!rest) return { kind: 'refused', detail: 'sealed under another ACCOUNTS_SECRET' };
  try {
    const message = revise({ kind: job.kind, to: job.subject, ...rest } as Message);
    if (!message) return { kind: 'dropped' };
    const rendered = renderMessage(message, paper, Math.ceil(left / minute));
    const result = await transport.send(job.id, job.subject, rendered, stopping.signal);
    // A message that isn't sent, because it came too late or can't be read, says nothing about the mail server.
    if (result.kind !== 'down') recordResponse(outbox);
    return result;
  } catch (error) {
    log.error({ err: error, kind: job.kind }, 'A message could not be rendered');
    return { kind: 'refused', detail: 'not written' };
  }
}

function recordResponse(outbox: State): void {
  if (outbox.problem !== null) outbox.options.log.info({}, 'The mail server accepts mail again');
  outbox.problem = null;
  outbox.outage = { tries: 0, until: 0 };
}

function recordOutage(outbox: State, problem: string): void {
  const { backOffMs: [first, longest] = defaultBackOffMs, log } = outbox.options;
  if (problem !== outbox.problem) log.error({ problem }, 'Mail cannot be sent; it waits');
  outbox.problem = problem;
  // Messages that were sent at the same time fail together and count once.
  if (retryWait(outbox) > 0) return;
  const tries = outbox.outage.tries + 1;
  outbox.outage = { tries, until: outbox.now() + backOff(Math.min(tries, 20), first, longest) };
}

/** Records a result, however long the database is unavailable: a sent message must not be sent again. */
async function recordResult({ options, stopping, unstored }: State, write: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await write();
      unstored.delete(write);
      return;
    } catch (error) {
      unstored.add(write);
      if (tries === 1)
        options.log.warn({ err: error }, 'The result of a message could not be stored; it will be retried');
      if (stopping.signal.aborted && tries > 3) return;
      await new Promise((resolve) => setTimeout(resolve, Math.min(1000, 50 * tries)));
    }
  }
}
