/**
 * Events on their way to the site, signed as Stripe signs them. They come in order and once, unless asked otherwise:
 *
 *     GET  /_sandbox/webhooks            {"settings", "waiting": n, "deliveries": [newest first]}
 *     PUT  /_sandbox/webhooks            {"mode"?: "on" | "off", "delay"?: ms, "copies"?: n, "shuffle"?: ms, "lose"?: 0…1}
 *     POST /_sandbox/webhooks/flush      sends what waits now, and answers when everything has been tried
 *     POST /_sandbox/webhooks/resend     {"event": "evt_…"}, or everything that was lost or failed without one
 *     POST /_sandbox/webhooks/settled    answers when nothing is on its way any more; {"timeout"?: ms}
 *
 * `off` loses events for good, as a site does that was away for days; `delay` holds each back; `copies` sends each so many
 * times; `shuffle` waits a random while, up to so many milliseconds, so that they overtake each other; `lose` is the share
 * that never comes. Whatever the site does not answer with 2xx is tried again, later and later.
 */
import { createHmac } from 'node:crypto';
import type { Ledger } from './core/ledger.ts';
import type { Event } from './core/model.ts';

export interface WebhookSettings {
  readonly mode: 'on' | 'off';
  readonly delay: number;
  readonly copies: number;
  readonly shuffle: number;
  readonly lose: number;
}

export interface Attempt {
  /** Epoch milliseconds. */
  readonly at: number;
  /** `null` when the site could not be reached. */
  readonly status: number | null;
}

/** How far an event has come; kept with it. */
export interface Delivery {
  state: 'new' | 'waiting' | 'delivered' | 'failed' | 'lost';
  /** Epoch milliseconds of the next attempt. */
  next: number | null;
  copies: number;
  attempts: Attempt[];
}

export interface Webhooks {
  readonly settings: WebhookSettings;
  set(changes: Partial<WebhookSettings>): WebhookSettings;
  waiting(): number;
  list(limit: number): { id: string; type: string; created: number; delivery: Delivery }[];
  flush(): Promise<void>;
  resend(event?: string): void;
  /** Whether nothing was on its way any more before the time was up. */
  settled(timeout: number): Promise<boolean>;
  stop(): Promise<void>;
}

const usual: WebhookSettings = { mode: 'on', delay: 0, copies: 1, shuffle: 0, lose: 0 };

/** Seconds until the next attempt, by the number of those that failed. */
const backOff = [1, 2, 4, 8, 15, 30, 60, 120, 300, 600, 1800, 3600];

/** Milliseconds that the site may take. */
const patience = 10_000;

/** `Stripe-Signature` of a body. */
export function sign(body: string, secret: string, at: number): string {
  const moment = Math.floor(at / 1000);
  return `t=${moment},v1=${createHmac('sha256', secret).update(`${moment}.${body}`).digest('hex')}`;
}

export const deliveryOf = (event: Event): Delivery | undefined => event._delivery as Delivery | undefined;

export function makeWebhooks(
  ledger: Ledger,
  {
    url,
    secret,
    wall = Date.now,
    random = Math.random,
  }: { url: string; secret: string; wall?: () => number; random?: () => number },
): Webhooks {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let working: Promise<void> | null = null;
  const queue = new Set<string>();
  const flights = new Set<Promise<void>>();
  const stopping = new AbortController();

  const settings = (): WebhookSettings => ({
    ...usual,
    ...(ledger.store.find('setting', 'webhooks')?.value as object),
  });

  function note(event: Event, changes: Partial<Delivery>): void {
    ledger.run(() => {
      const before = deliveryOf(event) ?? { state: 'new', next: null, copies: 1, attempts: [] };
      event._delivery = { ...before, ...changes };
      event.pending_webhooks = (changes.state ?? before.state) === 'delivered' ? 0 : 1;
      ledger.store.touch(event);
    });
  }

  function accept(event: Event): void {
    const { mode, delay, copies, shuffle, lose } = settings();
    if (mode === 'off' || (lose > 0 && random() < lose)) {
      note(event, { state: 'lost', next: null });
      return;
    }
    note(event, { state: 'waiting', next: wall() + delay + random() * shuffle, copies: Math.max(1, copies) });
    queue.add(event.id);
  }

  /** Events that wait, the earliest first. */
  const due = (): Event[] =>
    [...queue]
      .flatMap((id) => ledger.store.find('event', id) ?? [])
      .sort(
        (one, other) =>
          (deliveryOf(one)?.next ?? 0) - (deliveryOf(other)?.next ?? 0) || (one._n ?? 0) - (other._n ?? 0),
      );

  function arm(): void {
    clearTimeout(timer);
    if (stopped || working || queue.size === 0) return;
    const next = deliveryOf(due()[0] as Event)?.next ?? 0;
    timer = setTimeout(() => void work(false), Math.max(0, next - wall()));
    timer.unref();
  }

  /** Sends what is due, one after the other; everything that waits when `all` of it is wanted. */
  function work(all: boolean): Promise<void> {
    working ??= (async () => {
      for (const event of due()) {
        if (stopped) break;
        const delivery = deliveryOf(event);
        if (!delivery || (!all && (delivery.next ?? 0) > wall())) continue;
        if (settings().shuffle > 0) {
          // Those that overtake each other are on their way at the same time.
          const flight = send(event, delivery).finally(() => flights.delete(flight));
          flights.add(flight);
        } else await send(event, delivery);
      }
      await Promise.all(flights);
    })().finally(() => {
      working = null;
      arm();
    });
    return working;
  }

  async function send(event: Event, delivery: Delivery): Promise<void> {
    queue.delete(event.id);
    const body = JSON.stringify(ledger.present(event), null, 2);
    let status: number | null = null;
    for (let copy = 0; copy < delivery.copies; copy += 1) status = await post(body);
    if (stopped) return;
    const attempts = [...delivery.attempts, { at: wall(), status }];
    if (status !== null && status >= 200 && status < 300) {
      note(event, { state: 'delivered', next: null, attempts });
      return;
    }
    const wait = backOff[attempts.length - 1];
    if (wait === undefined) note(event, { state: 'failed', next: null, attempts });
    else {
      note(event, { state: 'waiting', next: wall() + wait * 1000, attempts });
      queue.add(event.id);
    }
  }

  async function post(body: string): Promise<number | null> {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
          'stripe-signature': sign(body, secret, wall()),
        },
        body,
        redirect: 'manual',
        signal: AbortSignal.any([AbortSignal.timeout(patience), stopping.signal]),
      });
      await response.body?.cancel();
      return response.status;
    } catch {
      return null;
    }
  }

  ledger.onEvents((events) => {
    if (stopped) return;
    // Not within the call that caused them: it answers first.
    setImmediate(() => {
      if (stopped) return;
      for (const event of events) if (ledger.store.find('event', event.id) === event) accept(event);
      arm();
    });
  });
  for (const event of ledger.store.all('event')) {
    const state = deliveryOf(event)?.state;
    if (state === 'new') accept(event);
    if (state === 'waiting') queue.add(event.id);
  }
  arm();

  return {
    get settings() {
      return settings();
    },
    set(changes) {
      ledger.run(() => {
        const value = { ...settings(), ...changes };
        const there = ledger.store.find('setting', 'webhooks');
        if (there) {
          ledger.store.touch(there);
          there.value = value;
        } else ledger.store.add('setting', { id: 'webhooks', object: 'setting', value });
      });
      return settings();
    },
    waiting: () => queue.size,
    list: (limit) =>
      [...ledger.store.all('event')]
        .slice(-limit)
        .reverse()
        .map((event) => ({
          id: event.id,
          type: event.type,
          created: event.created,
          delivery: deliveryOf(event) ?? { state: 'new', next: null, copies: 1, attempts: [] },
        })),
    async flush() {
      await new Promise((resolve) => setImmediate(resolve));
      await working;
      await work(true);
    },
    resend(id) {
      for (const event of ledger.store.all('event')) {
        const state = deliveryOf(event)?.state;
        if (id ? event.id !== id : state !== 'lost' && state !== 'failed') continue;
        note(event, { state: 'waiting', next: wall(), copies: 1 });
        queue.add(event.id);
      }
      arm();
    },
    async settled(timeout) {
      const until = Date.now() + timeout;
      while (Date.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        if (queue.size === 0 && !working) return true;
      }
      return false;
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      stopping.abort();
      await working;
    },
  };
}
