/**
 * The cards of articles, cached in memory until their content changes: a front shows some fifty of them, and reading each from SQLite took
 * a fifth of a render.
 */
import type { Card, DocumentType } from '../../lib/content/model.ts';
import type { ContentStore } from './content-store.server.ts';
import { cardOf, creditedIn, documentColumns, documentSource, type Row } from './rows.server.ts';

export interface StoredCard {
  readonly card: Card;
  /** Ids of the authors and contributors, also of those without a document. */
  readonly credited: readonly number[];
}

/** A card takes about a kilobyte. */
const mostCards = 2000;

interface CachedCards {
  /** `ContentStore.generation`: sections changed, or a transaction was undone. */
  readonly generation: number;
  readonly cards: Map<number, StoredCard>;
}

const cachedCards = new WeakMap<ContentStore, CachedCards>();

function cardsOf(store: ContentStore): Map<number, StoredCard> {
  const { generation } = store;
  const known = cachedCards.get(store);
  if (known?.generation === generation) return known.cards;
  const cards = new Map<number, StoredCard>();
  cachedCards.set(store, { generation, cards });
  return cards;
}

const byId = `SELECT ${documentColumns} FROM ${documentSource} WHERE d.id = ? AND d.type = 'articles'`;

/** The card of a published article, `null` if there is none. */
export function readCard(store: ContentStore, id: number): StoredCard | null {
  const cards = cardsOf(store);
  const known = cards.get(id);
  if (known) return known;
  const row = store.prepare(byId).get(id) as Row | undefined;
  if (!row) return null;
  const stored: StoredCard = { card: Object.freeze(cardOf(store, row)), credited: creditedIn(row) };
  const [oldest] = cards.keys();
  if (oldest !== undefined && cards.size >= mostCards) cards.delete(oldest);
  cards.set(id, stored);
  return stored;
}

/** Call it where a document's row is written or deleted. An author's name may be on any card. */
export function forgetCards(
  store: ContentStore,
  { type, id }: { readonly type: DocumentType; readonly id: number },
): void {
  const cards = cachedCards.get(store)?.cards;
  if (type === 'authors') cards?.clear();
  else cards?.delete(id);
}
