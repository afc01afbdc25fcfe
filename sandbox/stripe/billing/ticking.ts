/** Runs due tasks, in order, on the sandbox's own clock and on test clocks. */
import type { StripeAccount } from '../core/account.ts';
import type { Kind, Schedule, Thing } from '../core/model.ts';
import { hour } from './calendar.ts';
import { living, nextOf, periodEnd } from './lifecycle.ts';

export interface Lifecycle {
  /** Runs the tasks that are due on the sandbox's own clock. */
  catchUp(): void;
  /** Advances the sandbox's clock and runs everything that falls due until then. */
  advance(to: number): void;
  /** Moves a test clock. */
  advanceClock(clock: string, to: number): void;
  /** Moment of a clock's next renewal, plus the hour until its invoice is charged; `null` when there is none. */
  nextRenewal(clock?: string): number | null;
  /** Computes all due dates again. */
  restart(): void;
}

const watched: readonly Kind[] = ['subscription_schedule', 'subscription', 'invoice'];

interface State {
  readonly account: StripeAccount;
  /** When the next task of each waiting object is due. */
  readonly due: Map<Thing, number>;
  /** No task on the sandbox's own clock is due before this moment. */
  quietUntil: number;
}

export function makeLifecycle(account: StripeAccount): Lifecycle {
  const state: State = { account, due: new Map(), quietUntil: 0 };
  account.onChanges((things) => {
    for (const thing of things) watch(state, thing);
  });
  watchAll(state);
  return {
    restart: () => watchAll(state),
    catchUp: () => catchUp(state),
    advance(to) {
      catchUp(state);
      workUntil(state, '', to);
      account.shift(Math.max(0, to - account.now()));
    },
    advanceClock(clock, to) {
      workUntil(state, clock, to);
      account.run(() => {
        const found = account.need('test_helpers.test_clock', clock);
        account.store.touch(found);
        found.frozen_time = to;
        found.status = 'ready';
        account.emit('test_helpers.test_clock.ready', found);
      });
    },
    nextRenewal: (clock = '') => nextRenewal(account, clock),
  };
}

function watch(state: State, thing: Thing): void {
  const { account, due } = state;
  if (!watched.includes(thing.object as Kind)) return;
  const exists = account.store.find(thing.object as Kind, thing.id) === thing;
  const task = exists ? nextOf(account, thing) : null;
  if (!task) due.delete(thing);
  else {
    due.set(thing, task.at);
    if (typeof thing.test_clock !== 'string') state.quietUntil = Math.min(state.quietUntil, task.at);
  }
  // The next task of a subscription depends on its schedule.
  const { subscription } = thing as Schedule;
  const owner =
    thing.object === 'subscription_schedule' && subscription && account.store.find('subscription', subscription);
  if (owner) watch(state, owner);
}

function watchAll(state: State): void {
  state.due.clear();
  state.quietUntil = 0;
  for (const kind of watched) for (const thing of state.account.store.all(kind)) watch(state, thing);
}

function catchUp(state: State): void {
  const now = state.account.now();
  if (now >= state.quietUntil) workUntil(state, '', now);
}

function nextOn({ due }: State, clock: string): { thing: Thing; at: number } | null {
  let next: { thing: Thing; at: number } | null = null;
  for (const [thing, at] of due) {
    if ((thing.test_clock ?? '') === clock && (next === null || at < next.at)) next = { thing, at };
  }
  return next;
}

/** Runs everything that is due on a clock until a moment, in order. */
function workUntil(state: State, clock: string, until: number): void {
  const { account } = state;
  account.store.batch(() => {
    for (;;) {
      const next = nextOn(state, clock);
      if (!next || next.at > until) {
        if (clock === '') state.quietUntil = next?.at ?? Number.POSITIVE_INFINITY;
        return;
      }
      const task = nextOf(account, next.thing);
      if (task && task.at <= until) account.during(clock, task.at, () => account.run(task.work));
      watch(state, next.thing);
    }
  });
}

function nextRenewal({ store }: StripeAccount, clock: string): number | null {
  let first: number | null = null;
  for (const subscription of store.all('subscription')) {
    if ((subscription.test_clock ?? '') !== clock || !living.includes(subscription.status)) continue;
    const end = periodEnd(subscription);
    if (subscription.cancel_at !== null && subscription.cancel_at <= end) continue;
    const at = end + hour;
    if (first === null || at < first) first = at;
  }
  return first;
}
