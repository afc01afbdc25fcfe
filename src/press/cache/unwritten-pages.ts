/** Pages that the disk store hasn't taken (a full disk), complete, within a byte budget. */

import type { Logger } from '../../lib/logging.ts';
import { StoreUnavailable } from '../store/sqlite-file.server.ts';
import type { Bodies } from '../store/stored-page.ts';
import type { CachedPage } from './cached-page.ts';

export interface UnwrittenPage {
  readonly page: CachedPage;
  readonly bodies: Bodies;
}

export interface UnwrittenPages extends Iterable<[string, UnwrittenPage]> {
  readonly size: number;
  get(name: string): UnwrittenPage | undefined;
  has(name: string): boolean;
  /** Keeps a page; beyond the budget the oldest ones go and are rendered again on demand. */
  keep(name: string, page: CachedPage, bodies: Bodies): void;
  /** Takes other tags for a page that is kept. */
  retag(name: string, tags: readonly string[]): void;
  drop(name: string): void;
}

/** @param budget bytes of all pages together */
export function createUnwrittenPages(budget: number): UnwrittenPages {
  const pages = new Map<string, UnwrittenPage>();
  let bytes = 0;

  function drop(name: string): void {
    bytes -= pages.get(name)?.page.bytes ?? 0;
    pages.delete(name);
  }

  return {
    get size() {
      return pages.size;
    },
    get: (name) => pages.get(name),
    has: (name) => pages.has(name),
    keep(name, page, bodies) {
      drop(name);
      pages.set(name, { page, bodies });
      bytes += page.bytes;
      for (const oldest of pages.keys()) {
        if (bytes <= budget) break;
        drop(oldest);
      }
    },
    retag(name, tags) {
      const kept = pages.get(name);
      if (kept) pages.set(name, { ...kept, page: { ...kept.page, page: { ...kept.page.page, tags } } });
    },
    drop,
    [Symbol.iterator]: () => pages.entries(),
  };
}

// Calls of the page cache to its disk store: a store that can't be used is logged and never breaks a request.

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
