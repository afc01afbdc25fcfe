/**
 * Tags that change at a moment of the wall clock: a day begins, a scheduled article appears. Checked every second, it goes by
 * the clock as it stands then, so that a clock that is set, or a machine that slept, delays nothing.
 */
import { createQueue } from './priority-queue.ts';

export interface TimedChanges {
  readonly size: number;
  /** @param at epoch milliseconds */
  add(at: number, tags: readonly string[]): void;
  /** Reports all tags that are due as one change. */
  check(): void;
}

/** Moments that are kept; a caller that schedules more has a bug. */
const most = 100_000;

export function createTimedChanges(now: () => number, due: (tags: readonly string[]) => void): TimedChanges {
  const queue = createQueue<{ readonly at: number; readonly tags: readonly string[] }>((a, b) => a.at < b.at);
  return {
    get size() {
      return queue.size;
    },
    add(at, tags) {
      if (!Number.isFinite(at)) throw new RangeError('A moment is a number of milliseconds.');
      if (queue.size >= most) throw new RangeError(`More than ${most} moments are scheduled.`);
      queue.push({ at, tags });
    },
    check() {
      const tags = new Set<string>();
      for (let next = queue.peek(); next && next.at <= now(); next = queue.peek()) {
        queue.pop();
        for (const tag of next.tags) tags.add(tag);
      }
      if (tags.size > 0) due([...tags]);
    },
  };
}
