/**
 * Changes fronts at their times: a story pinned from or until an instant, a front that is scheduled. The process that syncs writes the time
 * that has come as an entry; in a cluster it comes to every node through the content log. It checks the clock at each scheduled time, and
 * after every write.
 */
import { instantAt } from '../../lib/instants.ts';
import type { Logger } from '../../lib/logging.ts';
import type { ContentStore } from '../store/content-store.server.ts';
import type { ContentEntry } from '../store/entries.server.ts';
import { dueFronts } from '../store/front.server.ts';
import type { Applier } from './apply.server.ts';

export interface FrontClockOptions {
  readonly store: ContentStore;
  readonly write: Applier['write'];
  readonly log: Logger;
  readonly now: () => number;
  /** See `ContentOptions.leads`. */
  readonly leads?: (() => boolean) | undefined;
}

export interface FrontClock {
  start(): void;
  /** Call it after every write to the content store. */
  check(): void;
  stop(): void;
}

/** Longest wait, so that a changed clock or a sleeping machine causes no long delay. */
const longestWaitMs = 30_000;
/**
 * Wait after a scheduled time has come that this process can't write, because another one syncs or the content log is
 * unavailable.
 */
const retryMs = 2000;

export function createFrontClock({ store, write, log, now, leads = () => true }: FrontClockOptions): FrontClock {
  let running = false;
  let writing = false;
  let timer: NodeJS.Timeout | undefined;

  function wait(ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(check, ms).unref();
  }

  async function publish(entry: ContentEntry): Promise<void> {
    writing = true;
    try {
      await write([entry]);
      writing = false;
      check();
    } catch (error) {
      writing = false;
      log.warn({ error: String(error) }, "content: a front's time couldn't be written; retrying");
      if (running) wait(retryMs);
    }
  }

  function check(): void {
    if (!running || writing) return;
    clearTimeout(timer);
    const { entry, next } = dueFronts(store, instantAt(now()));
    if (entry) {
      wait(retryMs);
      if (leads()) void publish(entry);
      return;
    }
    if (next !== null) wait(Math.min(longestWaitMs, Math.max(1, Date.parse(next) - now())));
  }

  return {
    start() {
      running = true;
      check();
    },
    check,
    stop() {
      running = false;
      clearTimeout(timer);
    },
  };
}
