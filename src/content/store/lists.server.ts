/** Reads the content store's lists: ids of one page, and totals without a scan. */
import type { ContentStore } from './content-store.server.ts';

export interface ListFilter {
  readonly exclude?: readonly number[] | undefined;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
  /** Canonical UTC instant; only documents published at or after it. */
  readonly since?: string | undefined;
  /** Newest first unless it says `asc`. */
  readonly order?: 'asc' | 'desc' | undefined;
}

/** Offset and limit as whole numbers within limits; a caller's mistake never becomes an SQL error or a full table. */
export function pageBounds(
  { offset, limit }: Pick<ListFilter, 'offset' | 'limit'>,
  defaultLimit: number,
): { offset: number; limit: number } {
  const whole = (value: number | undefined, fallback: number): number =>
    value === undefined || !Number.isFinite(value) ? fallback : Math.max(0, Math.trunc(value));
  return { offset: whole(offset, 0), limit: Math.min(whole(limit, defaultLimit), 100_000) };
}

const countOf = (store: ContentStore, list: string): number =>
  Number(store.prepare('SELECT n FROM list_counts WHERE list = ?').get(list)?.n ?? 0);

function conditions(
  store: ContentStore,
  lists: readonly string[],
  filter: ListFilter,
): { sql: string; values: (string | number)[] } {
  // The query walks the shortest list and looks up each id in the others.
  const [first = '', ...others] =
    lists.length < 2 ? lists : lists.toSorted((a, b) => countOf(store, a) - countOf(store, b));
  let sql = 'l.list = ?';
  const values: (string | number)[] = [first];
  if (filter.since !== undefined) {
    sql += ' AND l.date >= ?';
    values.push(filter.since);
  }
  for (const other of others) {
    sql += ' AND EXISTS (SELECT 1 FROM listing o WHERE o.list = ? AND o.date = l.date AND o.id = l.id)';
    values.push(other);
  }
  return { sql, values };
}

/**
 * Ids of one page of the documents in every one of `lists`.
 *
 * @param defaultLimit limit when the filter names none
 */
export function listIds(
  store: ContentStore,
  lists: readonly string[],
  filter: ListFilter,
  defaultLimit: number,
): number[] {
  const { offset, limit } = pageBounds(filter, defaultLimit);
  if (limit === 0) return [];
  const { sql, values } = conditions(store, lists, filter);
  let exclusion = '';
  if (filter.exclude && filter.exclude.length > 0) {
    exclusion = ' AND l.id NOT IN (SELECT value FROM json_each(?))';
    values.push(JSON.stringify(filter.exclude));
  }
  const order = filter.order === 'asc' ? 'ASC' : 'DESC';
  return store
    .prepare(
      `SELECT l.id FROM listing l WHERE ${sql}${exclusion} ORDER BY l.date ${order}, l.id ${order} LIMIT ? OFFSET ?`,
    )
    .all(...values, limit, offset)
    .map((row) => Number(row.id));
}

/** The total number of documents that match the filter. */
export function listTotal(store: ContentStore, lists: readonly string[], filter: ListFilter): number {
  const { sql, values } = conditions(store, lists, filter);
  let total: number;
  if (lists.length === 1 && filter.since === undefined) {
    total = countOf(store, lists[0] ?? '');
  } else {
    total = Number(store.prepare(`SELECT count(*) AS n FROM listing l WHERE ${sql}`).get(...values)?.n ?? 0);
  }
  if (filter.exclude && filter.exclude.length > 0) {
    const excluded = `SELECT count(*) AS n FROM listing l INDEXED BY listing_id
      WHERE l.id IN (SELECT value FROM json_each(?)) AND ${sql}`;
    total -= Number(store.prepare(excluded).get(JSON.stringify(filter.exclude), ...values)?.n ?? 0);
  }
  return total;
}

// The neighbors of a document in a list: those before it, and if these are too few, the nearest after it. A new film therefore changes
// only a handful of other pages, however long the list is; if every film's page showed "the newest films", a new one would change all
// of them (docs/decisions/0008).

/** A position in a list. */
export interface ListPosition {
  readonly id: number;
  /** Canonical UTC instant. */
  readonly date: string;
}

/** Most neighbors that a page may show. */
const mostNeighbors: Readonly<Record<string, number>> = { video: 6, crosswords: 4 };

const mostNeighborsOf = (list: string): number => mostNeighbors[list] ?? 0;

function nearest(
  store: ContentStore,
  list: string,
  { date, id }: ListPosition,
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
 * Ids of a document's neighbors in a list, in the list's order, without the document itself.
 *
 * @throws RangeError when the caller wants more neighbors than changes of this list invalidate
 */
export function neighborIds(store: ContentStore, list: string, place: ListPosition, limit: number): number[] {
  if (limit > mostNeighborsOf(list))
    throw new RangeError(`A page may look ${mostNeighborsOf(list)} places along ${list}, not ${limit}.`);
  const older = nearest(store, list, place, 'older', limit);
  if (older.length === limit) return older;
  return [...nearest(store, list, place, 'newer', limit - older.length).reverse(), ...older];
}

/**
 * Ids of the documents that are neighbors of one that was added to a list. Former neighbors aren't included: they show its card and
 * depend on the card's tag.
 */
export function changedNeighborIds(store: ContentStore, list: string, place: ListPosition): number[] {
  const reach = mostNeighborsOf(list);
  if (reach === 0) return [];
  const older = nearest(store, list, place, 'older', reach + 1);
  const newer = nearest(store, list, place, 'newer', reach);
  // Only at the old end of the list does a page show newer neighbors.
  return older.length > reach ? newer : [...newer, ...older];
}
