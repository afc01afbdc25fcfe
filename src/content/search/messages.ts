/** A search as it is sent to the search thread. */
import type { SearchFilter } from './search.server.ts';

export interface SearchTask {
  /** Of the content store: after a rebuild the file is another one. */
  readonly generation: number;
  readonly text: string;
  readonly filter: SearchFilter;
}
