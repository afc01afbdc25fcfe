/**
 * Sends events to the site, signed as Stripe signs them, in order and once unless set otherwise:
 *
 *     GET  /_sandbox/webhooks            {"settings", "waiting": n, "deliveries": [newest first]}
 *     PUT  /_sandbox/webhooks            {"mode"?: "on" | "off", "delay"?: ms, "copies"?: n, "shuffle"?: ms, "lose"?: 0…1}
 *     POST /_sandbox/webhooks/flush      sends all waiting events now, and answers after one attempt for each
 *     POST /_sandbox/webhooks/resend     {"event": "evt_…"}, or, without it, all lost and failed events
 *     POST /_sandbox/webhooks/settled    answers when all events are delivered; {"timeout"?: ms}
 *
 * `off` loses all events, as if the site had been down for days; `delay` delays each; `copies` sends each so many times; `shuffle` waits
 * a random time up to so many milliseconds, so that events arrive out of order; `lose` is the share that is lost. An event without a
 * 2xx answer is retried at growing intervals.
 */
import { createHmac } from 'node:crypto';
import type { StripeAccount } from './core/account.ts';
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
  /** `null`: the site could not be reached. */
  readonly status: number | null;
}

/** The delivery of an event, stored with it. */
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
  /** Whether all events were delivered in time. */
  settled(timeout: number): Promise<boolean>;
  stop(): Promise<void>;
}

const defaultSettings: WebhookSettings = { mode: 'on', delay: 0, copies: 1, shuffle: 0, lose: 0 };

/** Seconds until the next attempt, by the number of failed attempts. */
const retrySeconds = [1, 2, 4, 8, 15, 30, 60, 120, 300, 600, 1800, 3600];

/** Timeout of a delivery, milliseconds. */
const timeoutMs = 10_000;

/** `Stripe-Signature` of a body. */
function sign(body: string, secret: string, at: number): string {
  const moment = Math.floor(at / 1000);
  return `t=${moment},v1=${createHmac('sha256', secret).update(`${moment}.${body}`).digest('hex')}`;
}

const deliveryOf = (event: Event): Delivery | undefined => event._delivery as Delivery | undefined;

interface Options {
  readonly url: string;
  readonly secret: string;
}

interface State extends Options {
  readonly account: StripeAccount;
  /** Ids of waiting events. */
  readonly queue: Set<string>;
  /** Deliveries in progress. */
  readonly deliveries: Set<Promise<void>>;
  readonly stopping: AbortController;
  timer: NodeJS.Timeout | undefined;
  sending: Promise<void> | null;
}

export function makeWebhooks(account: StripeAccount, options: Options): Webhooks {
  const state: State = {
    ...options,
    account,
    queue: new Set(),
    deliveries: new Set(),
    stopping: new AbortController(),
    timer: undefined,
    sending: null,
  };
  account.onEvents((events) => {
    // Starts after the call that caused the events has been answered.
    setImmediate(() => {
      if (isStopped(state)) return;
      for (const event of events) if (account.store.find('event', event.id) === event) enqueue(state, event);
      scheduleNext(state);
    });
  });
  for (const event of account.store.all('event')) {
    const status = deliveryOf(event)?.state;
    if (status === 'new') enqueue(state, event);
    if (status === 'waiting') state.queue.add(event.id);
  }
  scheduleNext(state);
  return {
    get settings() {
      return settingsOf(account);
    },
    set: (changes) => changeSettings(account, changes),
    waiting: () => waitingEvents(state).length,
    list: (limit) => list(account, limit),
    async flush() {
      await new Promise((resolve) => setImmediate(resolve));
      await state.sending;
      await startSending(state, true);
    },
    resend: (id) => resend(state, id),
    async settled(timeout) {
      const until = Date.now() + timeout;
      while (Date.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        if (waitingEvents(state).length === 0 && !state.sending) return true;
      }
      return false;
    },
    async stop() {
      clearTimeout(state.timer);
      state.stopping.abort();
      await state.sending;
    },
  };
}

const isStopped = ({ stopping }: State): boolean => stopping.signal.aborted;

const settingsOf = (account: StripeAccount): WebhookSettings => ({
  ...defaultSettings,
  ...(account.store.find('setting', 'webhooks')?.value as object),
});

function changeSettings(account: StripeAccount, changes: Partial<WebhookSettings>): WebhookSettings {
  account.transaction(() => {
    const value = { ...settingsOf(account), ...changes };
    const stored = account.store.find('setting', 'webhooks');
    if (stored) {
      account.store.touch(stored);
      stored.value = value;
    } else account.store.add('setting', { id: 'webhooks', object: 'setting', value });
  });
  return settingsOf(account);
}

const noDelivery: Delivery = { state: 'new', next: null, copies: 1, attempts: [] };

const list = (account: StripeAccount, limit: number): ReturnType<Webhooks['list']> =>
  [...account.store.all('event')]
    .slice(-limit)
    .reverse()
    .map((event) => ({
      id: event.id,
      type: event.type,
      created: event.created,
      delivery: deliveryOf(event) ?? noDelivery,
    }));

/** Stores the progress of an event's delivery. */
function recordDelivery({ account }: State, event: Event, changes: Partial<Delivery>): void {
  account.transaction(() => {
    const before = deliveryOf(event) ?? noDelivery;
    event._delivery = { ...before, ...changes };
    event.pending_webhooks = (changes.state ?? before.state) === 'delivered' ? 0 : 1;
    account.store.touch(event);
  });
}

function enqueue(state: State, event: Event): void {
  const { account, queue } = state;
  const { mode, delay, copies, shuffle, lose } = settingsOf(account);
  if (mode === 'off' || (lose > 0 && Math.random() < lose)) {
    recordDelivery(state, event, { state: 'lost', next: null });
    return;
  }
  recordDelivery(state, event, {
    state: 'waiting',
    next: Date.now() + delay + Math.random() * shuffle,
    copies: Math.max(1, copies),
  });
  queue.add(event.id);
}

/** Waiting events, by the time of their next attempt. A reset deletes events that are in the queue. */
const waitingEvents = ({ account, queue }: State): Event[] =>
  [...queue]
    .flatMap((id) => account.store.find('event', id) ?? [])
    .sort(
      (one, other) => (deliveryOf(one)?.next ?? 0) - (deliveryOf(other)?.next ?? 0) || (one._n ?? 0) - (other._n ?? 0),
    );

function scheduleNext(state: State): void {
  clearTimeout(state.timer);
  const [first] = waitingEvents(state);
  if (isStopped(state) || state.sending || !first) return;
  const next = deliveryOf(first)?.next ?? 0;
  state.timer = setTimeout(() => void startSending(state, false), Math.max(0, next - Date.now()));
  state.timer.unref();
}

/** Sends due events one after the other. @param all whether to send events that aren't due yet */
function startSending(state: State, all: boolean): Promise<void> {
  state.sending ??= sendDue(state, all).finally(() => {
    state.sending = null;
    scheduleNext(state);
  });
  return state.sending;
}

async function sendDue(state: State, all: boolean): Promise<void> {
  const { account, deliveries } = state;
  for (const event of waitingEvents(state)) {
    if (isStopped(state)) break;
    const delivery = deliveryOf(event);
    if (!delivery || (!all && (delivery.next ?? 0) > Date.now())) continue;
    if (settingsOf(account).shuffle > 0) {
      // Shuffled events are sent at the same time, so that they arrive out of order.
      const sent = send(state, event, delivery).finally(() => deliveries.delete(sent));
      deliveries.add(sent);
    } else await send(state, event, delivery);
  }
  await Promise.all(deliveries);
}

async function send(state: State, event: Event, delivery: Delivery): Promise<void> {
  const { account, queue } = state;
  queue.delete(event.id);
  const body = JSON.stringify(account.present(event), null, 2);
  let status: number | null = null;
  for (let copy = 0; copy < delivery.copies; copy += 1) status = await post(state, body);
  if (isStopped(state)) return;
  const attempts = [...delivery.attempts, { at: Date.now(), status }];
  if (status !== null && status >= 200 && status < 300) {
    recordDelivery(state, event, { state: 'delivered', next: null, attempts });
    return;
  }
  const wait = retrySeconds[attempts.length - 1];
  if (wait === undefined) {
    recordDelivery(state, event, { state: 'failed', next: null, attempts });
    return;
  }
  recordDelivery(state, event, { state: 'waiting', next: Date.now() + wait * 1000, attempts });
  queue.add(event.id);
}

async function post({ url, secret, stopping }: State, body: string): Promise<number | null> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
        'stripe-signature': sign(body, secret, Date.now()),
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), stopping.signal]),
    });
    await response.body?.cancel();
    return response.status;
  } catch {
    return null;
  }
}

function resend(state: State, id: string | undefined): void {
  const { account, queue } = state;
  for (const event of account.store.all('event')) {
    const status = deliveryOf(event)?.state;
    if (id ? event.id !== id : status !== 'lost' && status !== 'failed') continue;
    recordDelivery(state, event, { state: 'waiting', next: Date.now(), copies: 1 });
    queue.add(event.id);
  }
  scheduleNext(state);
}
