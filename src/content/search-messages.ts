/** What the main thread and the thread of the search say to each other. */
import type { FoundArticles, SearchFilter } from './search.server.ts';

export interface ToSearch {
  readonly number: number;
  /** Of the mirror: with another one the file may be another. */
  readonly generation: number;
  readonly text: string;
  readonly filter: SearchFilter;
}

export type FromSearch =
  | { readonly number: number; readonly found: FoundArticles }
  | { readonly number: number; readonly failure: string };
