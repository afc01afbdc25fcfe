/**
 * The state of a Stripe account: objects, the time, and the events that report changes. Every call is one transaction:
 * its changes and their events are committed together before it is answered, or not at all.
 */
import { AnswerFault, checkEvent } from '../schema/answers.ts';
import { ApiError, noSuch } from './errors.ts';
import { newId } from './ids.ts';
import type { Event, Kind, Kinds, StripeObject } from './model.ts';
import { makePresenter, type Presenter, type Wire } from './present.ts';
import { type Change, openStore, type Store } from './store.ts';

export interface StripeAccount extends Presenter {
  readonly store: Store;
  /** Unix seconds, by the test clock of this customer or by the sandbox's own clock. */
  now(owner?: StripeObject | null): number;
  /** Runs `work` with a clock set to the moment when `work` was due. `clock` is '' for the sandbox's own clock. */
  atTime<T>(clock: string, moment: number, work: () => T): T;
  /** Moves the sandbox's own clock forward by this many seconds. */
  shiftClock(seconds: number): void;
  /** How many seconds the sandbox's own clock is ahead of the machine's. */
  clockOffset(): number;
  /** @throws {ApiError} 404 */
  need<K extends Kind>(kind: K, id: string, param?: string): Kinds[K];
  /** Adds an object; sets its id, number and date if missing. */
  add<K extends Kind>(kind: K, thing: Omit<Kinds[K], 'id'> & { id?: string }, owner?: StripeObject | null): Kinds[K];
  emit(type: string, thing: StripeObject, previous?: Wire): void;
  /** Runs `work` as one transaction. */
  transaction<T>(work: () => T): T;
  /** Runs `work`, returns its result, and rolls its changes back. */
  dryRun<T>(work: () => T): T;
  /** Called with the events of a transaction after its commit. */
  onEvents(listener: (events: readonly Event[]) => void): void;
  /** Called with the changed objects of a transaction after its commit. */
  onChanges(listener: (things: readonly StripeObject[]) => void): void;
  clear(): void;
  close(): void;
}

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

/** Kinds without a field `created`. */
const undated: ReadonlySet<Kind> = new Set(['discount', 'invoiceitem', 'product_catalog.trial_offer']);

export interface AccountOptions {
  readonly file?: string | undefined;
  /** The machine's time, epoch milliseconds. */
  readonly systemTime?: () => number;
  /** Recorded in events. */
  readonly apiVersion: string;
  /** Called for events that Stripe would not send. */
  readonly noteFault: (fault: AnswerFault) => void;
}

interface State {
  readonly store: Store;
  readonly presenter: Presenter;
  readonly options: AccountOptions;
  /** Moments that `atTime` has set, by clock. */
  readonly moments: Map<string, number>;
  readonly eventListeners: ((events: readonly Event[]) => void)[];
  readonly changeListeners: ((things: readonly StripeObject[]) => void)[];
  /** What this transaction has emitted so far. */
  emitted: { thing: StripeObject; type: string }[];
  /** Its events that are not in their final order yet. */
  newEvents: Event[];
  inTransaction: boolean;
  /** In a dry run no events are made. */
  dry: boolean;
}

export function openAccount(options: AccountOptions): StripeAccount {
  const store = openStore(options.file);
  const state: State = {
    store,
    presenter: makePresenter(store, () => now(state)),
    options,
    moments: new Map(),
    eventListeners: [],
    changeListeners: [],
    emitted: [],
    newEvents: [],
    inTransaction: false,
    dry: false,
  };
  return {
    store,
    ...state.presenter,
    now: (owner) => now(state, owner),
    clockOffset: () => clockOffset(store),
    atTime: (clock, moment, work) => atTime(state, clock, moment, work),
    shiftClock: (seconds) => shiftClock(store, seconds),
    need: (kind, id, param) => need(store, kind, id, param),
    add: (kind, thing, owner) => add(state, kind, thing, owner),
    emit: (type, thing, previous) => emit(state, type, thing, previous),
    transaction: (work) => transaction(state, work),
    dryRun: (work) => dryRun(state, work),
    onEvents: (listener) => state.eventListeners.push(listener),
    onChanges: (listener) => state.changeListeners.push(listener),
    clear() {
      store.clear();
      rollback(state);
    },
    close: store.close,
  };
}

const clockOffset = (store: Store): number => Number(store.find('setting', 'clock')?.shift ?? 0);

function now({ store, moments, options: { systemTime = Date.now } }: State, owner?: StripeObject | null): number {
  const clock = typeof owner?.test_clock === 'string' ? owner.test_clock : '';
  const moment = moments.get(clock);
  if (moment !== undefined) return moment;
  const frozen = clock && store.find('test_helpers.test_clock', clock)?.frozen_time;
  return frozen || Math.floor(systemTime() / 1000) + clockOffset(store);
}

function atTime<T>({ moments }: State, clock: string, moment: number, work: () => T): T {
  const before = moments.get(clock);
  moments.set(clock, moment);
  try {
    return work();
  } finally {
    if (before === undefined) moments.delete(clock);
    else moments.set(clock, before);
  }
}

function shiftClock(store: Store, seconds: number): void {
  const setting = store.find('setting', 'clock');
  if (setting) {
    setting.shift = Number(setting.shift ?? 0) + seconds;
    store.touch(setting);
  } else store.add('setting', { id: 'clock', object: 'setting', shift: seconds });
  store.commit();
}

function need<K extends Kind>(store: Store, kind: K, id: string, param?: string): Kinds[K] {
  const thing = store.find(kind, id);
  // A deleted customer can be read, and named in no other call.
  if (thing && !(thing.deleted && param !== undefined)) return thing;
  const word = kind === 'invoice_payment' ? 'invoice payment' : kind.replace('test_helpers.', '');
  // Stripe writes PaymentMethod as one word, and the intents in lower case.
  const name = { payment_method: 'PaymentMethod', test_clock: 'test clock' }[word] ?? word;
  throw noSuch(name, id, param, param && param !== 'id' ? 400 : 404);
}

function add<K extends Kind>(
  state: State,
  kind: K,
  thing: Omit<Kinds[K], 'id'> & { id?: string },
  owner?: StripeObject | null,
): Kinds[K] {
  const complete = { ...thing } as unknown as StripeObject;
  complete.id ??= newId(kind);
  if (complete.created === undefined && !undated.has(kind)) complete.created = now(state, owner);
  return state.store.add(kind, complete as unknown as Kinds[K]);
}

/** The time of an event, by the clock of its customer. */
function momentOf(state: State, thing: StripeObject): number {
  if (typeof thing.test_clock === 'string') return now(state, thing);
  return now(state, typeof thing.customer === 'string' ? state.store.find('customer', thing.customer) : null);
}

function emit(state: State, type: string, thing: StripeObject, previous?: Wire): void {
  state.emitted.push({ thing, type });
  if (state.dry) return;
  const { apiVersion, noteFault } = state.options;
  const data = { object: state.presenter.present(thing), ...(previous && { previous_attributes: previous }) };
  try {
    checkEvent(type, data);
  } catch (error) {
    if (error instanceof AnswerFault) noteFault(error);
    throw error;
  }
  const event = add(state, 'event', {
    object: 'event',
    api_version: apiVersion,
    created: momentOf(state, thing),
    data,
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type,
    _delivery: { state: 'new', next: null, copies: 1, attempts: [] },
  } as Omit<Event, 'id'>);
  state.newEvents.push(event);
}

function transaction<T>(state: State, work: () => T): T {
  if (state.inTransaction) return work();
  state.inTransaction = true;
  try {
    const result = work();
    commit(state);
    return result;
  } catch (error) {
    if (error instanceof ApiError && error.commits) commit(state);
    else rollback(state);
    throw error;
  } finally {
    state.inTransaction = false;
  }
}

function dryRun<T>(state: State, work: () => T): T {
  const { dry, emitted } = state;
  const restore = state.store.savepoint();
  state.dry = true;
  state.emitted = [...emitted];
  try {
    return work();
  } finally {
    state.dry = dry;
    state.emitted = emitted;
    restore();
  }
}

/** Emits the events of all changes, commits them, and calls the listeners. */
function commit(state: State): void {
  const { store } = state;
  const changes = store.changes();
  const events = eventsOf(state, changes);
  store.commit();
  state.emitted = [];
  const things = changes.map(({ thing }) => thing);
  for (const listener of state.changeListeners) listener(things);
  if (events.length > 0) for (const listener of state.eventListeners) listener(events);
}

/** All events of this transaction, causes before effects: created objects, then what `work` emitted, then other changes. */
function eventsOf(state: State, changes: readonly Change[]): Event[] {
  const emitted = takeEvents(state);
  for (const change of changes) if (!change.before) emitChange(state, change);
  const created = takeEvents(state);
  for (const change of changes) if (change.before) emitChange(state, change);
  const events = [...created, ...emitted, ...takeEvents(state)];
  const numbers = events.map(({ _n = 0 }) => _n).sort((one, other) => one - other);
  for (const [index, event] of events.entries()) event._n = numbers[index] ?? 0;
  return events;
}

function takeEvents(state: State): Event[] {
  const events = state.newEvents;
  state.newEvents = [];
  return events;
}

/** Emits the event that every change of this kind causes, unless `work` has emitted it. */
function emitChange(state: State, { kind, thing, before, removed }: Change): void {
  const types = automatic[kind];
  if (!types) return;
  const emitted = state.emitted.filter((one) => one.thing === thing).map(({ type }) => type);
  if (removed) {
    if (types.removed && !emitted.includes(types.removed)) emit(state, types.removed, thing);
    return;
  }
  if (!before) {
    if (types.created && !emitted.includes(types.created)) emit(state, types.created, thing);
    return;
  }
  if (!types.updated || emitted.includes(types.updated) || emitted.some((type) => type.endsWith('.deleted'))) return;
  const { present } = state.presenter;
  const previous = difference(present(before), present(thing));
  if (previous) emit(state, types.updated, thing, previous);
}

function rollback(state: State): void {
  state.store.rollback();
  state.emitted = [];
  state.newEvents = [];
}

/** The earlier values of changed fields; `null` if nothing has changed. */
function difference(before: Wire, after: Wire): Wire | null {
  const result: Wire = {};
  for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, current] = [before[field], after[field]];
    if (JSON.stringify(old) === JSON.stringify(current)) continue;
    const both = [old, current].every((value) => value !== null && typeof value === 'object' && !Array.isArray(value));
    result[field] = both ? difference(old as Wire, current as Wire) : (old ?? null);
  }
  return Object.keys(result).length > 0 ? result : null;
}
