/** The search as routes see it; `search.server.ts` makes one. */
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
   * @throws SearchBusy when everybody together asks for too much at once
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
