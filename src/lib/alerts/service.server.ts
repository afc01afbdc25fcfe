/**
 * Sends an alert to the readers who asked for it: one email each through the outbox, and one notification through the vendor. Each of the
 * two has a unique row in the accounts' database, so that neither is sent twice, regardless of retries and the number of nodes. Every node
 * checks the alert of its own content store; the rows decide what is sent.
 */
import type { Database } from '../database.ts';
import { mastheadDay } from '../dates.ts';
import { backOff, type RepeatedTask, repeat } from '../jobs/tasks.ts';
import type { Logger } from '../logging.ts';
import type { NewsletterIssue } from '../mail/model.ts';
import { breaking } from '../newsletters/model.ts';
import type { Newsletters } from '../newsletters/service.server.ts';
import type { Alert, AlertReport, DeliveryReport } from './model.ts';
import type { SendPush } from './onesignal.server.ts';

export interface Alerts {
  /** Checks for an alert now. */
  check(): void;
  /** How an alert was sent. @param id of the alert @throws DatabaseUnavailable */
  report(id: string): Promise<AlertReport>;
}

export interface RunningAlerts extends Alerts {
  start(): void;
  stop(): Promise<void>;
}

export interface AlertsOptions {
  readonly database: Database;
  /** `null`: accounts are off, and nothing is mailed. */
  readonly newsletters: Pick<Newsletters, 'sendAlert' | 'alertSent'> | null;
  /** `null`: no vendor is configured. */
  readonly push: SendPush | null;
  /** The alert that pages show. */
  readonly shown: () => Alert | null;
  /** When the content was last compared with WordPress, by this process or another one; `null`: never. */
  readonly syncedAt: () => string | null;
  readonly log: Logger;
  /** Epoch milliseconds. */
  readonly now?: () => number;
  /** Milliseconds between two checks (default 5000). */
  readonly everyMs?: number;
}

/** How long a process that sends a notification keeps others from sending it; longer than a request may take. */
export const sendingMs = 60_000;
/** First and longest wait before a notification is tried again. */
const backOffMs = [2000, 60_000] as const;
/** How long rows are kept; no alert is shown that long. */
const keptMs = 30 * 24 * 60 * 60 * 1000;

interface State extends Required<AlertsOptions> {
  /** Alerts that need no further check, as `mail` or `push` with the alert's id. */
  readonly done: Set<string>;
  /** `syncedAt` when this process started. */
  syncedBefore: string | null;
}

export function createAlerts(options: AlertsOptions): RunningAlerts {
  const state: State = { now: Date.now, everyMs: 5000, ...options, done: new Set(), syncedBefore: null };
  let tasks: readonly RepeatedTask[] = [];
  const onError = (error: unknown): void =>
    state.log.warn({ err: error }, "An alert couldn't be sent yet; it is tried again");
  function check(): void {
    for (const task of tasks) void task.runNow();
  }
  return {
    check,
    report: (id) => report(state, id),
    start() {
      if (tasks.length > 0) return;
      state.syncedBefore = state.syncedAt();
      // Mail and notification run separately, because mailing may take minutes.
      tasks = [mail, push].map((channel) => repeat(state.everyMs, (signal) => send(state, channel, signal), onError));
      check();
    },
    async stop() {
      await Promise.all(tasks.map((task) => task.stop()));
    },
  };
}

type Channel = (state: State, alert: Alert, signal: AbortSignal) => Promise<void>;

/**
 * Whether WordPress has confirmed the shown alert since the start: an alert that was withdrawn while this process was down must not be
 * sent.
 */
const isConfirmed = ({ syncedAt, syncedBefore }: State): boolean => syncedAt() !== syncedBefore;

async function send(state: State, channel: Channel, signal: AbortSignal): Promise<void> {
  const alert = state.shown();
  if (alert && isConfirmed(state)) await channel(state, alert, signal);
}

const isShown = ({ shown }: State, { id }: Alert): boolean => shown()?.id === id;

async function mail(state: State, alert: Alert, signal: AbortSignal): Promise<void> {
  const { newsletters, done } = state;
  const key = `mail ${alert.id}`;
  if (!alert.mail || !newsletters || done.has(key)) return;
  const { finished } = await newsletters.sendAlert(alert.id, issueOf(alert), () => isShown(state, alert), { signal });
  if (finished) done.add(key);
}

/** An alert as an email. */
function issueOf({ id, text, href, starts }: Alert): NewsletterIssue {
  // For an alert that links to another site, the mail links to our home page, where the alert is at the top.
  const path = href?.startsWith('/') ? href : '/';
  const story = { title: text, standfirst: '', path, kicker: '', byline: '', minutes: 0 };
  const { name, slug } = breaking;
  return { letter: name, slug, day: mastheadDay(Date.parse(starts)), stories: [story], alert: { id, starts } };
}

async function push(state: State, alert: Alert): Promise<void> {
  const { push: sendPush, database, done, now, log } = state;
  const { db } = database;
  const key = `push ${alert.id}`;
  if (!alert.push || !sendPush || done.has(key)) return;
  // Stored before anything is sent, so that a crash doesn't send it twice.
  await db
    .insertInto('alert_pushes')
    .values({ alert: alert.id, state: 'waiting', detail: '', created: now(), tries: 0, due: 0 })
    .onConflict((conflict) => conflict.column('alert').doNothing())
    .execute();
  const claimed = await db
    .updateTable('alert_pushes')
    .set((is) => ({ tries: is('tries', '+', 1), due: now() + sendingMs }))
    .where('alert', '=', alert.id)
    .where('state', '=', 'waiting')
    .where('due', '<=', now())
    .returning(['tries', 'detail'])
    .executeTakeFirst();
  if (!claimed) {
    const row = await pushRow(state, alert.id);
    if (row && row.state !== 'waiting') done.add(key);
    return;
  }
  if (!isShown(state, alert)) {
    // After an earlier request without an answer, the notification may have been sent.
    if (claimed.detail === '') await recordPush(state, alert, 'stopped', '');
    return;
  }
  const result = await sendPush(alert);
  if (result.kind === 'unclear') {
    const waitMs = Math.max(result.retryAfterMs ?? 0, backOff(claimed.tries, ...backOffMs));
    log.warn({ problem: result.message, waitMs }, "The alert's notification may not have been sent; it is tried again");
    await db
      .updateTable('alert_pushes')
      .set({ detail: result.message, due: now() + waitMs })
      .where('alert', '=', alert.id)
      .execute();
    return;
  }
  const message = result.kind === 'refused' ? result.message : '';
  if (result.kind === 'refused') log.error({ problem: message }, "The alert's notification was refused");
  await recordPush(state, alert, result.kind, message);
  done.add(key);
  await db
    .deleteFrom('alert_pushes')
    .where('created', '<', now() - keptMs)
    .execute();
}

const recordPush = ({ database: { db } }: State, { id }: Alert, state: string, detail: string) =>
  db.updateTable('alert_pushes').set({ state, detail }).where('alert', '=', id).execute();

const pushRow = ({ database: { db } }: State, alert: string) =>
  db.selectFrom('alert_pushes').select(['state', 'detail', 'tries']).where('alert', '=', alert).executeTakeFirst();

async function report(state: State, id: string): Promise<AlertReport> {
  const shown = state.shown()?.id ?? null;
  const [mailed, pushed] = await Promise.all([
    mailReport(state, id, shown === id),
    pushReport(state, id, shown === id),
  ]);
  return { shown, mail: mailed, push: pushed };
}

async function mailReport({ newsletters }: State, id: string, isRunning: boolean): Promise<DeliveryReport> {
  if (!newsletters) return { state: 'off', readers: null, detail: '' };
  const sent = await newsletters.alertSent(id);
  if (!sent) return { state: 'none', readers: null, detail: '' };
  const unfinished = isRunning ? 'sending' : 'stopped';
  return { state: sent.finished ? 'sent' : unfinished, readers: sent.readers, detail: '' };
}

async function pushReport(state: State, id: string, isRunning: boolean): Promise<DeliveryReport> {
  if (!state.push) return { state: 'off', readers: null, detail: '' };
  const row = await pushRow(state, id);
  if (!row) return { state: 'none', readers: null, detail: '' };
  const { detail } = row;
  if (row.state === 'sent' || row.state === 'refused' || row.state === 'stopped') {
    return { state: row.state, readers: null, detail };
  }
  // The alert ended before the vendor answered.
  if (!isRunning) return { state: detail === '' ? 'stopped' : 'unclear', readers: null, detail };
  return { state: 'sending', readers: null, detail };
}
