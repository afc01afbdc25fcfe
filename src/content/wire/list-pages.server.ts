/**
 * Pages of WordPress's lists. A page starts after the key of the previous page's last document: the field that orders the list, and
 * the id where that field is equal. The last page is then as fast as the first one, and a document that is added or removed in between
 * neither hides nor repeats another. Older plugins ignore `after_key`; then pages are requested by offset.
 */
import type { Logger } from '../../lib/logging.ts';
import type { ListKey } from '../store/content-store.server.ts';
import type { Client, GetOptions, Query } from './client.server.ts';
import { fetchList, type ListAnswer } from './fetch.server.ts';

/** A list of WordPress in one order. */
export interface List {
  readonly path: string;
  /** The field that orders the list; documents with equal values are ordered by id. */
  readonly orderby: 'id' | 'date' | 'date_gmt' | 'modified';
  readonly order: 'asc' | 'desc';
  /** Further parameters. The ordering field is added to `_fields` if it is missing: documents need it for their keys. */
  readonly query?: Query;
}

/** The parameters of a list. */
function queryOf({ orderby, order, query }: List, size: number): Query {
  const fields = query?._fields;
  const lacks = typeof fields === 'string' && !fields.split(',').includes(orderby);
  return { orderby, order, per_page: size, ...query, ...(lacks && { _fields: `${fields},${orderby}` }) };
}

/** Where a page begins. */
export interface Position {
  /** Number of documents before this position, as far as it is known: some may have been added or removed. */
  readonly offset: number;
  /** The key of the last document before this position; `null` at the beginning, and if that document has no readable key. */
  readonly key: ListKey | null;
}

export const firstPosition: Position = { offset: 0, key: null };

export interface Page extends ListAnswer {
  readonly next: Position;
  /** Whether no document follows. */
  readonly ended: boolean;
  /** Length of the whole list, `null` when WordPress doesn't say. */
  readonly total: number | null;
}

const readableDate = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/u;

function keyOf({ orderby }: List, raw: unknown): ListKey | null {
  const { id, [orderby]: field } = (raw ?? {}) as Record<string, unknown>;
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id <= 0) return null;
  if (orderby === 'id') return { at: '', id };
  return typeof field === 'string' && readableDate.test(field) ? { at: field, id } : null;
}

const keysOf = (list: List, items: readonly unknown[]): ListKey[] =>
  items.map((raw) => keyOf(list, raw)).filter((key) => key !== null);

const isBelow = (a: ListKey, b: ListKey): boolean => a.at < b.at || (a.at === b.at && a.id < b.id);

const areInOrder = ({ order }: List, keys: readonly ListKey[]): boolean =>
  keys.every((key, at) => {
    const before = keys[at - 1];
    return !before || (order === 'asc' ? isBelow(before, key) : isBelow(key, before));
  });

/** Most documents that a page may skip in search of one that is readable. */
const mostSkipped = 5000;

/**
 * Reads a page, and continues until a document with a key appears: WordPress counts comments on stories that aren't public, but leaves them
 * out.
 *
 * @param before documents that WordPress counts although they are before the page
 * @returns `passed`: documents of the list that the page covers
 */
async function readPage(
  list: List,
  size: number,
  before: number,
  request: (skipped: number) => Promise<ListAnswer>,
): Promise<ListAnswer & { readonly passed: number; readonly ended: boolean }> {
  const items: unknown[] = [];
  for (let passed = size; ; passed += size) {
    const { items: found, answer } = await request(passed - size);
    items.push(...found);
    const ended = answer.total === null ? found.length < size : before + passed >= answer.total;
    const hasKey = keysOf(list, found).length > 0;
    if (ended || hasKey || passed >= mostSkipped) return { items, answer, passed, ended: ended || !hasKey };
  }
}

/**
 * Fetches a page of a list.
 *
 * @param size documents of a page
 * @throws SyncProblem
 */
export async function fetchPage(
  { client, log }: { readonly client: Client; readonly log: Logger },
  list: List,
  { offset, key }: Position,
  size: number,
  options?: GetOptions,
): Promise<Page> {
  const { path } = list;
  const query = queryOf(list, size);
  if (key && client.pagesByKey) {
    const after_key = key.at === '' ? key.id : `${key.at},${key.id}`;
    const { items, answer, passed, ended } = await readPage(list, size, 0, (skipped) =>
      fetchList(client, path, { ...query, after_key, offset: skipped || undefined }, options),
    );
    const keys = keysOf(list, items);
    if (areInOrder(list, [key, ...keys])) {
      const next = { offset: offset + passed, key: keys.at(-1) ?? null };
      // The total counts only what follows the key.
      return { items, answer, next, ended, total: answer.total === null ? null : offset + answer.total };
    }
    client.pagesByKey = false;
    log.warn(
      { url: answer.url },
      'content: WordPress ignores after_key, so lists go by offset; update the newsroom plugin',
    );
  }
  const { items, answer, passed, ended } = await readPage(list, size, offset, (skipped) =>
    fetchList(client, path, { ...query, offset: offset + skipped }, options),
  );
  const next = { offset: offset + passed, key: keysOf(list, items).at(-1) ?? null };
  return { items, answer, next, ended, total: answer.total };
}

/** The pages of a list from its beginning to its end. @throws SyncProblem */
export async function* pagesOf(
  context: Parameters<typeof fetchPage>[0],
  list: List,
  size: number,
  options?: GetOptions,
): AsyncGenerator<Page, void> {
  let position = firstPosition;
  for (;;) {
    const page = await fetchPage(context, list, position, size, options);
    yield page;
    if (page.ended) return;
    position = page.next;
  }
}
