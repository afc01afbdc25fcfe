/**
 * Broadcasts each accepted webhook to the other processes with PostgreSQL LISTEN/NOTIFY (docs/decisions/0024). The webhook is passed on
 * as received, with its signature; every process verifies it again. A payload over 8,000 bytes becomes "poll now".
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as timer } from 'node:timers/promises';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Content, WebhookRequest } from '../../content/service.ts';
import type { Queries } from '../../lib/database.ts';
import { backOff } from '../../lib/jobs/tasks.ts';
import type { Logger } from '../../lib/logging.ts';
import { type Listening, listen } from '../database/listen.ts';

export interface WebhookBroadcastOptions {
  readonly content: Pick<Content, 'receive' | 'look'>;
  /** PostgreSQL. */
  readonly db: Queries;
  /** The database's address, for the listening connection. */
  readonly url: string;
  readonly log: Logger;
  /** For tests: how soon an unresponsive connection is replaced, see {@link listen}. */
  readonly beatMs?: number;
  readonly patienceMs?: number;
}

export interface WebhookBroadcastStats {
  /** Webhooks sent to the other processes, and webhooks received from them. */
  readonly sent: number;
  readonly received: number;
  /** Messages that couldn't be sent yet. */
  readonly waiting: number;
  /** Whether messages of the other processes arrive at present. */
  readonly listening: boolean;
}

export interface WebhookBroadcast {
  /** The content's own `receive`; a webhook that is valid and new is also sent to the other processes, without waiting for them. */
  readonly receive: Content['receive'];
  start(): void;
  /** Sends waiting messages and finishes received ones, for four seconds at most. */
  stop(): Promise<void>;
  stats(): WebhookBroadcastStats;
}

/** What the operator has to correct when one process accepts a webhook and another refuses it. */
const causes: Readonly<Record<number, string>> = {
  401: "the processes don't have the same NEWSROOM_SECRET",
  412: 'the clocks of the processes differ',
};

/** Channels belong to a database: newspapers that share one have a schema each. A PostgreSQL name has 63 bytes at most. */
const channel =
  "'broadsheet_' || case when octet_length(current_schema()) <= 50 then current_schema() else md5(current_schema()) end";
/** PostgreSQL accepts less than 8,000 bytes in a message. */
const longestPayload = 7999;
const mostAtOnce = 100;
const mostWaiting = 500;
/** Slightly less than a signature is valid (spec: five minutes), so that a process that was disconnected can still verify it. */
const rememberedMs = 290_000;
const mostRemembered = 100;
/** Within this time all processes have reconnected to a PostgreSQL that was down. */
const reconnectMs = 60_000;
/** Milliseconds. */
const times = { firstWait: 200, longestWait: 5000, firstRetry: 1000, longestRetry: 30_000, goodbye: 2000 };

/** A message on the channel; the names are part of the protocol between versions. */
const messageSchema = z.object({
  /** The sending process, and the recipient; without `to` it is for all. */
  from: z.string(),
  to: z.string().optional(),
  /** A webhook: the headers that its signature needs, and its body in base64. */
  hook: z.object({ headers: z.record(z.string(), z.string()), body: z.string() }).optional(),
  /** Something changed: poll WordPress. */
  look: z.literal(true).optional(),
  /** The sender may have missed something: send it the webhooks of the last minutes again. */
  again: z.literal(true).optional(),
});
type Message = Omit<z.infer<typeof messageSchema>, 'from'>;
type Hook = NonNullable<Message['hook']>;

interface State {
  readonly options: WebhookBroadcastOptions;
  /** This process. */
  readonly id: string;
  readonly stopping: AbortController;
  readonly waiting: Message[];
  readonly working: Set<Promise<void>>;
  recent: { readonly at: number; readonly hook: Hook }[];
  sent: number;
  received: number;
  listening: Listening | null;
  sending: Promise<void> | null;
  /** Whether our own messages have come back: a connection pooler may accept LISTEN and deliver nothing. */
  echoed: boolean;
  connectedAt: number;
  /** Status of the last refusal that was logged. */
  refused: number | null;
}

/** Creates the broadcast of one process; it connects with `start`. */
export function createWebhookBroadcast(options: WebhookBroadcastOptions): WebhookBroadcast {
  const state: State = {
    options,
    id: randomUUID(),
    stopping: new AbortController(),
    waiting: [],
    working: new Set(),
    recent: [],
    sent: 0,
    received: 0,
    listening: null,
    sending: null,
    echoed: false,
    connectedAt: Number.NEGATIVE_INFINITY,
    refused: null,
  };
  return {
    receive: (request) => receive(state, request),
    start() {
      state.listening ??= connect(state);
    },
    stop: () => stop(state),
    stats: () => ({
      sent: state.sent,
      received: state.received,
      waiting: state.waiting.length,
      listening: state.echoed && state.listening?.on() === true,
    }),
  };
}

function connect(state: State): Listening {
  const { url, log, beatMs, patienceMs, content } = state.options;
  return listen({
    url,
    channel,
    log,
    beatMs,
    patienceMs,
    onMessage: (payload) => handle(state, payload),
    onConnect() {
      state.connectedAt = performance.now();
      state.echoed = false;
      content.look();
      send(state, { again: true });
    },
  });
}

async function stop(state: State): Promise<void> {
  await Promise.all([state.listening?.stop(), Promise.race([state.sending, pause(state, times.goodbye)])]);
  state.stopping.abort();
  await Promise.race([Promise.all(state.working), timer(times.goodbye, undefined, { ref: false })]);
}

const pause = ({ stopping }: State, ms: number): Promise<void> =>
  timer(ms, undefined, { signal: stopping.signal, ref: false }).catch(() => {});

const payloadOf = ({ id }: State, message: Message): string => JSON.stringify({ from: id, ...message });

function send(state: State, message: Message): void {
  const { waiting } = state;
  waiting.push(message);
  // So many messages wait only while PostgreSQL is down; one poll finds all of the changes.
  if (waiting.length > mostWaiting) waiting.splice(0, waiting.length, { look: true });
  state.sending ??= sendWaiting(state);
}

/** Sends one batch at a time, so that readers' accounts keep the other connections. */
async function sendWaiting(state: State): Promise<void> {
  const { waiting, stopping } = state;
  const { db, log } = state.options;
  let failures = 0;
  // In the next turn: the caller has to respond to a webhook first.
  await Promise.resolve();
  while (waiting.length > 0 && !stopping.signal.aborted) {
    const batch = waiting.slice(0, mostAtOnce);
    const payloads = batch.map((message) => payloadOf(state, message));
    try {
      await sql`select pg_notify(${sql.raw(channel)}, payload) from unnest(${payloads}::text[]) as payload`.execute(db);
      for (const message of batch) {
        const at = waiting.indexOf(message);
        if (at >= 0) waiting.splice(at, 1);
        if (message.hook && message.to === undefined) state.sent++;
      }
      if (failures > 0) log.info({}, 'Webhooks are sent to the other processes again');
      failures = 0;
    } catch (error) {
      if (failures === 0) {
        log.warn({ problem: (error as Error).message }, "Webhooks can't be sent to the other processes; retrying");
      }
      await pause(state, backOff(++failures, times.firstWait, times.longestWait));
    }
  }
  state.sending = null;
}

/** Sends a webhook to the other processes and remembers it for those that connect later. */
function broadcast(state: State, { headers, rawBody }: WebhookRequest): void {
  // Only the headers that the verification needs: others may identify the sender.
  const signed = Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith('x-newsroom-') && typeof value === 'string' ? [[name, value] as const] : [],
  );
  const hook: Hook = { headers: Object.fromEntries(signed), body: Buffer.from(rawBody).toString('base64') };
  if (Buffer.byteLength(payloadOf(state, { to: state.id, hook })) > longestPayload) {
    send(state, { look: true });
    return;
  }
  state.recent = [...recentHooks(state), { at: performance.now(), hook }].slice(-mostRemembered);
  send(state, { hook });
}

const recentHooks = ({ recent }: State): State['recent'] =>
  recent.filter(({ at }) => performance.now() - at < rememberedMs);

async function receive(state: State, request: WebhookRequest): ReturnType<Content['receive']> {
  let accepted = false;
  const answer = await state.options.content.receive(request, () => {
    accepted = true;
    broadcast(state, request);
  });
  // WordPress will send it again, perhaps to another process, which responds that it is a duplicate.
  if (accepted && answer.status >= 500) track(state, retry(state, request));
  return answer;
}

/** Retries a webhook for as long as its signature is valid. @returns the last status */
async function retry(state: State, request: WebhookRequest): Promise<number> {
  const { content } = state.options;
  const began = performance.now();
  content.look();
  // If WordPress goes down during a thousand edits, polls are enough.
  if (state.working.size > mostRemembered) return 503;
  for (let attempt = 1; ; attempt++) {
    await pause(state, backOff(attempt, times.firstRetry, times.longestRetry));
    if (state.stopping.signal.aborted) return 503;
    const { status } = await content.receive(request);
    if (status < 500 || performance.now() - began > rememberedMs) return status;
  }
}

/** Applies a webhook from another process. */
async function apply(state: State, { headers, body }: Hook): Promise<void> {
  const { content, log } = state.options;
  state.received++;
  const request = { headers, rawBody: Buffer.from(body, 'base64') };
  const { status } = await content.receive(request);
  if (status === 200) {
    state.refused = null;
    return;
  }
  if (status !== 409 && status !== state.refused) {
    log.warn(
      { status, why: causes[status] },
      "A webhook from another process wasn't accepted; WordPress is polled instead",
    );
    state.refused = status;
  }
  if (status >= 500) await retry(state, request);
  // Most likely it is a duplicate; if a clock is wrong, a poll finds the change.
  else content.look();
}

/** Tracks work that `stop` waits for. */
function track(state: State, task: Promise<unknown>): void {
  const work = task
    .then(() => {})
    .catch((error: unknown) => state.options.log.error({ err: error }, "A webhook couldn't be applied"))
    .finally(() => state.working.delete(work));
  state.working.add(work);
}

function handle(state: State, payload: string): void {
  const { content } = state.options;
  let message: z.infer<typeof messageSchema>;
  try {
    message = messageSchema.parse(JSON.parse(payload));
  } catch {
    // A message of a version with another protocol.
    content.look();
    return;
  }
  if (message.from === state.id) state.echoed = true;
  if (message.from === state.id || (message.to ?? state.id) !== state.id) return;
  if (message.look) content.look();
  if (message.again) sendAgain(state, message.from, message.to === undefined);
  if (message.hook) track(state, apply(state, message.hook));
}

/** Sends the webhooks of the last minutes to a process that has connected. @param connected whether it addressed all processes */
function sendAgain(state: State, process: string, connected: boolean): void {
  for (const { hook } of recentHooks(state)) send(state, { to: process, hook });
  if (!connected) return;
  state.options.log.debug({ process }, 'Another process listens');
  // It may have been disconnected when we asked: the process that connects last reaches all others, and those that connected
  // shortly before ask it.
  if (performance.now() - state.connectedAt < reconnectMs) send(state, { to: process, again: true });
}
