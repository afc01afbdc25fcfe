/** The search as routes see it (`search.server.ts` makes one), and a hosted engine as the search sees it. */
import type { ContentReader, SearchFilter, SearchHit } from '../content/model.ts';

export interface Found {
  readonly items: readonly SearchHit[];
  /** How many there are in all. */
  readonly total: number;
  /** Words that were looked for beside those that were typed. */
  readonly instead: readonly string[];
}

export interface Search {
  /**
   * Best match first. The caller counts the limit `search` before. Where a hosted engine is set and does not answer in time, the paper's own index does.
   *
   * @param content the request's reader: it notes what the page shows
   * @throws SearchBusy when all readers together ask for too much at once
   */
  find(content: ContentReader, query: string, filter: SearchFilter): Promise<Found>;
  /** To be told of every change of the content, by the tags of what has changed. */
  changed(tags: Iterable<string>): void;
  stats(): SearchStats;
  /** Begins to feed the hosted engine, where there is one. */
  start(): void;
  stop(): Promise<void>;
}

export interface SearchStats {
  readonly engine: 'own' | 'algolia';
  /** Questions that the hosted engine did not answer. */
  readonly fallbacks: number;
  /** Stories that wait to be sent to it, and those that were given up. */
  readonly pending: number;
  readonly failed: number;
  /** The last trouble in words, `null` when there is none. */
  readonly problem: string | null;
}

export type HostedAnswer =
  | {
      readonly ok: true;
      /** In the engine's order; matches in a snippet stand between U+0001 and U+0002. */
      readonly hits: readonly { readonly id: number; readonly snippet: string }[];
      readonly total: number;
    }
  | { readonly ok: false; readonly problem: string };

/** Keeps the engine's index in line with the paper. */
export interface HostedFeed {
  /** Takes tags of what has changed; those of articles count. */
  changed(tags: Iterable<string>): void;
  stats(): { readonly pending: number; readonly failed: number; readonly problem: string | null };
  start(): void;
  /** Sends what waits, for a few seconds at most. */
  stop(): Promise<void>;
  /** Resolves when nothing waits. */
  idle(): Promise<void>;
}

export interface HostedEngine {
  /** It shows so many hits of a question and no more; further down it finds nothing. */
  readonly reach: number;
  /** Never throws. */
  query(text: string, filter: SearchFilter): Promise<HostedAnswer>;
  /** `null` where another system fills the index. */
  readonly feed: HostedFeed | null;
}

/** Where Algolia is asked, and by which keys. */
export interface AlgoliaAccess {
  readonly appId: string;
  readonly searchKey: string;
  /** `null`: another system fills the index. */
  readonly writeKey: string | null;
  readonly index: string;
  /** `null`: the vendor's own hosts. */
  readonly url: string | null;
}

/** More is being looked for than can be found in time; ask again in a few seconds. */
export class SearchBusy extends Error {
  constructor() {
    super('more is being looked for than can be found in time');
    this.name = 'SearchBusy';
  }
}

/** Seconds after which to ask again. */
export const busyFor = 5;

/** By its name: pages are built apart from the service that throws it, with a class of their own. */
export const isSearchBusy = (error: unknown): boolean => error instanceof Error && error.name === 'SearchBusy';
