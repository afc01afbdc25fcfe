/** The search as routes see it (`search.server.ts`), and a hosted engine as the search sees it. */
import type { ContentReader, SearchFilter, SearchHit } from '../content/model.ts';

export interface Found {
  readonly items: readonly SearchHit[];
  /** Number of all results. */
  readonly total: number;
  /** Words that were searched for beside the typed ones. */
  readonly instead: readonly string[];
}

export interface Search {
  /**
   * Best match first. The caller counts the rate limit `search` before. If a hosted engine doesn't respond in time, the site's own
   * index does.
   *
   * @param content the request's reader, which records the tags of the page
   * @throws SearchBusy when there are too many searches at once
   */
  find(content: ContentReader, query: string, filter: SearchFilter): Promise<Found>;
  /** Must be called for every change of the content, with its tags. */
  changed(tags: Iterable<string>): void;
  stats(): SearchStats;
  /** Starts the feed of the hosted engine, if there is one. */
  start(): void;
  stop(): Promise<void>;
}

export interface SearchStats {
  readonly engine: 'own' | 'algolia';
  /** Queries to which the hosted engine did not respond. */
  readonly fallbacks: number;
  /** Articles that wait to be sent to it, and those that were given up. */
  readonly pending: number;
  readonly failed: number;
  /** The last problem, a sentence; `null` when there is none. */
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

/** Keeps the engine's index equal to the edition. */
export interface HostedFeed {
  /** Takes the tags of changed content; those of articles count. */
  changed(tags: Iterable<string>): void;
  stats(): { readonly pending: number; readonly failed: number; readonly problem: string | null };
  start(): void;
  /** Sends waiting articles, for a few seconds at most. */
  stop(): Promise<void>;
  /** Resolves when nothing waits. */
  idle(): Promise<void>;
}

export interface HostedEngine {
  /** Most hits of a query that the engine returns. */
  readonly reach: number;
  /** Never throws. */
  query(text: string, filter: SearchFilter): Promise<HostedAnswer>;
  /** `null` where another system fills the index. */
  readonly feed: HostedFeed | null;
}

/** Access to Algolia. */
export interface AlgoliaAccess {
  readonly appId: string;
  readonly searchKey: string;
  /** `null`: another system fills the index. */
  readonly writeKey: string | null;
  readonly index: string;
  /** `null`: the vendor's own hosts. */
  readonly url: string | null;
}

/** There are too many searches at once; the caller may retry after a few seconds. */
export class SearchBusy extends Error {
  constructor() {
    super('there are too many searches at once');
    this.name = 'SearchBusy';
  }
}

/** Seconds after which a caller may retry. */
export const busyFor = 5;

/** Compares the name, because the build of the pages has its own copy of the class. */
export const isSearchBusy = (error: unknown): boolean => error instanceof Error && error.name === 'SearchBusy';
