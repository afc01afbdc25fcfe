/** Runs due tasks, in order, on the sandbox's own clock and on test clocks. */
import type { StripeAccount } from '../core/account.ts';
import type { Kind, Schedule, StripeObject } from '../core/model.ts';
import { hour } from './calendar.ts';
import { nextTask, periodEnd, renewingStatuses } from './lifecycle.ts';

export interface Lifecycle {
  /** Runs the tasks that are due on the sandbox's own clock. */
  runDueTasks(): void;
  /** Advances the sandbox's clock and runs everything that falls due until then. */
  advance(to: number): void;
  /** Advances a test clock and runs everything that falls due until then. */
  advanceTestClock(clock: string, to: number): void;
  /** Moment of a clock's next renewal, plus the hour until its invoice is charged; `null` when there is none. */
  nextRenewal(clock?: string): number | null;
  /** Computes all due dates again. */
  rescheduleAll(): void;
}

const kindsWithTasks: readonly Kind[] = ['subscription_schedule', 'subscription', 'invoice'];

interface State {
  readonly account: StripeAccount;
  /** When the next task of each object is due, Unix seconds. */
  readonly due: Map<StripeObject, number>;
  /** When the next task on the sandbox's own clock is due, or earlier; Unix seconds. */
  nextTaskAt: number;
}

export function makeLifecycle(account: StripeAccount): Lifecycle {
  const state: State = { account, due: new Map(), nextTaskAt: 0 };
  account.onChanges((things) => {
    for (const thing of things) scheduleTask(state, thing);
  });
  scheduleAllTasks(state);
  return {
    rescheduleAll: () => scheduleAllTasks(state),
    runDueTasks: () => runDueTasks(state),
    advance(to) {
      runDueTasks(state);
      runTasksUntil(state, '', to);
      account.shiftClock(Math.max(0, to - account.now()));
    },
    advanceTestClock(clock, to) {
      runTasksUntil(state, clock, to);
      account.transaction(() => {
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

function scheduleTask(state: State, thing: StripeObject): void {
  const { account, due } = state;
  if (!kindsWithTasks.includes(thing.object as Kind)) return;
  const exists = account.store.find(thing.object as Kind, thing.id) === thing;
  const task = exists ? nextTask(account, thing) : null;
  if (!task) due.delete(thing);
  else {
    due.set(thing, task.at);
    if (typeof thing.test_clock !== 'string') state.nextTaskAt = Math.min(state.nextTaskAt, task.at);
  }
  // The next task of a subscription depends on its schedule.
  const { subscription } = thing as Schedule;
  const owner =
    thing.object === 'subscription_schedule' && subscription && account.store.find('subscription', subscription);
  if (owner) scheduleTask(state, owner);
}

function scheduleAllTasks(state: State): void {
  state.due.clear();
  state.nextTaskAt = 0;
  for (const kind of kindsWithTasks) for (const thing of state.account.store.all(kind)) scheduleTask(state, thing);
}

function runDueTasks(state: State): void {
  const now = state.account.now();
  if (now >= state.nextTaskAt) runTasksUntil(state, '', now);
}

function nextTaskOn({ due }: State, clock: string): { thing: StripeObject; at: number } | null {
  let next: { thing: StripeObject; at: number } | null = null;
  for (const [thing, at] of due) {
    if ((thing.test_clock ?? '') === clock && (next === null || at < next.at)) next = { thing, at };
  }
  return next;
}

/** Runs everything that is due on a clock until a moment, in order. */
function runTasksUntil(state: State, clock: string, until: number): void {
  const { account } = state;
  account.store.batch(() => {
    for (;;) {
      const next = nextTaskOn(state, clock);
      if (!next || next.at > until) {
        if (clock === '') state.nextTaskAt = next?.at ?? Number.POSITIVE_INFINITY;
        return;
      }
      const task = nextTask(account, next.thing);
      if (task && task.at <= until) account.atTime(clock, task.at, () => account.transaction(task.work));
      scheduleTask(state, next.thing);
    }
  });
}

function nextRenewal({ store }: StripeAccount, clock: string): number | null {
  let first: number | null = null;
  for (const subscription of store.all('subscription')) {
    if ((subscription.test_clock ?? '') !== clock || !renewingStatuses.includes(subscription.status)) continue;
    const end = periodEnd(subscription);
    if (subscription.cancel_at !== null && subscription.cancel_at <= end) continue;
    const at = end + hour;
    if (first === null || at < first) first = at;
  }
  return first;
}
