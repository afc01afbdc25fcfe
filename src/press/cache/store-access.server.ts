/** Calls of the page cache to its disk store: a store that can't be used is logged and never breaks a request. */
import type { Logger } from '../../lib/logging.ts';
import { StoreUnavailable } from '../store/sqlite-file.server.ts';

export interface StoreAccess {
  /** Runs `work`; `undefined` when the store can't be used now. The value is wrapped, because it may be `undefined` itself. */
  attempt<T>(work: () => T): { readonly value: T } | undefined;
  /** Logs that the store works again, if its failure was logged. */
  recovered(): void;
}

/** Milliseconds between two log lines about a store that can't be used. */
const logEveryMs = 60_000;

export function createStoreAccess(log: Logger, now: () => number): StoreAccess {
  let loggedAt = Number.NEGATIVE_INFINITY;
  let failing = false;
  return {
    attempt(work) {
      try {
        return { value: work() };
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        if (Math.abs(now() - loggedAt) >= logEveryMs) {
          loggedAt = now();
          failing = true;
          log.error({ err: error }, "The page store can't be used; pages are served from memory until it can");
        }
        return undefined;
      }
    },
    recovered() {
      if (failing) log.info({}, 'The page store works again');
      failing = false;
    },
  };
}
