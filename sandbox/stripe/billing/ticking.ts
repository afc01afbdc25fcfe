/** Works off what falls due, in order, on the sandbox's own clock and on test clocks. */
import type { StripeAccount } from '../core/account.ts';
import type { Kind, Schedule, Thing } from '../core/model.ts';
import { hour } from './calendar.ts';
import { living, nextOf, periodEnd } from './lifecycle.ts';

export interface Lifecycle {
  /** Does what has become due on the sandbox's own clock. */
  catchUp(): void;
  /** Advances the sandbox's clock, with everything that happens until then. */
  advance(to: number): void;
  /** Moves a test clock. */
  advanceClock(clock: string, to: number): void;
  /** Moment of the next renewal on a clock, with the hour until its invoice is charged; `null` when there is none. */
  nextRenewal(clock?: string): number | null;
  /** Looks through everything anew. */
  restart(): void;
}

const watched: readonly Kind[] = ['subscription_schedule', 'subscription', 'invoice'];

export function makeLifecycle(account: StripeAccount): Lifecycle {
  /** When something happens next with each object that waits for something. */
  const due = new Map<Thing, number>();
  /** Nothing on the sandbox's own clock is due before. */
  let quietUntil = 0;

  function watch(thing: Thing): void {
    if (!watched.includes(thing.object as Kind)) return;
    const there = account.store.find(thing.object as Kind, thing.id) === thing;
    const task = there ? nextOf(account, thing) : null;
    if (!task) due.delete(thing);
    else {
      due.set(thing, task.at);
      if (typeof thing.test_clock !== 'string') quietUntil = Math.min(quietUntil, task.at);
    }
    // What a subscription waits for depends on its schedule.
    const { subscription } = thing as Schedule;
    const owner =
      thing.object === 'subscription_schedule' && subscription && account.store.find('subscription', subscription);
    if (owner) watch(owner);
  }

  function restart(): void {
    due.clear();
    quietUntil = 0;
    for (const kind of watched) for (const thing of account.store.all(kind)) watch(thing);
  }

  const nextOn = (clock: string): { thing: Thing; at: number } | null => {
    let [first, soonest]: [Thing | null, number] = [null, Number.POSITIVE_INFINITY];
    for (const [thing, at] of due) {
      if (at >= soonest || (thing.test_clock ?? '') !== clock) continue;
      first = thing;
      soonest = at;
    }
    return first && { thing: first, at: soonest };
  };

  const work = (clock: string, until: number): void => account.store.batch(() => workOff(clock, until));

  function workOff(clock: string, until: number): void {
    for (;;) {
      const next = nextOn(clock);
      if (!next || next.at > until) {
        if (clock === '') quietUntil = next?.at ?? Number.POSITIVE_INFINITY;
        return;
      }
      const task = nextOf(account, next.thing);
      if (task && task.at <= until) account.during(clock, task.at, () => account.run(task.work));
      watch(next.thing);
    }
  }

  const catchUp = () => {
    const now = account.now();
    if (now >= quietUntil) work('', now);
  };

  account.onChanges((things) => {
    for (const thing of things) watch(thing);
  });
  restart();
  return {
    restart,
    catchUp,
    advance(to) {
      catchUp();
      work('', to);
      account.shift(Math.max(0, to - account.now()));
    },
    advanceClock(clock, to) {
      work(clock, to);
      account.run(() => {
        const found = account.need('test_helpers.test_clock', clock);
        account.store.touch(found);
        found.frozen_time = to;
        found.status = 'ready';
        account.emit('test_helpers.test_clock.ready', found);
      });
    },
    nextRenewal(clock = '') {
      let first: number | null = null;
      for (const subscription of account.store.all('subscription')) {
        if ((subscription.test_clock ?? '') !== clock || !living.includes(subscription.status)) continue;
        if (subscription.cancel_at !== null) continue;
        const at = periodEnd(subscription) + hour;
        if (first === null || at < first) first = at;
      }
      return first;
    },
  };
}
