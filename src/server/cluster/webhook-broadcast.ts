/**
 * Broadcasts each accepted webhook to the other processes with PostgreSQL LISTEN/NOTIFY (docs/decisions/0024). The webhook is
 * passed on as it came and still signed; every process verifies it again. A payload over 8,000 bytes becomes "poll now".
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as timer } from 'node:timers/promises';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Content, WebhookRequest } from '../../content/service.ts';
import type { Queries } from '../../lib/database.ts';
import { backOff } from '../../lib/jobs/retry.ts';
import type { Logger } from '../../lib/logging.ts';
import { type Listening, listen } from '../database/listen.ts';

export interface WebhookBroadcastOptions {
  readonly content: Pick<Content, 'receive' | 'look'>;
  /** A PostgreSQL. */
  readonly db: Queries;
  /** Its address, for the connection that listens. */
  readonly url: string;
  readonly log: Logger;
  /** For tests: how soon a connection without a sign of life is given up, see {@link listen}. */
  readonly beatMs?: number;
  readonly patienceMs?: number;
}

/** What the operator has to correct where one process accepts a webhook and another refuses it. */
const whyRefused: Readonly<Record<number, string>> = {
  401: 'the processes do not have the same NEWSROOM_SECRET',
  412: 'the clocks of the processes differ',
};

export interface WebhookBroadcastStats {
  /** Webhooks handed on to the others, and webhooks that one of the others has handed on. */
  readonly handedOn: number;
  readonly heard: number;
  /** What is to be handed on and could not be yet. */
  readonly waiting: number;
  /** Whether the others are heard now. */
  readonly listening: boolean;
}

export interface WebhookBroadcast {
  /** The content's own `receive`, except that what is good and new goes to the others too, without waiting for them. */
  readonly receive: Content['receive'];
  start(): void;
  /** Hands on what waits and finishes what was heard, for four seconds at most. */
  stop(): Promise<void>;
  stats(): WebhookBroadcastStats;
}

/** Channels are a database's: papers that share one have a schema each. A name of PostgreSQL's has 63 bytes at most. */
const channel =
  "'broadsheet_' || case when octet_length(current_schema()) <= 50 then current_schema() else md5(current_schema()) end";
/** PostgreSQL takes less than 8000 bytes at a time. */
const longest = 7999;
const mostAtOnce = 100;
const mostWaiting = 500;
/** As long as a webhook's signature is good (spec: five minutes), whoever was away can still be told of it. */
const rememberedMs = 290_000;
const mostRemembered = 100;
/** Within this time all processes have found back to a PostgreSQL that was away. */
const togetherMs = 60_000;
/** Milliseconds. */
const times = { firstWait: 200, longestWait: 5000, firstRetry: 1000, longestRetry: 30_000, goodbye: 2000 };

const said = z.object({
  /** Who says it, and whom it is for: all, unless it is said. */
  from: z.string(),
  to: z.string().optional(),
  /** A webhook: the headers that it is checked by, and its body in base64. */
  hook: z.object({ headers: z.record(z.string(), z.string()), body: z.string() }).optional(),
  /** Something happened: ask WordPress. */
  look: z.literal(true).optional(),
  /** I may have missed something: tell me of the last minutes again. */
  again: z.literal(true).optional(),
});
type Said = Omit<z.infer<typeof said>, 'from'>;

/** Creates the broadcast of one process; it connects with `start`. */
export function createWebhookBroadcast(options: WebhookBroadcastOptions): WebhookBroadcast {
  const { content, db, url, log, beatMs, patienceMs } = options;
  const me = randomUUID();
  const stopping = new AbortController();
  const waiting: Said[] = [];
  let remembered: { readonly at: number; readonly hook: NonNullable<Said['hook']> }[] = [];
  const working = new Set<Promise<void>>();
  const counts = { handedOn: 0, heard: 0 };
  let listening: Listening | null = null;
  let sending: Promise<void> | null = null;
  /** Whether our own words have come back: a pooler may listen to nobody and say nothing of it. */
  let echoed = false;
  let begunAt = Number.NEGATIVE_INFINITY;
  let refused: number | null = null;

  const payloadOf = (what: Said): string => JSON.stringify({ from: me, ...what });

  function say(what: Said): void {
    waiting.push(what);
    // So much is waiting only while PostgreSQL is away; one look finds all of it.
    if (waiting.length > mostWaiting) waiting.splice(0, waiting.length, { look: true });
    sending ??= send();
  }

  /** One at a time: however much there is to be said, readers' accounts keep the other connections. */
  async function send(): Promise<void> {
    let failures = 0;
    // In the next turn: whoever hands on has a webhook to answer.
    await Promise.resolve();
    while (waiting.length > 0 && !stopping.signal.aborted) {
      const batch = waiting.slice(0, mostAtOnce);
      const payloads = batch.map(payloadOf);
      try {
        await sql`select pg_notify(${sql.raw(channel)}, payload) from unnest(${payloads}::text[]) as payload`.execute(
          db,
        );
        for (const one of batch) {
          const at = waiting.indexOf(one);
          if (at >= 0) waiting.splice(at, 1);
          if (one.hook && one.to === undefined) counts.handedOn++;
        }
        if (failures > 0) log.info({}, 'Webhooks are handed on again');
        failures = 0;
      } catch (error) {
        if (failures === 0) {
          log.warn({ problem: (error as Error).message }, 'Webhooks cannot be handed on now; it is tried again');
        }
        await pause(backOff(++failures, times.firstWait, times.longestWait));
      }
    }
    sending = null;
  }

  const pause = (ms: number): Promise<void> =>
    timer(ms, undefined, { signal: stopping.signal, ref: false }).catch(() => {});

  function handOn({ headers, rawBody }: WebhookRequest): void {
    // What it is checked by, and nothing else: other headers may tell of whoever sent them.
    const signed = Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith('x-newsroom-') && typeof value === 'string' ? [[name, value] as const] : [],
    );
    const hook = { headers: Object.fromEntries(signed), body: Buffer.from(rawBody).toString('base64') };
    if (Buffer.byteLength(payloadOf({ to: me, hook })) > longest) {
      say({ look: true });
      return;
    }
    remembered = [...recent(), { at: performance.now(), hook }].slice(-mostRemembered);
    say({ hook });
  }

  const recent = (): typeof remembered => remembered.filter(({ at }) => performance.now() - at < rememberedMs);

  async function receive(request: WebhookRequest): ReturnType<Content['receive']> {
    let taken = false;
    const answer = await content.receive(request, () => {
      taken = true;
      handOn(request);
    });
    // WordPress will send it again, perhaps to another process, which knows it already and says so.
    if (taken && answer.status >= 500) follow(insist(request));
    return answer;
  }

  /** Tries again what could not be done now, for as long as its signature is good. @returns the last status */
  async function insist(request: WebhookRequest): Promise<number> {
    const began = performance.now();
    content.look();
    // A WordPress that is away while a thousand edits come has enough of the polls.
    if (working.size > mostRemembered) return 503;
    for (let attempt = 1; ; attempt++) {
      await pause(backOff(attempt, times.firstRetry, times.longestRetry));
      if (stopping.signal.aborted) return 503;
      const { status } = await content.receive(request);
      if (status < 500 || performance.now() - began > rememberedMs) return status;
    }
  }

  async function take({ headers, body }: NonNullable<Said['hook']>): Promise<void> {
    counts.heard++;
    const request = { headers, rawBody: Buffer.from(body, 'base64') };
    const { status } = await content.receive(request);
    if (status === 200) {
      refused = null;
      return;
    }
    if (status !== 409 && status !== refused) {
      const why = whyRefused[status];
      log.warn({ status, why }, 'A webhook that was handed on could not be taken; WordPress is asked instead');
      refused = status;
    }
    if (status >= 500) await insist(request);
    // Most likely it came twice; if a clock is wrong, a poll finds what it was about.
    else content.look();
  }

  function follow(doing: Promise<unknown>): void {
    const work = doing
      .then(() => {})
      .catch((error: unknown) => log.error({ err: error }, 'A webhook that was handed on could not be taken'))
      .finally(() => working.delete(work));
    working.add(work);
  }

  function hear(payload: string): void {
    let what: z.infer<typeof said>;
    try {
      what = said.parse(JSON.parse(payload));
    } catch {
      // From a version that says something else.
      content.look();
      return;
    }
    if (what.from === me) echoed = true;
    if (what.from === me || (what.to ?? me) !== me) return;
    if (what.look) content.look();
    if (what.again) {
      for (const { hook } of recent()) say({ to: what.from, hook });
      if (what.to === undefined) {
        log.debug({ process: what.from }, 'Another process listens');
        // It may have been disconnected when we asked: the process that connects last reaches all others, and those that connected shortly before ask it.
        if (performance.now() - begunAt < togetherMs) say({ to: what.from, again: true });
      }
    }
    if (what.hook) follow(take(what.hook));
  }

  return {
    receive,
    start() {
      listening ??= listen({
        url,
        channel,
        log,
        beatMs,
        patienceMs,
        heard: hear,
        begun() {
          begunAt = performance.now();
          echoed = false;
          content.look();
          say({ again: true });
        },
      });
    },
    async stop() {
      await Promise.all([listening?.stop(), Promise.race([sending, pause(times.goodbye)])]);
      stopping.abort();
      await Promise.race([Promise.all(working), timer(times.goodbye, undefined, { ref: false })]);
    },
    stats: () => ({ ...counts, waiting: waiting.length, listening: echoed && listening?.on() === true }),
  };
}
