/**
 * The most read articles: the service as routes and pages see it, its parameters, the browser's record of counted articles, and
 * the table.
 */
import type { Card } from '../content/model.ts';
import type { ContentReader } from '../content/reader.ts';
import { parseJson } from '../json.ts';
import { parseId } from '../text.ts';

export interface TopQuery {
  /** How many at most; 10 unless given (spec section 9), never more than 50. */
  readonly limit?: number | undefined;
  /** Slug of a section; the whole newspaper unless given. */
  readonly section?: string | undefined;
  /** Content reader of a cached page, so that the page gets the tags of what it shows. */
  readonly reader?: ContentReader | undefined;
}

export type Counted =
  /** Counted; lists show it within two seconds. */
  | 'counted'
  /** The same network has already read this article today. */
  | 'again'
  /** More articles than a person reads. */
  | 'limited'
  /** The article doesn't exist or isn't published. */
  | 'unknown';

export interface MostRead {
  /** Counts one reading, in memory; it is written within a second. @param address network address of the reader */
  count(article: number, address: string): Promise<Counted>;
  /**
   * The most read articles, the first most. Every article starts with one reading at its publication, so that there is a list
   * before the first reading, and new articles come before old ones.
   */
  top(query?: TopQuery): readonly Card[];
  /**
   * The list on pages. It changes at most every `publication.mostRead.refreshMinutes`, because each change renders its pages
   * again.
   *
   * @param query.reader of the page
   */
  list(query: TopQuery & { readonly reader: ContentReader }): readonly Card[];
  /** Current readings of all processes; a few seconds old. @throws DatabaseUnavailable */
  now(): Promise<ReadingNow>;
}

/** Current readings, for the newsroom. Counts are rounded. */
export interface ReadingNow {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly periods: readonly {
    readonly minutes: number;
    /** Readings of all articles in the period, and in the period of the same length before it. */
    readonly readings: number;
    readonly before: number;
    /** Published articles, the most read first, at most 20. */
    readonly stories: readonly { readonly id: number; readonly readings: number; readonly before: number }[];
  }[];
}

/** The `limit` of a call; the service limits it, and an invalid value is ignored. */
export const limitOf = (text: string | null): number | undefined => parseId(text) ?? undefined;

/** Most ids in `trackedArticles`, the browser's JSON array of articles it has counted, newest last. */
const mostTracked = 500;

/** @param text from the storage; an invalid one counts as an empty list */
export function parseTracked(text: string | null): readonly number[] {
  const read = parseJson(text ?? '[]');
  return Array.isArray(read) ? read.map(Number).filter((id) => Number.isSafeInteger(id) && id > 0) : [];
}

export const withTracked = (tracked: readonly number[], article: number): readonly number[] =>
  [...tracked.filter((one) => one !== article), article].slice(-mostTracked);

/** Made by `src/server/migrations/reading.ts`. */
export interface PopularityTable {
  article_id: number;
  /** The article's score, see scores.server.ts. */
  heat: number;
  /** Half-life under which `heat` was written, milliseconds. */
  half_life: number;
  /** All readings so far, without decay. */
  total: number;
}

/** Made by `src/server/migrations/reading.ts`, for {@link ReadingNow}. */
interface RecentReadingsTable {
  /** Whole minutes since 1970. */
  minute: number;
  article_id: number;
  readings: number;
}

export interface PopularityTables {
  popularity: PopularityTable;
  recent_readings: RecentReadingsTable;
}
