/**
 * What stands beside a document in a list: those before it, and where these are too few the nearest after it. A new film
 * therefore changes the pages of a handful of others, however long the list is; with "the newest films" beneath every film,
 * it would change them all (docs/decisions/0008).
 */
import type { ContentStore } from './content-store.server.ts';

/** A place in a list. */
export interface Place {
  readonly id: number;
  /** Canonical UTC instant. */
  readonly date: string;
}

/** How far a page looks along a list, at most. */
const reaches: Readonly<Record<string, number>> = { video: 6, crosswords: 4 };

const reachOf = (list: string): number => reaches[list] ?? 0;

function nearest(
  store: ContentStore,
  list: string,
  { date, id }: Place,
  side: 'older' | 'newer',
  limit: number,
): number[] {
  const [sign, order] = side === 'older' ? ['<', 'DESC'] : ['>', 'ASC'];
  return store
    .prepare(
      `SELECT id FROM listing WHERE list = ? AND (date, id) ${sign} (?, ?) ORDER BY date ${order}, id ${order} LIMIT ?`,
    )
    .all(list, date, id, limit)
    .map((row) => Number(row.id));
}

/**
 * Ids of what stands beside a document in a list, in the list's order, without the document itself.
 *
 * @throws RangeError when it is asked for more than changes of this list are told of
 */
export function besideIn(store: ContentStore, list: string, place: Place, limit: number): number[] {
  if (limit > reachOf(list))
    throw new RangeError(`A page may look ${reachOf(list)} places along ${list}, not ${limit}.`);
  const older = nearest(store, list, place, 'older', limit);
  if (older.length === limit) return older;
  return [...nearest(store, list, place, 'newer', limit - older.length).reverse(), ...older];
}

/**
 * Ids of the documents beside which one stands that has just come to a place in a list. Those that it left are not among
 * them: they show its card, and hear of it by the card's tag.
 */
export function besideWhich(store: ContentStore, list: string, place: Place): number[] {
  const reach = reachOf(list);
  if (reach === 0) return [];
  const older = nearest(store, list, place, 'older', reach + 1);
  const newer = nearest(store, list, place, 'newer', reach);
  // Only at the list's old end does a page look at what is newer than itself.
  return older.length > reach ? newer : [...newer, ...older];
}
