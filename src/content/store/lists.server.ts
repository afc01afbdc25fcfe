/** Walks of the content store's lists: ids of one page, and totals without a scan. */
import type { ContentStore } from './content-store.server.ts';

export interface ListFilter {
  readonly exclude?: readonly number[] | undefined;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
  /** Canonical UTC instant; only documents published at or after it. */
  readonly since?: string | undefined;
}

/** Offset and limit as whole numbers in bounds; a caller's slip never becomes an SQL error or a full table. */
export function pageBounds({ offset, limit }: ListFilter, standard: number): { offset: number; limit: number } {
  const whole = (value: number | undefined, fallback: number): number =>
    value === undefined || !Number.isFinite(value) ? fallback : Math.max(0, Math.trunc(value));
  return { offset: whole(offset, 0), limit: Math.min(whole(limit, standard), 100_000) };
}

const countOf = (store: ContentStore, list: string): number =>
  Number(store.prepare('SELECT n FROM list_counts WHERE list = ?').get(list)?.n ?? 0);

function conditions(
  store: ContentStore,
  lists: readonly string[],
  filter: ListFilter,
): { sql: string; values: (string | number)[] } {
  // The shortest list leads: the others are only looked into.
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
 * Ids of one page, newest first, of the documents that stand in every one of `lists`.
 *
 * @param standard limit when the filter names none
 */
export function listIds(store: ContentStore, lists: readonly string[], filter: ListFilter, standard: number): number[] {
  const { offset, limit } = pageBounds(filter, standard);
  if (limit === 0) return [];
  const { sql, values } = conditions(store, lists, filter);
  let exclusion = '';
  if (filter.exclude && filter.exclude.length > 0) {
    exclusion = ' AND l.id NOT IN (SELECT value FROM json_each(?))';
    values.push(JSON.stringify(filter.exclude));
  }
  return store
    .prepare(`SELECT l.id FROM listing l WHERE ${sql}${exclusion} ORDER BY l.date DESC, l.id DESC LIMIT ? OFFSET ?`)
    .all(...values, limit, offset)
    .map((row) => Number(row.id));
}

/** How many documents the filter has in all. */
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
