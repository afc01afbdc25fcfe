import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type FakeWordPress,
  fakeWordPress,
  type Json,
  restError,
  wireComment,
  wirePost,
} from '../../../tests/fixtures/wordpress.ts';
import { runs } from '../../../tests/world/runs.ts';
import { silent } from '../../lib/logging.ts';
import { type Client, createClient } from './client.server.ts';
import { fetchPage, firstPosition, type List, type Page, type Position } from './list-pages.server.ts';

let wordpress: FakeWordPress;
let client: Client;
let warnings: string[];

beforeEach(() => {
  wordpress = fakeWordPress();
  client = createClient({ url: wordpress.url, fetch: wordpress.fetch, backOffMs: 1 });
  warnings = [];
});

const page = (list: List, position: Position, size: number): Promise<Page> =>
  fetchPage({ client, log: { ...silent, warn: (_, message) => void warnings.push(message) } }, list, position, size);
const idsOf = ({ items }: Page): number[] => items.map((item) => (item as { id: number } | null)?.id ?? 0);
const newest: List = { path: '/wp/v2/articles', orderby: 'date', order: 'desc' };
const changed: List = { path: '/wp/v2/articles', orderby: 'modified', order: 'asc' };
const byId: List = { path: '/wp/v2/articles', orderby: 'id', order: 'asc' };
/** An instant within a short range, so that many documents share it. */
const at = (seconds: number): string => new Date(Date.UTC(2026, 10, 20) + seconds * 1000).toISOString().slice(0, 19);
const put = (id: number, seconds: number, part: Json = {}): Json =>
  wordpress.put('articles', { id, ...wirePost({ id, date_gmt: at(seconds), modified_gmt: at(seconds), ...part }) });

/** All pages of a list; `between` is called between two pages. */
async function walk(list: List, size: number, between: () => void = () => {}): Promise<{ ids: number[]; last: Page }> {
  const ids: number[] = [];
  for (let position = firstPosition; ; ) {
    const last = await page(list, position, size);
    ids.push(...idsOf(last));
    if (last.ended) return { ids, last };
    between();
    // As stored in a cursor.
    position = JSON.parse(JSON.stringify(last.next)) as Position;
  }
}

describe('paging through a WordPress list', () => {
  it('starts each page after the last document, even within one second, without an extra request', async () => {
    for (const id of [5, 9, 2, 7, 4, 1]) put(id, 0);
    put(3, 1);
    const { ids, last } = await walk(newest, 2);
    expect(ids).toEqual([3, 9, 7, 5, 4, 2, 1]);
    expect(last.total).toBe(7);
    const keys = wordpress.requests.map((path) => new URL(path, wordpress.url).searchParams);
    expect(keys.map((query) => query.get('after_key'))).toEqual([null, `${at(0)},9`, `${at(0)},5`, `${at(0)},2`]);
    expect(keys.map((query) => query.get('offset'))).toEqual(['0', null, null, null]);
    expect((await walk(byId, 3)).ids).toEqual([1, 2, 3, 4, 5, 7, 9]);
    expect((await walk(changed, 3)).ids).toEqual([1, 2, 4, 5, 7, 9, 3]);
    expect(warnings).toEqual([]);
  });

  it('returns one empty page for an empty list', async () => {
    expect(await page(newest, firstPosition, 20)).toMatchObject({ items: [], ended: true, total: 0 });
    expect(wordpress.requests).toHaveLength(1);
  });

  it('ends at a page with fewer items than requested when WordPress sends no total', async () => {
    for (let id = 1; id <= 5; id++) put(id, id);
    wordpress.intercept = async (request) => {
      const kept = wordpress.intercept;
      wordpress.intercept = null;
      const answer = await wordpress.handle(request);
      wordpress.intercept = kept;
      return new Response(answer.body, { headers: { 'Content-Type': 'application/json' } });
    };
    const { ids, last } = await walk(byId, 2);
    expect([ids, last.total]).toEqual([[1, 2, 3, 4, 5], null]);
  });

  it('continues at its key after documents before it were withdrawn and published', async () => {
    for (let id = 1; id <= 9; id++) put(id, id);
    const first = await page(newest, firstPosition, 3);
    for (const id of [9, 8, 7, 6]) wordpress.remove('articles', id);
    put(10, 10);
    put(11, 11);
    const second = await page(newest, first.next, 3);
    expect(idsOf(second)).toEqual([5, 4, 3]);
    expect(idsOf(await page(newest, second.next, 3))).toEqual([2, 1]);
  });

  it('returns every untouched document exactly once, whatever others are published, changed or withdrawn', async () => {
    const change = fc.record({
      id: fc.integer({ min: 1, max: 40 }),
      kind: fc.constantFrom('publish', 'update', 'withdraw'),
      seconds: fc.integer({ min: 0, max: 4 }),
    });
    const start = fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 4 })), {
      maxLength: 40,
    });
    const changes = fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(start, changes, fc.integer({ min: 1, max: 5 }), async (before, steps, size) => {
        for (const list of [newest, byId, changed]) {
          wordpress.store.articles.clear();
          for (const [id, seconds] of before) put(id, seconds);
          const untouched = new Set(before.map(([id]) => id));
          const left = structuredClone(steps);
          const { ids } = await walk(list, size, () => {
            for (const { id, kind, seconds } of left.shift() ?? []) {
              untouched.delete(id);
              if (kind === 'withdraw') wordpress.remove('articles', id);
              // A change moves the document behind all others in order of date, as it does in order of modification.
              else put(id, kind === 'publish' ? seconds : 5 + seconds);
            }
          });
          const times = (id: number): number => ids.filter((one) => one === id).length;
          for (const id of untouched) expect(times(id), `${list.orderby} ${id}`).toBe(1);
        }
      }),
      { numRuns: runs(30, 1000) },
    );
    expect(warnings).toEqual([]);
  });
});

describe('a plugin without after_key', () => {
  beforeEach(() => {
    wordpress.pagesByKey = false;
    for (let id = 1; id <= 9; id++) put(id, id);
  });

  it('is recognized by its first answer, logged once, and paged by offset', async () => {
    expect((await walk(newest, 3)).ids).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(wordpress.requests).toHaveLength(4);
    expect((await walk(byId, 3)).ids).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(wordpress.requests).toHaveLength(7);
    expect(warnings).toEqual([expect.stringContaining('update the newsroom plugin')]);
  });

  it('is recognized even in the middle of a copy', async () => {
    wordpress.pagesByKey = true;
    const first = await page(newest, firstPosition, 3);
    const second = await page(newest, first.next, 3);
    wordpress.pagesByKey = false;
    const third = await page(newest, second.next, 3);
    expect([idsOf(third), third.ended, third.total]).toEqual([[3, 2, 1], true, 9]);
  });

  it('is recognized by unsorted documents of one second, and then paged by offset', async () => {
    wordpress.pagesByKey = true;
    wordpress.intercept = ({ url }) => {
      const query = new URL(url).searchParams;
      const items = [4, 6, 5].map((id) => ({ id, date: at(0) }));
      return query.has('after_key') ? Response.json(items, { headers: { 'X-WP-Total': '9' } }) : null;
    };
    const next = await page(newest, { offset: 3, key: { at: at(0), id: 7 } }, 3);
    expect(idsOf(next)).toEqual([6, 5, 4]);
    expect(warnings).toHaveLength(1);
  });
});

describe('documents without a readable key', () => {
  it('are returned along with all documents around them, and keys are used again after them', async () => {
    for (let id = 1; id <= 8; id++) put(id, id);
    for (const id of [4, 5]) put(id, id, { date_gmt: '-0001-11-30T00:00:00' });
    // The date that WordPress makes from zeros is earlier than every other date.
    const { ids } = await walk(newest, 3);
    expect(ids.toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(warnings).toEqual([]);
    wordpress.requests.length = 0;
    expect((await walk({ ...newest, order: 'asc' }, 2)).ids).toEqual([4, 5, 1, 2, 3, 6, 7, 8]);
    const queries = wordpress.requests.map((path) => new URL(path, wordpress.url).searchParams);
    expect(queries.map((query) => [query.get('offset'), query.get('after_key')])).toEqual([
      ['0', null],
      ['2', null],
      [null, `${at(2)},2`],
      [null, `${at(6)},6`],
    ]);
  });

  it('are followed by others in the same page, so that a change between two pages hides none', async () => {
    for (let id = 1; id <= 8; id++) put(id, id);
    for (const id of [4, 5]) put(id, id, { date_gmt: '-0001-11-30T00:00:00' });
    const { ids } = await walk({ ...newest, order: 'asc' }, 2, () => wordpress.remove('articles', 4));
    expect(ids).toEqual([4, 5, 1, 2, 3, 6, 7, 8]);
  });

  it('may fill a whole page, such as hidden comments that WordPress counts but leaves out', async () => {
    for (let id = 1; id <= 10; id++)
      wordpress.put('comments', { id, ...wireComment({ id, post: id > 3 && id < 8 ? 2 : 1 }) });
    wordpress.intercept = async (request) => {
      const kept = wordpress.intercept;
      wordpress.intercept = null;
      const answer = await wordpress.handle(request);
      wordpress.intercept = kept;
      const items = ((await answer.json()) as { post: number }[]).filter(({ post }) => post === 1);
      return Response.json(items, { headers: answer.headers });
    };
    const { ids } = await walk({ path: '/wp/v2/comments', orderby: 'id', order: 'asc' }, 2);
    expect(ids).toEqual([1, 2, 3, 8, 9, 10]);
    // Each request is recorded twice: here, and by the WordPress that it was passed on to.
    const requests = wordpress.requests.filter((_, at) => at % 2 === 0);
    const keys = requests.map((path) => new URL(path, wordpress.url).searchParams);
    expect(keys.map((query) => query.get('after_key'))).toEqual([null, '2', '3', '3', '3', '9']);
    expect(keys.map((query) => query.get('offset'))).toEqual(['0', null, null, '2', '4', null]);
  });

  it('end a list after 50 empty pages when WordPress’s total is wrong', async () => {
    for (let id = 1; id <= 4; id++) put(id, id);
    wordpress.intercept = ({ url }) => {
      const query = new URL(url).searchParams;
      const items = query.has('after_key') ? [] : [{ id: 1 }];
      return Response.json(items, { headers: { 'X-WP-Total': '1000000' } });
    };
    expect((await walk(byId, 100)).ids).toEqual([1]);
    expect(wordpress.requests).toHaveLength(51);
  });

  it('never cause an endless loop', async () => {
    wordpress.intercept = ({ url }) => {
      const offset = Number(new URL(url).searchParams.get('offset') ?? 0);
      return Response.json([{ id: null }, null, 'x'], { headers: { 'X-WP-Total': String(Math.max(9, offset)) } });
    };
    let requests = 0;
    await walk(newest, 3, () => expect(++requests).toBeLessThan(10));
    expect(wordpress.requests).toHaveLength(3);
  });
});

it('an error that WordPress returns for a page is passed on to the caller', async () => {
  wordpress.intercept = ({ url }) => (url.includes('after_key') ? restError(400, 'rest_invalid_param') : null);
  await expect(page(byId, { offset: 3, key: { at: '', id: 3 } }, 3)).rejects.toThrow(/rest_invalid_param/u);
});
