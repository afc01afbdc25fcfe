/** Withdrawals ahead of the content log: what WordPress is asked, what is applied, and what the log gets afterwards. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  type FakeWordPress,
  fakeWordPress,
  type Json,
  restError,
  wirePost,
} from '../../../tests/fixtures/wordpress.ts';
import { silent } from '../../lib/logging.ts';
import { openContent } from '../content.server.ts';
import type { Content, ContentChange } from '../service.ts';
import type { ContentEntry } from '../store/entries.server.ts';

interface Append {
  readonly entries: readonly ContentEntry[];
  readonly tags: ReadonlySet<string>;
}

let wordpress: FakeWordPress;
let content: Content;
let changes: ContentChange[];
/** The content log. */
let log: Append[];
const { signal } = new AbortController();

const put = (id: number, part: Json = {}): Json =>
  wordpress.put('articles', { id, ...wirePost({ id, slug: `a-${id}`, ...part }) });
const delivered = (id: number, event = 'update', type = 'articles'): void => {
  const row = (wordpress.changes?.length ?? 0) + 1;
  wordpress.changes?.push({ row, delivery: `delivery-${row}`, event, type, id, slug: '' });
};
const requests = (): string[] => wordpress.requests.splice(0).map((each) => each.replace(/\?.*/u, ''));
const title = (id: number) => content.reader().article(`a-${id}`)?.title;

beforeEach(async () => {
  wordpress = fakeWordPress();
  changes = [];
  log = [];
  for (let id = 1; id <= 5; id++) put(id);
  content = openContent({
    file: ':memory:',
    wordpress: { url: wordpress.url },
    siteUrl: 'https://sun.example',
    frameHosts: [],
    measure: async () => null,
    log: silent,
    pollSeconds: 3600,
    fetch: wordpress.fetch,
    threads: false,
    onChange: (change) => void changes.push(change),
    journal: {
      async append(given, tags, ahead = []) {
        const entries = [...ahead, ...given];
        log.push({ entries, tags });
        return { refreshed: content.followed.apply(entries, log.length, tags) };
      },
    },
  });
  await content.syncNow();
  requests();
  changes = [];
});
afterEach(() => content.stop());

it('asks for each changed document once, and leaves plain edits to the log', async () => {
  const before = content.followed.revision();
  put(1, { title: { rendered: 'A plain edit' } });
  delivered(1);
  delivered(1);
  // Not in the content store, and no document.
  delivered(99);
  delivered(3, 'term', 'categories');
  put(2, { status: 'draft' });
  delivered(2, 'unpublish');
  expect(await content.withdrawMissed(60, signal)).toBe(1);
  expect(requests()).toEqual(['/newsroom/v1/changes', '/wp/v2/articles/2', '/wp/v2/articles/1']);
  expect([title(1), title(2)]).toEqual(['Headline 1', undefined]);
  expect(changes.map(({ withdrawnTags }) => withdrawnTags)).toEqual([['article:2']]);
  expect(content.followed.revision()).toBe(before);
  expect(await content.withdrawMissed(60, signal)).toBe(0);
  expect(requests()).toEqual(['/newsroom/v1/changes']);
});

it('reads on when there are more than a hundred changes', async () => {
  for (let count = 0; count < 205; count++) delivered(1);
  wordpress.remove('articles', 4);
  delivered(4, 'delete');
  expect(await content.withdrawMissed(60, signal)).toBe(1);
  expect(requests().filter((path) => path.endsWith('/changes'))).toHaveLength(3);
  expect(title(4)).toBeUndefined();
});

it('asks again for a document that WordPress could not deliver, and withdraws the others', async () => {
  for (const id of [1, 2]) {
    put(id, { status: 'private' });
    delivered(id, 'unpublish');
  }
  wordpress.intercept = ({ url }) => (url.endsWith('/articles/1') ? restError(500, 'internal_server_error') : null);
  await expect(content.withdrawMissed(60, signal)).rejects.toThrow('500');
  expect([title(1), title(2)]).toEqual(['Headline 1', undefined]);
  wordpress.intercept = null;
  requests();
  expect(await content.withdrawMissed(60, signal)).toBe(1);
  expect(requests()).toEqual(['/newsroom/v1/changes', '/wp/v2/articles/1']);
  expect(title(1)).toBeUndefined();
});

it('says what to do about a plugin without the route, and changes nothing', async () => {
  wordpress.changes = null;
  put(2, { status: 'draft' });
  await expect(content.withdrawMissed(60, signal)).rejects.toThrow('update the newsroom plugin');
  expect(title(2)).toBe('Headline 2');
});

it('the first entry that this node appends afterwards brings the withdrawals, and makes every shared page outdated', async () => {
  put(2, { status: 'draft' });
  put(3, { access: 'subscriber' });
  for (const id of [2, 3]) delivered(id);
  await content.withdrawMissed(60, signal);
  expect(content.followed.ahead()).toEqual([
    { type: 'articles', id: 2 },
    { type: 'articles', id: 3 },
  ]);
  const before = log.length;
  await content.refresh('articles', 5);
  const [first] = log.slice(before);
  expect(first?.entries.map(({ kind }) => kind)).toEqual(['withdrawal', 'document', 'document']);
  expect(first?.tags.has('site')).toBe(true);
  expect(content.followed.ahead()).toEqual([]);
  expect([title(2), content.reader().article('a-3')?.access]).toEqual([undefined, 'subscriber']);
  await content.refresh('articles', 5);
  expect(log.at(-1)?.tags.has('site')).toBe(false);
});

it('a later entry of the log counts, also when the clocks of the nodes differ', async () => {
  put(2, { status: 'draft' });
  delivered(2, 'unpublish');
  const [entry] = log.flatMap(({ entries }) =>
    entries.filter((each) => each.kind === 'document' && each.document.id === 2),
  ) as Extract<ContentEntry, { kind: 'document' }>[];
  await content.withdrawMissed(60, signal);
  expect(title(2)).toBeUndefined();
  if (!entry) throw new Error('The log has no story 2.');
  const fetched = { at: entry.fetched.at + 1, clock: 0 };
  await content.followed.apply([{ ...entry, fetched }], log.length + 1, new Set());
  expect(title(2)).toBe('Headline 2');
  expect(content.followed.ahead()).toEqual([]);
});
