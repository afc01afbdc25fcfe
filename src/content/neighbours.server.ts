/**
 * What stands beside a document in a list: those before it, and where these are too few the nearest after it. A new story
 * therefore changes what stands beside a handful of others, however long the list is; with "the newest of the section"
 * beneath every story, it would change them all (docs/decisions/0008).
 */
import { publication } from '../publication.ts';
import type { Mirror } from './mirror.server.ts';

/** A place in a list. */
export interface Place {
  readonly id: number;
  /** Canonical UTC instant. */
  readonly date: string;
}

const { category, authorArticlesAside } = publication.pageSizes;

/**
 * How far a page looks along a list, at most. Beneath a story stand those of its section without those of its author, which
 * stand there already.
 */
const reaches: readonly [list: RegExp, reach: number][] = [
  [/^articles:section:/, category + authorArticlesAside],
  [/^articles:author:/, authorArticlesAside],
  [/^video$/, 6],
  [/^crosswords$/, 4],
];

const reachOf = (list: string): number => reaches.find(([pattern]) => pattern.test(list))?.[1] ?? 0;

function nearest(mirror: Mirror, list: string, { date, id }: Place, side: 'older' | 'newer', limit: number): number[] {
  const [sign, order] = side === 'older' ? ['<', 'DESC'] : ['>', 'ASC'];
  return mirror
    .prepare(
      `SELECT id FROM listing WHERE list = ? AND (date, id) ${sign} (?, ?) ORDER BY date ${order}, id ${order} LIMIT ?`,
    )
    .all(list, date, id, limit)
    .map((row) => Number(row.id));
}

/**
 * Ids of what stands beside a document in a list, in the list's order, without the document itself.
 *
 * @param exclude ids that are left out; what stands behind them moves up
 * @throws RangeError when it is asked for more than changes of this list are told of
 */
export function besideIn(
  mirror: Mirror,
  list: string,
  place: Place,
  limit: number,
  exclude: readonly number[] = [],
): number[] {
  const reach = limit + exclude.length;
  if (reach > reachOf(list))
    throw new RangeError(`A page may look ${reachOf(list)} places along ${list}, not ${reach}.`);
  const left = new Set(exclude);
  const older = nearest(mirror, list, place, 'older', reach).filter((id) => !left.has(id));
  if (older.length >= limit) return older.slice(0, limit);
  const newer = nearest(mirror, list, place, 'newer', reach).filter((id) => !left.has(id));
  return [...newer.slice(0, limit - older.length).reverse(), ...older];
}

/**
 * Ids of the documents beside which one stands that has just come to a place in a list. Those that it left are not among
 * them: they show its card, and hear of it by the card's tag.
 */
export function besideWhich(mirror: Mirror, list: string, place: Place): number[] {
  const reach = reachOf(list);
  if (reach === 0) return [];
  const older = nearest(mirror, list, place, 'older', reach + 1);
  const newer = nearest(mirror, list, place, 'newer', reach);
  // Only at the list's old end does a page look at what is newer than itself.
  return older.length > reach ? newer : [...newer, ...older];
}
