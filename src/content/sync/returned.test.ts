/**
 * The order of answers: a story that was trashed by mistake, whose comments WordPress trashes with it and doesn't report when the story comes
 * back; lists that were fetched before a change and arrive after it.
 */
import { beforeEach, expect, it, vi } from 'vitest';
import {
  type FakeWordPress,
  fakeWordPress,
  restError,
  wireComment,
  wirePost,
  wireSection,
} from '../../../tests/fixtures/wordpress.ts';
import { silent } from '../../lib/logging.ts';
import { createLocalIngester } from '../ingest/ingester.server.ts';
import { type ContentStore, openContentStore } from '../store/content-store.server.ts';
import { createReader } from '../store/reader.server.ts';
import { type Client, createClient } from '../wire/client.server.ts';
import { type Applier, createApplier } from './apply.server.ts';
import { createNotifier } from './notifier.server.ts';
import { createRefresh, type Refresh } from './refresh.server.ts';

const story = 1;
const comments = Array.from({ length: 120 }, (_, index) => 10 + index);
let wordpress: FakeWordPress;
let store: ContentStore;
let refresh: Refresh;
let client: Client;
let applier: Applier;
/** Renders the pages of a change. */
let pagesOf: () => unknown;

const publish = (): void => {
  wordpress.put('articles', { id: story, ...wirePost({ id: story }) });
  for (const id of comments) wordpress.put('comments', { id, ...wireComment({ id, post: story }) });
};
const trash = (): void => {
  wordpress.remove('articles', story);
  for (const id of comments) wordpress.remove('comments', id);
};
const shown = (): number => createReader(store).comments(story, { limit: 200 }).total;

beforeEach(async () => {
  wordpress = fakeWordPress();
  store = openContentStore({ file: ':memory:', origin: null, log: silent });
  client = createClient({ url: wordpress.url, fetch: wordpress.fetch, now: Date.now });
  const ingester = createLocalIngester({
    wordpress: wordpress.url,
    site: 'https://sun.example',
    frameHosts: [],
    measure: async () => null,
  });
  pagesOf = () => undefined;
  const onChange = () => pagesOf();
  const notifier = createNotifier({ store, log: silent, onChange });
  applier = createApplier({ store, client, ingester, log: silent, now: Date.now, notifier });
  const { signal } = new AbortController();
  const siteUrl = 'https://sun.example';
  refresh = createRefresh({ store, client, applier, ingester, log: silent, now: Date.now, siteUrl, signal });
  publish();
  await refresh.document('articles', story);
  for (const id of comments) await refresh.document('comments', id);
  trash();
  await refresh.document('articles', story);
  for (const id of comments) await refresh.document('comments', id);
  publish();
});

it.each<[string, () => Promise<unknown>]>([
  ['a webhook', () => refresh.document('articles', story)],
  ['a poll', () => refresh.documents('articles', [story])],
])(
  'a trashed story restored by %s gets its comments back, and later edits do not fetch them again',
  async (_, bring) => {
    await bring();
    expect(shown()).toBe(comments.length);
    // A further edit of the story fetches no comments.
    wordpress.requests.length = 0;
    await bring();
    expect(wordpress.requests.filter((path) => path.includes('comments'))).toEqual([]);
  },
);

it.each<[string, () => Promise<unknown>]>([
  ['a webhook', () => refresh.document('articles', story)],
  ['a poll', () => refresh.documents('articles', [story])],
])('comments that were removed while their story was a draft do not come back with it by %s', async (_, bring) => {
  await bring();
  wordpress.remove('articles', story);
  await refresh.document('articles', story);
  // The plugin reports no comment of a story that readers can't see.
  for (const id of [10, 129]) wordpress.remove('comments', id);
  wordpress.put('articles', { id: story, ...wirePost({ id: story }) });
  await bring();
  expect(shown()).toBe(comments.length - 2);
});

it('stored comments stay while the list of a restored story’s comments can’t be read to its end', async () => {
  await refresh.document('articles', story);
  wordpress.remove('articles', story);
  await refresh.document('articles', story);
  wordpress.put('articles', { id: story, ...wirePost({ id: story }) });
  wordpress.requests.length = 0;
  let lists = 0;
  wordpress.intercept = ({ url }) => (url.includes('/comments?') && ++lists > 1 ? restError(503, 'busy') : null);
  await refresh.document('articles', story);
  expect(shown()).toBe(comments.length);
  expect(wordpress.requests.filter((path) => /comments\/\d/.test(path))).toEqual([]);
});

it('a restored story is shown even when its comments can’t be read', async () => {
  wordpress.intercept = ({ url }) => (url.includes('/comments') ? restError(503, 'busy') : null);
  await refresh.document('articles', story);
  expect(createReader(store).articles({ limit: 5 }).total).toBe(1);
});

it('a restored story is shown before its comments arrive', async () => {
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const { promise: may, resolve: answer } = Promise.withResolvers<null>();
  wordpress.intercept = ({ url }) => {
    if (!url.includes('/comments')) return null;
    ask();
    return may;
  };
  const bringing = refresh.document('articles', story);
  await asked;
  expect(createReader(store).articles({ limit: 5 }).total).toBe(1);
  answer(null);
  await bringing;
  expect(shown()).toBe(comments.length);
});

it('a late delete of the story that a video was leaves no withdrawal of the video', async () => {
  const id = 7;
  wordpress.put('articles', { id, ...wirePost({ id }) });
  await refresh.document('articles', id);
  wordpress.remove('articles', id);
  wordpress.put('video', { id, ...wirePost({ id, type: 'video' }) });
  await refresh.document('video', id);
  const write = vi.spyOn(applier, 'write');
  await refresh.document('articles', id);
  expect(write).toHaveBeenCalledWith([{ kind: 'rejection-end', type: 'articles', id }], expect.anything());
  expect(createReader(store).videos({}).total).toBe(1);
});

it.each(['articles', 'comments'] as const)(
  'a withdrawal (%s) doesn’t wait for the pages of an earlier change',
  async (type) => {
    await refresh.document('articles', story);
    const id = type === 'articles' ? story : 10;
    pagesOf = () => new Promise(() => {});
    if (type === 'articles') wordpress.put(type, { id, ...wirePost({ id, title: { rendered: 'Edited' } }) });
    else wordpress.put(type, { id, ...wireComment({ id, post: story, content: { rendered: 'Edited' } }) });
    void refresh.document(type, id);
    const edited = () =>
      type === 'articles'
        ? createReader(store).articles({ limit: 1 }).items[0]?.title
        : createReader(store).comment(id)?.contentHtml;
    await vi.waitFor(() => expect(edited()).toContain('Edited'));
    wordpress.remove(type, id);
    void refresh.document(type, id);
    await vi.waitFor(() => expect(edited()).toBeUndefined());
  },
);

it('sections fetched before a change don’t replace those fetched after it', async () => {
  wordpress.put('categories', { id: 3, ...wireSection(3, 'politics', 1), name: 'Politics' });
  const gate = Promise.withResolvers<void>();
  let held = false;
  wordpress.intercept = async ({ url }) => {
    if (held || !url.includes('/categories')) return null;
    held = true;
    const before = Response.json([...wordpress.store.categories.values()], { headers: { 'X-WP-Total': '1' } });
    await gate.promise;
    return before;
  };
  const poll = refresh.sections();
  await vi.waitFor(() => expect(held).toBe(true));
  wordpress.put('categories', { id: 3, ...wireSection(3, 'politics', 1), name: 'Power' });
  const webhook = refresh.sections();
  await Promise.race([webhook, new Promise((resolve) => setTimeout(resolve, 200))]);
  gate.resolve();
  await Promise.all([poll, webhook]);
  expect(createReader(store).section('politics')?.name).toBe('Power');
});

it('a list of comments fetched before a moderator’s click doesn’t undo it', async () => {
  await refresh.document('articles', story);
  const [trashed, edited] = [10, 11];
  for (const id of comments) wordpress.put('comments', { id, ...wireComment({ id, post: story }) });
  const list = await client.get('/wp/v2/comments', { include: [trashed, edited] });
  wordpress.remove('comments', trashed);
  wordpress.put('comments', {
    id: edited,
    ...wireComment({ id: edited, post: story, content: { rendered: 'Edited' } }),
  });
  for (const id of [trashed, edited]) await refresh.document('comments', id);
  if (list.ok) await applier.comments(list.data as unknown[], list.fetched);
  expect(createReader(store).comment(trashed)).toBeNull();
  expect(createReader(store).comment(edited)?.contentHtml).toContain('Edited');
  wordpress.put('comments', { id: trashed, ...wireComment({ id: trashed, post: story }) });
  const later = await client.get('/wp/v2/comments', { include: [trashed] });
  if (later.ok) await applier.comments(later.data as unknown[], later.fetched);
  expect(createReader(store).comment(trashed)?.id).toBe(trashed);
});
