/** The search as routes see it (`search.server.ts`), a hosted engine as the search sees it, and the response (spec section 3, "Search hit"). */
import { z } from 'zod';
import type { ContentReader, FoundArticles, SearchFilter } from '../content/reader.ts';

export interface Search {
  /**
   * Best match first. The caller counts the rate limit `search` before. If a hosted engine doesn't respond in time, the site's own
   * index does.
   *
   * @param content the request's reader, which records the tags of the page
   * @throws SearchBusy when there are too many searches at once
   */
  find(content: ContentReader, query: string, filter: SearchFilter): Promise<FoundArticles>;
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
      /** In the engine's order; matches in a snippet are between U+0001 and U+0002. */
      readonly hits: readonly { readonly id: number; readonly snippet: string }[];
      readonly total: number;
    }
  | { readonly ok: false; readonly problem: string };

/** Keeps the engine's index in sync with the edition. */
export interface HostedFeed {
  /** Receives the tags of changed content; only those of articles matter. */
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
  readonly mostHits: number;
  /** Never throws. */
  query(text: string, filter: SearchFilter): Promise<HostedAnswer>;
  /** `null` where another system fills the index. */
  readonly feed: HostedFeed | null;
}

/** Access to Algolia. */
export interface AlgoliaAccess {
  readonly appId: string;
  /** Key that may only search. */
  readonly searchKey: string;
  /** Key that may write; `null`: another system fills the index. */
  readonly writeKey: string | null;
  readonly index: string;
  /** Without a trailing slash; `null`: the vendor's own hosts. */
  readonly url: string | null;
}

/** Too many searches are waiting; the caller may retry after a few seconds. */
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

/** A result of `GET /api/v1/articles/search`, the same for all engines. */
const searchHit = z.object({
  slug: z.string(),
  post_id: z.number().int(),
  post_title: z.string(),
  /** Path of the picture service: original files may contain the location of the photo. */
  image_url: z.string().nullable(),
  /** The author's name, `''` where there is none. */
  author: z.object({ post_title: z.string() }),

  // Beyond the specification.
  /** Public text around a match, in parts: those with `match` are highlighted. Plain text. */
  snippet: z.array(z.object({ text: z.string(), match: z.boolean() })),
  section: z.object({ slug: z.string(), label: z.string() }).nullable(),
  /** Present while the story is covered live. */
  live: z.literal(true).optional(),
  /** First published, UTC. */
  date: z.string(),
  /** Path on this site. */
  url: z.string(),
});
export type SearchHitAnswer = z.infer<typeof searchHit>;

export const searchAnswer = z.object({
  /** Number of all results. */
  nbHits: z.number().int(),
  hits: z.array(searchHit),

  // Beyond the specification.
  /** From 0. */
  page: z.number().int(),
  nbPages: z.number().int(),
  hitsPerPage: z.number().int(),
  query: z.string(),
  /** Words searched for in addition to the typed ones, because those had too few results. */
  instead: z.array(z.string()),
});
export type SearchAnswer = z.infer<typeof searchAnswer>;
