/** A hosted search engine as the search sees it, whoever it is. */
import type { SearchFilter } from '../content/model.ts';

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
  /** `null` where somebody else fills the index. */
  readonly feed: HostedFeed | null;
}
