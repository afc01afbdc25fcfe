/** A reader's list beside the edition: numbers become cards, and what was withdrawn is not there. */
import type { Card, ContentReader } from '../content/model.ts';
import type { Kept } from './service.ts';

export interface ShelvedCard extends Card {
  /** When it was saved or read, epoch milliseconds. */
  readonly at: number;
}

export interface ShelfPage {
  readonly items: readonly ShelvedCard[];
  /** Articles of the list that are there. */
  readonly total: number;
}

/** One page of a list, in its order. */
export function shelfPage(
  content: Pick<ContentReader, 'articles'>,
  kept: readonly Kept[],
  { offset, limit }: { readonly offset: number; readonly limit: number },
): ShelfPage {
  if (kept.length === 0) return { items: [], total: 0 };
  const ids = kept.map(({ articleId }) => articleId);
  const when = new Map(kept.map(({ articleId, at }) => [articleId, at]));
  const { items } = content.articles({ ids, limit: ids.length });
  const page = items.slice(offset, offset + limit);
  return { items: page.map((card) => ({ ...card, at: when.get(card.id) ?? 0 })), total: items.length };
}
