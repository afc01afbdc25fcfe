import { afterEach, describe, expect, it } from 'vitest';
import { fixtureDocument, fixtureStore } from '../../../tests/fixtures/content.ts';
import { silent } from '../../lib/logging.ts';
import { publication } from '../../publication.ts';
import { storeComment, withdrawComment } from './comments.server.ts';
import { type ContentStore, openContentStore } from './content-store.server.ts';
import { storeTopStories } from './navigation.server.ts';
import { createReader } from './reader.server.ts';
import { storeDocument, withdrawDocument } from './write.server.ts';

let store: ContentStore;
afterEach(() => store.close());
const fetched = { at: Number.MAX_SAFE_INTEGER - 1, clock: 0 };

describe('a content reader', () => {
  it('lists stories newest first, with totals, offsets and exclusions', () => {
    store = fixtureStore(8);
    const reader = createReader(store);
    const first = reader.articles({ limit: 3 });
    expect(first.total).toBe(80);
    expect(first.items.map(({ id }) => id)).toEqual([1080, 1079, 1078]);
    expect(reader.articles({ offset: 78, limit: 10 }).items.map(({ id }) => id)).toEqual([1002, 1001]);
    expect(reader.articles({ offset: 500 })).toEqual({ items: [], total: 80 });
    const rest = reader.articles({ exclude: [1080, 1078, 5], limit: 2 });
    expect(rest.total).toBe(78);
    expect(rest.items.map(({ id }) => id)).toEqual([1079, 1077]);
    expect(reader.articles({ limit: -3 }).items).toEqual([]);
    expect(reader.articles({ limit: Number.NaN }).items).toHaveLength(10);
  });

  it('lists stories oldest first if asked, in the order of the index', () => {
    store = fixtureStore(8);
    const reader = createReader(store);
    const oldest = reader.articles({ order: 'asc', limit: 3 });
    expect(oldest.total).toBe(80);
    expect(oldest.items.map(({ id }) => id)).toEqual([1001, 1002, 1003]);
    const last = reader.articles({ order: 'asc', section: 'politics', offset: 7, limit: 2 }).items;
    expect(last).toEqual(reader.articles({ section: 'politics', limit: 1 }).items);
    const plan = store
      .prepare("EXPLAIN QUERY PLAN SELECT l.id FROM listing l WHERE l.list = 'articles' ORDER BY l.date ASC, l.id ASC")
      .all();
    expect(plan.map(({ detail }) => detail)).not.toContainEqual(expect.stringContaining('TEMP B-TREE'));
  });

  it('filters stories by section, author and date, alone or combined', () => {
    store = fixtureStore(8);
    const reader = createReader(store);
    const politics = reader.articles({ section: 'politics', limit: 100 });
    expect(politics.total).toBe(8);
    expect(politics.items.every(({ section }) => section?.slug === 'politics')).toBe(true);
    expect(reader.articles({ authorId: 901 }).total).toBe(40);
    expect(reader.articles({ authorId: 902, section: 'politics' }).total).toBe(8);
    expect(reader.articles({ authorId: 901, section: 'politics' }).total).toBe(0);
    expect(reader.articles({ since: '2026-11-21T04:30:00-05:00' }).total).toBe(1);
    expect(reader.articles({ since: '2026-11-21T09:00:00Z' }).total).toBe(2);
    expect(reader.articles({ section: 'no-such-section' })).toEqual({ items: [], total: 0 });
    expect(() => reader.articles({ since: 'yesterday' })).toThrow(RangeError);
  });

  it('returns stories by ID in the requested order, without duplicates or unknown IDs', () => {
    store = fixtureStore(8);
    const reader = createReader(store);
    const found = reader.articles({ ids: [1003, 1080, 1003, 7, 1001] });
    expect(found.items.map(({ id }) => id)).toEqual([1003, 1080, 1001]);
    expect(found.total).toBe(3);
    expect(reader.articles({ ids: [] })).toEqual({ items: [], total: 0 });
    expect(reader.articles({ ids: [1003, 1080], exclude: [1003] }).total).toBe(1);
    // A missing article tags the page all the same: the page changes when the article appears.
    expect(reader.tags).toContain('card:7');
  });

  it('records the tags of what it returned', () => {
    store = fixtureStore(8);
    const reader = createReader(store);
    reader.articles({ section: 'politics', limit: 1 });
    expect([...reader.tags].sort()).toEqual(['byline:902', 'card:1077', 'navigation', 'section:politics']);
    const other = createReader(store);
    other.article('politics-story-77');
    expect([...other.tags].sort()).toEqual(['article:1077', 'byline:902', 'navigation', 'profile:902']);
    const none = createReader(store);
    expect(none.article('nothing')).toBeNull();
    expect([...none.tags]).toEqual(['slug:articles:nothing']);
  });

  it('returns the top stories, with the editors’ excerpt only for the story that it was written for', () => {
    store = fixtureStore(8);
    const chosen = createReader(store).topStories();
    expect(chosen.featured).toMatchObject({
      id: 1080,
      breaking: true,
      bulleted: true,
      featuredExcerpt: 'First point\nSecond point',
    });
    expect(chosen.others.map(({ id }) => id)).toEqual([1077, 1075]);
    expect(chosen.ids).toEqual([1080, 1077, 1075]);
    withdrawDocument(store, 1080, fetched);
    const moved = createReader(store).topStories();
    expect(moved.featured).toMatchObject({ id: 1077, breaking: false, bulleted: false });
    expect(moved.featured?.featuredExcerpt).toBe(moved.featured?.excerpt);
    storeTopStories(store, null);
    expect(createReader(store).topStories()).toEqual({ featured: null, others: [], ids: [] });
  });

  it('resolves a former address as moved, gone or unknown', () => {
    store = fixtureStore(1);
    const before = createReader(store).articles({ limit: 1 }).items[0];
    if (!before) throw new Error('no article');
    const renamed = fixtureDocument({ type: 'articles', id: before.id, slug: 'second' });
    storeDocument(store, renamed, fetched);
    const resolveSlug = (slug: string) => createReader(store).resolveSlug('articles', slug);
    expect(resolveSlug(before.slug)).toEqual({ kind: 'moved', slug: 'second' });
    storeDocument(store, { ...renamed, slug: 'third' }, fetched);
    expect(resolveSlug(before.slug)).toEqual({ kind: 'moved', slug: 'third' });
    withdrawDocument(store, before.id, fetched);
    expect(resolveSlug(before.slug)).toEqual({ kind: 'gone' });
    expect(resolveSlug('third')).toEqual({ kind: 'gone' });
    expect(resolveSlug('never-was')).toEqual({ kind: 'unknown' });
    storeDocument(store, { ...renamed, slug: 'third' }, fetched);
    expect(createReader(store).article('third')?.id).toBe(before.id);
    expect(resolveSlug('second')).toEqual({ kind: 'moved', slug: 'third' });
    // Another type's slug is another address.
    expect(createReader(store).resolveSlug('video', 'second')).toEqual({ kind: 'unknown' });
  });

  it('says whether a document exists, and records only its slug', () => {
    store = fixtureStore(1);
    storeDocument(store, fixtureDocument({ type: 'articles', id: 50, slug: 'one', title: 'Article' }), fetched);
    const reader = createReader(store);
    expect(reader.exists('articles', 'one')).toBe(true);
    expect(reader.exists('video', 'one')).toBe(false);
    expect([...reader.tags]).toEqual(['slug:articles:one', 'slug:video:one']);
    withdrawDocument(store, 50, fetched);
    expect(createReader(store).exists('articles', 'one')).toBe(false);
  });

  it('distinguishes an article and a video with the same slug', () => {
    store = fixtureStore(1);
    storeDocument(store, fixtureDocument({ type: 'articles', id: 50, slug: 'one', title: 'Article' }), fetched);
    storeDocument(store, fixtureDocument({ type: 'video', id: 51, slug: 'one', title: 'Video' }), fetched);
    const reader = createReader(store);
    expect([reader.article('one')?.title, reader.video('one')?.title]).toEqual(['Article', 'Video']);
  });

  it('finds a non-Latin slug, encoded or decoded', () => {
    store = fixtureStore(1);
    const slug = encodeURIComponent('سلام-دنيا').toLowerCase();
    storeDocument(store, fixtureDocument({ type: 'articles', id: 50, slug }), fetched);
    expect(createReader(store).article('سلام-دنيا')?.slug).toBe(slug);
    expect(createReader(store).article(slug)?.id).toBe(50);
    expect(createReader(store).article('100%')).toBeNull();
  });

  it('returns comments with their newest replies from every level', () => {
    store = fixtureStore(1);
    const reader = createReader(store);
    const { items, total } = reader.comments(1010, {});
    expect(total).toBe(1);
    expect(items[0]?.replies.total).toBe(5);
    expect(items[0]?.replies.recent.map(({ id }) => id)).toEqual([4, 5, 6]);
    const replies = reader.comments(1010, { parent: 1, order: 'asc', limit: 10 });
    expect(replies.items.map(({ id }) => id)).toEqual([2, 3, 4, 5, 6]);
    expect(replies.items.find(({ id }) => id === 6)?.parentId).toBe(2);
    expect(reader.comments(1010, { parent: 1, offset: 4 }).items.map(({ id }) => id)).toEqual([2]);
    expect(reader.tags).toContain('comments:1010');
    withdrawDocument(store, 1010, fetched);
    expect(createReader(store).comments(1010, {})).toEqual({ items: [], total: 0 });
  });

  it('keeps replies in their thread when they arrive before the comment that they answer', () => {
    store = fixtureStore(1);
    const comment = (id: number, parent: number) =>
      storeComment(store, {
        id,
        post: 1009,
        parent,
        author: 'A',
        contentHtml: '<p>x</p>',
        date: `2026-11-21T0${id % 10}:00:00Z`,
      });
    for (const [id, parent] of [
      [23, 22],
      [22, 21],
      [21, 0],
    ] as const)
      comment(id, parent);
    const reader = createReader(store);
    expect(reader.comments(1009, { parent: 21 }).total).toBe(2);
    expect(reader.comments(1009, {}).items[0]?.replies.total).toBe(2);
  });

  it('shows a comment that moves to another story only there, and invalidates both pages', () => {
    store = fixtureStore(1);
    const comment = (id: number, post: number, parent = 0) =>
      storeComment(store, { id, post, parent, author: 'A', contentHtml: '<p>x</p>', date: '2026-11-21T09:00:00Z' });
    comment(21, 1009);
    comment(22, 1009, 21);
    const total = (post: number): number => createReader(store).comments(post, {}).total;
    const [here, there] = [total(1009), total(1010)];
    expect([...comment(21, 1009)]).toEqual([]);
    expect([...comment(21, 1010)].sort()).toEqual(['comments:1009', 'comments:1010']);
    comment(22, 1010, 21);
    expect([total(1009), total(1010)]).toEqual([here - 1, there + 1]);
    expect(
      createReader(store)
        .comments(1010, { parent: 21 })
        .items.map(({ id }) => id),
    ).toEqual([22]);
  });

  it('keeps a chain of 3,000 replies in one thread, and survives a cycle', () => {
    store = fixtureStore(1);
    const comment = (id: number, parent: number) =>
      storeComment(store, {
        id,
        post: 1009,
        parent,
        author: 'A',
        contentHtml: '<p>x</p>',
        date: '2026-11-21T09:00:00Z',
      });
    for (let id = 5000; id < 8000; id++) comment(id, id === 5000 ? 0 : id - 1);
    // An answered comment is withdrawn and comes back: the roots of all replies are computed again.
    withdrawComment(store, 5001);
    expect(createReader(store).comments(1009, { parent: 5000 }).total).toBe(0);
    comment(5001, 5000);
    expect(createReader(store).comments(1009, { parent: 5000 }).total).toBe(2999);
    comment(21, 22);
    comment(22, 21);
    expect(createReader(store).comments(1009, {}).total).toBe(1);
  });

  it('lists videos, crosswords, authors and pages', () => {
    store = fixtureStore(1);
    const reader = createReader(store);
    expect(reader.videos({ limit: 2 })).toMatchObject({ total: 3, items: [{ id: 700 }, { id: 701 }] });
    expect(reader.videos({ section: 'politics' }).total).toBe(3);
    expect(reader.videos({ section: 'culture' }).total).toBe(0);
    expect(reader.crosswords({}).items.map(({ id }) => id)).toEqual([800, 801, 802]);
    expect(reader.authors().map(({ name }) => name)).toEqual(['Margaret Ellery', 'Thomas Okafor']);
    expect(reader.author('thomas-okafor')?.excerpt).toContain('economy');
    expect(reader.page('about')?.title).toBe('About');
    expect(reader.pages()).toHaveLength(8);
    expect(reader.menu('footer')).toEqual([{ title: 'About', href: '/about' }]);
  });

  it('shows the page of the site, and not a newer page below another one that has its slug', () => {
    store = fixtureStore(1);
    const child = {
      type: 'pages',
      id: 990,
      title: 'Child',
      modified: '2030-01-01T00:00:00Z',
      facts: { child: true },
    } as const;
    storeDocument(store, fixtureDocument({ ...child, slug: 'about' }), fetched);
    storeDocument(store, fixtureDocument({ ...child, id: 991, slug: 'only-below' }), fetched);
    const reader = createReader(store);
    expect([reader.page('about')?.title, reader.page('only-below')?.title]).toEqual(['About', 'Child']);
  });
});

describe('a content reader of an empty store', () => {
  it('returns the sections of the publication and nothing else', () => {
    store = openContentStore({ file: ':memory:', origin: null, log: silent });
    const reader = createReader(store);
    expect(reader.edition()).toEqual({ ready: false, syncedAt: null });
    expect(reader.sections().map(({ slug }) => slug)).toEqual(publication.sections.map(({ slug }) => slug));
    expect(reader.section('culture')).toMatchObject({ id: 0, label: 'Arts+', homepageCount: 12 });
    expect(reader.articles({ section: 'culture' })).toEqual({ items: [], total: 0 });
    expect(reader.articles({}).total).toBe(0);
    expect(reader.topStories().featured).toBeNull();
    expect(reader.search('anything').total).toBe(0);
  });
});
