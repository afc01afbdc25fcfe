/**
 * The pages of a store that another process writes: served from this process's memory, and read from the store on a miss. The writing
 * process reports replaced pages; pages that aren't here or may be outdated are requested from it.
 */

import type { Logger } from '../lib/logging.ts';
import { createTagChanges } from './cache/cache-state.ts';
import type { CachedPage, HeadersOf } from './cache/cached-page.ts';
import type { Encode } from './cache/compressor.server.ts';
import type { PageDictionary } from './cache/dictionary.server.ts';
import type { Choices } from './cache/insertions.server.ts';
import { createLru } from './cache/lru.ts';
import { createPageCache } from './cache/page-cache.server.ts';
import type { Press } from './press.server.ts';
import { openStore, type PageStore } from './store/page-store.server.ts';
import type { Variant } from './store/stored-page.ts';

export interface SharedStoreOptions {
  readonly file: string;
  /** Name of the build whose pages are served. */
  readonly build: string;
  readonly memoryBytes: number;
  readonly headersOf: HeadersOf;
  readonly dictionary: PageDictionary | null;
  /** Compresses changed forms of stored pages. */
  readonly encode: Encode;
  readonly choices?: Choices;
  readonly log: Logger;
  /** Takes the reads of pages since the last call; they decide which page is rendered first. */
  readonly addReads: PageStore['addReads'];
}

export interface SharedStorePages extends Pick<Press, 'peekFull' | 'encoded' | 'withDictionary' | 'insert' | 'shown'> {
  /** A current page; `undefined`: request it from the process that writes the store. */
  peek(key: string, variant: Variant): CachedPage | undefined;
  /** Forgets pages that were replaced. */
  forget(names: readonly string[]): void;
  /** Passes on the reads. */
  flushReads(): void;
  close(): void;
}

/** @throws StoreUnavailable */
export function openSharedStore(options: SharedStoreOptions): SharedStorePages {
  const { build, log, headersOf, dictionary } = options;
  const file = openStore({ file: options.file, build, log, readOnly: true });
  const store: PageStore = { ...file, addReads: options.addReads };
  const lru = createLru(options.memoryBytes);
  const cache = createPageCache({
    store,
    lru,
    changes: createTagChanges(null),
    headersOf,
    encode: options.encode,
    choices: options.choices,
    dictionary,
    log,
    now: Date.now,
    everything: null,
    unwrittenBytes: 0,
  });

  function peek(key: string, variant: Variant, name?: string): CachedPage | undefined {
    const page = cache.findInMemory(key, variant, name) ?? cache.find(key, variant);
    // Only the writing process knows whether a page that is rendered on demand is current, and renders an earlier build's page again.
    if (!page || page.page.asOf !== null || page.build !== build) return undefined;
    page.visited = true;
    page.reads++;
    return page;
  }

  return {
    peek,
    peekFull: (page) => peek(page.page.key, 'full', page.fullName),
    encoded: cache.encoded,
    withDictionary: cache.withDictionary,
    insert: cache.insertions.set,
    shown: cache.insertions.shown,
    forget(names) {
      for (const name of names) lru.delete(name);
    },
    flushReads: cache.flushReads,
    close: () => file.close(),
  };
}
