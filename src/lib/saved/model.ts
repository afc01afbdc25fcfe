/** What a reader saves for later and has read: the service as routes see it, and one page of a list as cards. */
import type { Card, ContentReader } from '../content/model.ts';

/** What a reader keeps for later, and what the reader has read, as routes see it. */
import type { PersonalData } from '../personal-data.ts';

export interface LibraryRules {
  /** Articles that one reader may save. */
  readonly saved: number;
  /** Days that a reading is kept. */
  readonly historyDays: number;
  /** Readings of one reader that are kept, the newest. */
  readonly history: number;
}

/** An article by its number: whether it is still there, the edition knows. */
export interface Kept {
  readonly articleId: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

export interface Library {
  readonly rules: LibraryRules;
  /** `full`: the reader has saved as many as there may be. Saving again changes nothing. */
  save(userId: string, articleId: number): Promise<'saved' | 'full'>;
  unsave(userId: string, articleId: number): Promise<void>;
  isSaved(userId: string, articleId: number): Promise<boolean>;
  /** The newest first. */
  saved(userId: string): Promise<readonly Kept[]>;
  /** Notes a reading; one that was read before moves to the front. @returns `false` where the reader wants no history */
  read(userId: string, articleId: number): Promise<boolean>;
  /** The newest first. */
  history(userId: string): Promise<{ readonly on: boolean; readonly items: readonly Kept[] }>;
  forgetRead(userId: string, articleId: number): Promise<void>;
  clearHistory(userId: string): Promise<void>;
  /** Whether a history is kept from now on; what there is of one goes when it is not. */
  keepHistory(userId: string, on: boolean): Promise<void>;
  readonly personalData: PersonalData;
}

export interface SavedCard extends Card {
  /** When it was saved or read, epoch milliseconds. */
  readonly at: number;
}

export interface SavedPage {
  readonly items: readonly SavedCard[];
  /** Articles of the list that are there. */
  readonly total: number;
}

/** One page of a list, in its order. */
export function savedPage(
  content: Pick<ContentReader, 'articles'>,
  kept: readonly Kept[],
  { offset, limit }: { readonly offset: number; readonly limit: number },
): SavedPage {
  if (kept.length === 0) return { items: [], total: 0 };
  const ids = kept.map(({ articleId }) => articleId);
  const when = new Map(kept.map(({ articleId, at }) => [articleId, at]));
  const { items } = content.articles({ ids, limit: ids.length });
  const page = items.slice(offset, offset + limit);
  return { items: page.map((card) => ({ ...card, at: when.get(card.id) ?? 0 })), total: items.length };
}
