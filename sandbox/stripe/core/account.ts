/**
 * The books: objects, the time, and the events that tell of changes. Every call is one transaction; whatever it changes
 * is kept, announced as an event and answered together, or not at all.
 */
import { randomBytes } from 'node:crypto';
import { AnswerFault, checkEvent } from '../schema/answers.ts';
import { ApiError, noSuch } from './errors.ts';
import type { Event, Kind, Kinds, Thing } from './model.ts';
import { makePresenter, type Presenter, type Wire } from './present.ts';
import { type Change, openStore, type Store } from './store.ts';

export interface StripeAccount extends Presenter {
  readonly store: Store;
  /** Unix seconds, by the test clock of this customer or by the sandbox's own clock. */
  now(owner?: Thing | null): number;
  /** Makes a moment the present while something is worked off that was due then. `clock` is '' for the sandbox's own. */
  during<T>(clock: string, moment: number, work: () => T): T;
  /** Moves the sandbox's own clock; seconds, forwards only. */
  shift(seconds: number): void;
  /** How far the sandbox's own clock is ahead, seconds. */
  ahead(): number;
  /** @throws {ApiError} 404 */
  need<K extends Kind>(kind: K, id: string, param?: string): Kinds[K];
  /** Adds an object; gives it an id, a number and a date when it has none. */
  add<K extends Kind>(kind: K, thing: Omit<Kinds[K], 'id'> & { id?: string }, owner?: Thing | null): Kinds[K];
  emit(type: string, thing: Thing, previous?: Wire): void;
  /** Does something as one transaction. */
  run<T>(work: () => T): T;
  /** Does something, returns its result, and reverts it. */
  dry<T>(work: () => T): T;
  /** Called with the events of a transaction once they are kept. */
  onEvents(listener: (events: readonly Event[]) => void): void;
  /** Called with what a transaction changed, once it is kept. */
  onChanges(listener: (things: readonly Thing[]) => void): void;
  /** Address under which pages for people are found; written into what is presented. */
  place(address: string): void;
  clear(): void;
  close(): void;
}

const prefixOf: Partial<Record<Kind, string>> = {
  customer: 'cus_',
  payment_method: 'pm_',
  product: 'prod_',
  price: 'price_',
  'product_catalog.trial_offer': 'to_',
  promotion_code: 'promo_',
  discount: 'di_',
  subscription: 'sub_',
  subscription_schedule: 'sub_sched_',
  invoice: 'in_',
  invoiceitem: 'ii_',
  invoice_payment: 'inpay_',
  payment_intent: 'pi_',
  setup_intent: 'seti_',
  charge: 'ch_',
  refund: 're_',
  dispute: 'dp_',
  'test_helpers.test_clock': 'clock_',
  event: 'evt_',
};

/** Events that every creation, change or removal of a kind causes. */
const automatic: Partial<Record<Kind, { created?: string; updated?: string; removed?: string }>> = {
  customer: { created: 'customer.created', updated: 'customer.updated' },
  product: { created: 'product.created', updated: 'product.updated', removed: 'product.deleted' },
  price: { created: 'price.created', updated: 'price.updated', removed: 'price.deleted' },
  coupon: { created: 'coupon.created', updated: 'coupon.updated', removed: 'coupon.deleted' },
  promotion_code: { created: 'promotion_code.created', updated: 'promotion_code.updated' },
  discount: { created: 'customer.discount.created', removed: 'customer.discount.deleted' },
  subscription: { created: 'customer.subscription.created', updated: 'customer.subscription.updated' },
  subscription_schedule: { created: 'subscription_schedule.created', updated: 'subscription_schedule.updated' },
  invoice: { created: 'invoice.created', updated: 'invoice.updated', removed: 'invoice.deleted' },
  invoiceitem: { created: 'invoiceitem.created', removed: 'invoiceitem.deleted' },
  payment_intent: { created: 'payment_intent.created' },
  setup_intent: { created: 'setup_intent.created' },
  refund: { created: 'refund.created', updated: 'refund.updated' },
  'test_helpers.test_clock': { created: 'test_helpers.test_clock.created' },
};

/** Kinds whose shape has no `created`. */
const undated: ReadonlySet<Kind> = new Set(['discount', 'invoiceitem', 'product_catalog.trial_offer']);

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Random letters and digits. */
export const token = (length: number): string =>
  Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join('');

export interface AccountOptions {
  readonly file?: string | undefined;
  /** Epoch milliseconds. */
  readonly wall?: () => number;
  /** Written into events. */
  readonly apiVersion: string;
  /** Called for events that Stripe would not send. */
  readonly noteFault: (fault: AnswerFault) => void;
}

export function openAccount({ file, wall = Date.now, apiVersion, noteFault }: AccountOptions): StripeAccount {
  const store = openStore(file);
  const moments = new Map<string, number>();
  const listeners: ((events: readonly Event[]) => void)[] = [];
  const watchers: ((things: readonly Thing[]) => void)[] = [];
  let announced: { thing: Thing; type: string }[] = [];
  let fresh: Event[] = [];
  let depth = 0;
  /** Whether no events are made, because the changes will be reverted. */
  let silent = false;

  const ahead = (): number => Number(store.find('setting', 'clock')?.shift ?? 0);
  const now: StripeAccount['now'] = (owner) => {
    const clock = typeof owner?.test_clock === 'string' ? owner.test_clock : '';
    const moment = moments.get(clock);
    if (moment !== undefined) return moment;
    const frozen = clock && store.find('test_helpers.test_clock', clock)?.frozen_time;
    return frozen || Math.floor(wall() / 1000) + ahead();
  };
  const presenter = makePresenter(store, () => now());

  const add: StripeAccount['add'] = (kind, thing, owner) => {
    const whole = { ...thing } as unknown as Thing;
    whole.id ??= `${prefixOf[kind] ?? `${kind}_`}${token(24)}`;
    if (whole.created === undefined && !undated.has(kind)) whole.created = now(owner);
    return store.add(kind, whole as unknown as Kinds[typeof kind]);
  };

  /** The time of an event, by the clock of its customer. */
  const momentOf = (thing: Thing): number => {
    if (typeof thing.test_clock === 'string') return now(thing);
    const customer = typeof thing.customer === 'string' ? store.find('customer', thing.customer) : null;
    return now(customer);
  };

  function emit(type: string, thing: Thing, previous?: Wire): void {
    announced.push({ thing, type });
    if (silent) return;
    const data = { object: presenter.present(thing), ...(previous && { previous_attributes: previous }) };
    try {
      checkEvent(type, data);
    } catch (error) {
      if (error instanceof AnswerFault) noteFault(error);
      throw error;
    }
    const event = add('event', {
      object: 'event',
      api_version: apiVersion,
      created: momentOf(thing),
      data,
      livemode: false,
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
      type,
      _delivery: { state: 'new', next: null, copies: 1, attempts: [] },
    } as Omit<Event, 'id'>);
    fresh.push(event);
  }

  function announce({ kind, thing, before, removed }: Change): void {
    const types = automatic[kind];
    if (!types) return;
    const said = announced.filter((one) => one.thing === thing).map(({ type }) => type);
    if (removed) {
      if (types.removed && !said.includes(types.removed)) emit(types.removed, thing);
      return;
    }
    if (!before) {
      if (types.created && !said.includes(types.created)) emit(types.created, thing);
      return;
    }
    if (!types.updated || said.includes(types.updated) || said.some((type) => type.endsWith('.deleted'))) return;
    const previous = difference(presenter.present(before), presenter.present(thing));
    if (previous) emit(types.updated, thing, previous);
  }

  /** Makes the events of all changes, causes before effects. */
  function settle(): void {
    const changes = store.changes();
    // Created objects come first, then what happened, then other changes.
    const happened = fresh;
    fresh = [];
    for (const change of changes.filter(({ before }) => !before)) announce(change);
    const created = fresh;
    fresh = [];
    for (const change of changes.filter(({ before }) => before)) announce(change);
    const events = [...created, ...happened, ...fresh];
    const numbers = events.map(({ _n = 0 }) => _n).sort((one, other) => one - other);
    for (const [index, event] of events.entries()) event._n = numbers[index] ?? 0;
    store.keep();
    announced = [];
    fresh = [];
    const things = changes.map(({ thing }) => thing);
    for (const watcher of watchers) watcher(things);
    if (events.length > 0) for (const listener of listeners) listener(events);
  }

  function revert(): void {
    store.revert();
    announced = [];
    fresh = [];
  }

  return {
    store,
    now,
    ahead,
    during(clock, moment, work) {
      const before = moments.get(clock);
      moments.set(clock, moment);
      try {
        return work();
      } finally {
        if (before === undefined) moments.delete(clock);
        else moments.set(clock, before);
      }
    },
    shift(seconds) {
      const setting = store.find('setting', 'clock');
      if (setting) {
        setting.shift = Number(setting.shift ?? 0) + seconds;
        store.touch(setting);
      } else store.add('setting', { id: 'clock', object: 'setting', shift: seconds });
      store.keep();
    },
    need(kind, id, param) {
      const thing = store.find(kind, id);
      const word = kind === 'invoice_payment' ? 'invoice payment' : kind.replace('test_helpers.', '');
      // Stripe writes PaymentMethod in one word, and the intents without capitals.
      const name = { payment_method: 'PaymentMethod', test_clock: 'test clock' }[word] ?? word;
      if (!thing) throw noSuch(name, id, param, param && param !== 'id' ? 400 : 404);
      return thing;
    },
    add,
    emit,
    present: presenter.present,
    run(work) {
      if (depth > 0) return work();
      depth += 1;
      try {
        const result = work();
        settle();
        return result;
      } catch (error) {
        if (error instanceof ApiError && error.keeps) settle();
        else revert();
        throw error;
      } finally {
        depth -= 1;
      }
    },
    dry(work) {
      const [wasSilent, wasTold, back] = [silent, [...announced], store.mark()];
      silent = true;
      try {
        return work();
      } finally {
        silent = wasSilent;
        announced = wasTold;
        back();
      }
    },
    onEvents: (listener) => listeners.push(listener),
    onChanges: (watcher) => watchers.push(watcher),
    place: presenter.place,
    clear() {
      store.clear();
      revert();
    },
    close: store.close,
  };
}

/** What was there before, of what is different now; `null` when nothing is. */
function difference(before: Wire, after: Wire): Wire | null {
  const result: Wire = {};
  for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, young] = [before[field], after[field]];
    if (JSON.stringify(old) === JSON.stringify(young)) continue;
    const both = [old, young].every((value) => value !== null && typeof value === 'object' && !Array.isArray(value));
    result[field] = both ? difference(old as Wire, young as Wire) : (old ?? null);
  }
  return Object.keys(result).length > 0 ? result : null;
}
