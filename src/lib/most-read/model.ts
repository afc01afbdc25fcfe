/** The most read as routes and pages see it (`most-read.server.ts` makes the service), and the parameters of its calls. */
import type { Card, ContentReader } from '../content/model.ts';

export interface TopQuery {
  /** How many at most; 10 unless given (spec section 9), never more than 50. */
  readonly limit?: number | undefined;
  /** Slug of a section; all of the paper unless given. */
  readonly section?: string | undefined;
  /** The reader of a page that is stored, so that it carries the tags of what it shows; one of its own otherwise. */
  readonly reader?: ContentReader | undefined;
}

export type Counted =
  /** Counted now; lists show it within a second or two. */
  | 'counted'
  /** The same network has read this article today. */
  | 'again'
  /** More than a person reads. */
  | 'limited'
  /** There is no such article, or it is not published. */
  | 'unknown';

export interface MostRead {
  /**
   * Counts one reading, in memory; it is written within a second.
   *
   * @param address network address of the reader
   */
  count(article: number, address: string): Promise<Counted>;
  /**
   * What is read most, the first most. Every story begins with one reading at the moment of its publication, so that there is
   * a list before the first reading, and new stories come before old ones.
   */
  top(query?: TopQuery): readonly Card[];
  /**
   * What pages print as most read: changes at most every `publication.mostRead.refreshMinutes`, and pages that print it are
   * made anew only when it does.
   *
   * @param query.reader of the page
   */
  list(query: TopQuery & { readonly reader: ContentReader }): readonly Card[];
}

/** A whole number above 0 that is no longer than an id; `null`: it is none. */
export const idOf = (text: string | undefined): number | null =>
  text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;

/** `limit`: the service bounds it; what is no number is as if it were not there. */
export const limitOf = (text: string | null): number | undefined => idOf(text ?? undefined) ?? undefined;
