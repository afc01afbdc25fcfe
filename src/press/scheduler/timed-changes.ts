/**
 * Tags that change at a scheduled time: a day begins, a scheduled article appears. The check runs every second against the current
 * clock, so that a changed clock or a sleeping machine causes no delay.
 */
import { createQueue } from './priority-queue.ts';

export interface TimedChanges {
  readonly size: number;
  /** @param at epoch milliseconds */
  add(at: number, tags: readonly string[]): void;
  /** Reports all tags that are due as one change. */
  check(): void;
}

/** Limit of scheduled moments; a caller that schedules more has a bug. */
const mostMoments = 100_000;

export function createTimedChanges(now: () => number, due: (tags: readonly string[]) => void): TimedChanges {
  const queue = createQueue<{ readonly at: number; readonly tags: readonly string[] }>((a, b) => a.at < b.at);
  return {
    get size() {
      return queue.size;
    },
    add(at, tags) {
      if (!Number.isFinite(at)) throw new RangeError('A moment is a number of milliseconds.');
      if (queue.size >= mostMoments) throw new RangeError(`More than ${mostMoments} moments are scheduled.`);
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
