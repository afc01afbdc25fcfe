/** Withdrawals ahead of the content log: the requests to WordPress, what is applied, and what the log gets afterward. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { contentOf } from '../../../tests/fixtures/open-content.ts';
import {
  type FakeWordPress,
  fakeWordPress,
  type Json,
  restError,
  wireComment,
  wirePost,
  wireSection,
} from '../../../tests/fixtures/wordpress.ts';
import { publication } from '../../publication.ts';
import type { Content, ContentChange } from '../service.ts';
import { type ContentEntry, entryName } from '../store/entries.server.ts';

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
const sections = [
  [51, 'politics', 1],
  [52, 'money', 2],
  [53, 'opinion', 3],
] as const;
const comment = (id: number, part: Json = {}): Json =>
  wordpress.put('comments', { id, ...wireComment({ id, post: 1, ...part }) });
/** The comments under a story, each with its replies. */
const shownComments = (): string[] =>
  content
    .reader()
    .comments(1, { order: 'asc' })
    .items.flatMap(({ id, contentHtml, replies }) => [
      `${id} ${contentHtml}`,
      ...replies.recent.map((reply) => `${id}/${reply.id}`),
    ]);
const shownSections = (): string[] =>
  content
    .reader()
    .sections()
    .map(({ slug, label }) => `${slug} ${label}`);
const requests = (): string[] => wordpress.requests.splice(0).map((each) => each.replace(/\?.*/u, ''));
const title = (id: number) => content.reader().article(`a-${id}`)?.title;

beforeEach(async () => {
  wordpress = fakeWordPress();
  changes = [];
  log = [];
  for (let id = 1; id <= 5; id++) put(id);
  for (const [id, slug, position] of sections) wordpress.put('categories', { id, ...wireSection(id, slug, position) });
  wordpress.put('authors', { id: 90, ...wirePost({ id: 90, slug: 'ada' }) });
  for (const id of [11, 12, 13]) comment(id);
  comment(14, { parent: 11 });
  content = contentOf(wordpress, {
    wordpress: { url: wordpress.url },
    onChange: (change) => void changes.push(change),
    contentLog: {
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

it('a cut-off node asks for each changed document once, and leaves plain edits to the content log', async () => {
  const before = content.followed.revision();
  put(1, { title: { rendered: 'A plain edit' } });
  delivered(1);
  delivered(1);
  // Not in the content store, or not a document.
  delivered(99);
  delivered(98, 'comment', 'comments');
  delivered(7, 'menu', 'menus');
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

it('a cut-off node reads all changes when there are more than a hundred', async () => {
  for (let count = 0; count < 205; count++) delivered(1);
  wordpress.remove('articles', 4);
  delivered(4, 'delete');
  expect(await content.withdrawMissed(60, signal)).toBe(1);
  expect(requests().filter((path) => path.endsWith('/changes'))).toHaveLength(3);
  expect(title(4)).toBeUndefined();
});

it('a cut-off node asks again for a document that WordPress could not deliver, and withdraws the others', async () => {
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

it('a plugin without the route for changes causes an error that says to update it, and nothing is withdrawn', async () => {
  wordpress.changes = null;
  put(2, { status: 'draft' });
  await expect(content.withdrawMissed(60, signal)).rejects.toThrow('update the newsroom plugin');
  expect(title(2)).toBe('Headline 2');
});

it('after a cut-off, the node’s next append to the content log has its withdrawals and the tag of every page', async () => {
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
  // This node may have appended an edit before the withdrawal, so the withdrawal is dated after all of the node's requests
  // until then.
  const times = (appends: readonly Append[]) =>
    appends.flatMap(({ entries }) => entries.map((entry) => ('fetched' in entry && entry.fetched?.at) || 0));
  expect(Math.min(...times([first as Append]))).toBeGreaterThan(Math.max(...times(log.slice(0, before))));
  expect(content.followed.ahead()).toEqual([]);
  expect([title(2), content.reader().article('a-3')?.access]).toEqual([undefined, 'subscriber']);
  await content.refresh('articles', 5);
  expect(log.at(-1)?.tags.has('site')).toBe(false);
});

it('a later entry of the content log overrides a cut-off node’s withdrawal, even if the nodes’ clocks differ', async () => {
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

describe('comments, sections and authors on a cut-off node', () => {
  it('a removed or held comment is withdrawn with its replies; an edited one waits for the content log', async () => {
    expect(shownComments()).toEqual(['11 <p>Comment 11</p>', '11/14', '12 <p>Comment 12</p>', '13 <p>Comment 13</p>']);
    wordpress.remove('comments', 11);
    comment(12, { status: 'hold' });
    comment(13, { content: { rendered: '<p>Edited</p>' } });
    for (const id of [11, 12, 13]) delivered(id, 'comment', 'comments');
    expect(await content.withdrawMissed(60, signal)).toBe(2);
    expect(shownComments()).toEqual(['13 <p>Comment 13</p>']);
    expect(changes.map(({ tags }) => [...tags])).toEqual([['comments:1'], ['comments:1']]);
    expect(content.followed.ahead()).toEqual([
      { type: 'comments', id: 11 },
      { type: 'comments', id: 12 },
    ]);
    wordpress.clockAhead = 5;
    for (const id of [11, 12, 13]) await content.refresh('comments', id);
    expect(shownComments()).toEqual(['13 <p>Edited</p>']);
    expect(content.followed.ahead()).toEqual([]);
  });

  it('a section that is deleted or left out of the navigation is withdrawn; a new name waits for the content log', async () => {
    wordpress.remove('categories', 51);
    wordpress.put('categories', { id: 52, ...wireSection(52, 'money', null) });
    wordpress.put('categories', { id: 53, ...wireSection(53, 'opinion', 3), name: 'Views' });
    for (const id of [51, 52, 53]) delivered(id, 'term', 'categories');
    expect(await content.withdrawMissed(60, signal)).toBe(1);
    expect(requests()).toEqual(['/newsroom/v1/changes', '/wp/v2/categories']);
    expect(shownSections()).toEqual(['opinion Opinion']);
    expect(changes.map(({ tags }) => [...tags].sort())).toEqual([['navigation', 'section:money', 'section:politics']]);
    expect(content.followed.ahead()).toEqual([{ type: 'sections', id: 0 }]);
    wordpress.clockAhead = 5;
    await content.refresh('sections', 0);
    expect(shownSections()).toEqual(['opinion Views']);
    expect(content.followed.ahead()).toEqual([]);
  });

  it('a deleted section that makes its stories paid waits for the content log, since they would be free without it', async () => {
    const rules = publication.access.sections as Record<string, 'subscriber'>;
    rules.money = 'subscriber';
    try {
      wordpress.remove('categories', 51);
      wordpress.remove('categories', 52);
      delivered(51, 'term', 'categories');
      expect(await content.withdrawMissed(60, signal)).toBe(1);
      expect(shownSections()).toEqual(['money Money', 'opinion Opinion']);
    } finally {
      delete rules.money;
    }
  });

  it('the page of a deleted author is withdrawn, even if the author is known only from a story', async () => {
    put(5, { acf: { author: { id: 91, slug: 'byron', name: 'Byron' } } });
    await content.refresh('articles', 5);
    const names = () => ['ada', 'byron'].map((slug) => content.reader().author(slug)?.name);
    expect(names()).toEqual(['Headline 90', 'Byron']);
    wordpress.remove('authors', 90);
    for (const id of [90, 91]) delivered(id, 'trash', 'authors');
    expect(await content.withdrawMissed(60, signal)).toBe(2);
    expect(names()).toEqual([undefined, undefined]);
    expect(changes.flatMap(({ withdrawn }) => withdrawn.map(({ slug }) => slug))).toEqual(['ada', 'byron']);
  });
});

it('a log entry fetched from WordPress before the withdrawal does not undo it; one fetched later does', async () => {
  const written = log.flatMap((append) => append.entries);
  const entries = ['document 2', 'comment 12'].map((name) =>
    written.findLast((entry) => Object.values(entryName(entry)).join(' ') === name),
  );
  put(2, { status: 'draft' });
  wordpress.remove('comments', 12);
  delivered(2, 'unpublish');
  delivered(12, 'comment', 'comments');
  const clock = Math.floor(Date.now() / 1000) + 2;
  wordpress.clockAhead = 5;
  await content.withdrawMissed(60, signal);
  const shown = () => [title(2), shownComments().some((each) => each.startsWith('12'))];
  expect(shown()).toEqual([undefined, false]);
  // Another node has fetched it again before the withdrawal, with a clock that is an hour fast.
  const dated = (seconds: number) =>
    entries.map((entry) => ({ ...entry, fetched: { at: Date.now() + 3_600_000 + seconds, clock: clock + seconds } }));
  await content.followed.apply(dated(0) as ContentEntry[], log.length + 1, new Set());
  expect(shown()).toEqual([undefined, false]);
  expect(content.followed.ahead()).toHaveLength(2);
  // WordPress has published both again.
  await content.followed.apply(dated(600) as ContentEntry[], log.length + 2, new Set());
  expect(shown()).toEqual(['Headline 2', true]);
  expect(content.followed.ahead()).toEqual([]);
});

it('a log entry from the same second does not undo a withdrawal; neither is appended, and the next fetch decides', async () => {
  const written = log.flatMap((append) => append.entries);
  const entry = written.findLast((each) => Object.values(entryName(each)).join(' ') === 'document 2');
  put(2, { status: 'draft' });
  delivered(2, 'unpublish');
  const clock = Math.floor(Date.now() / 1000) + 100;
  wordpress.intercept = async (request) => {
    if (!request.url.endsWith('/articles/2')) return null;
    wordpress.intercept = null;
    const response = await wordpress.handle(request);
    response.headers.set('Date', new Date(clock * 1000).toUTCString());
    return response;
  };
  await content.withdrawMissed(60, signal);
  const same = { ...entry, fetched: { at: Date.now() + 3_600_000, clock } } as ContentEntry;
  await content.followed.apply([same], log.length + 1, new Set());
  expect(title(2)).toBeUndefined();
  const before = log.length;
  await content.refresh('articles', 5);
  expect(log[before]?.entries.map((each) => entryName(each).id)).toEqual(['5']);
  expect(log[before]?.tags.has('site')).toBe(true);
  // Fetched by this node after WordPress's answer, whatever WordPress's clock says now.
  put(2);
  await content.refresh('articles', 2);
  expect(title(2)).toBe('Headline 2');
  expect(content.followed.ahead()).toEqual([]);
});

describe('sections from the content log that are older than this node’s', () => {
  type SectionsEntry = Extract<ContentEntry, { kind: 'sections' }>;
  const rules = publication.access.sections as Record<string, 'subscriber'>;
  afterEach(() => {
    delete rules.premium;
  });
  const logged = (name: string): ContentEntry => {
    const entry = log
      .flatMap(({ entries }) => entries)
      .findLast((each) => Object.values(entryName(each)).join(' ') === name);
    if (!entry) throw new Error(`The log has no ${name}.`);
    return entry;
  };
  /** The log's sections with `premium` among them. @param id of the term, which may have had another slug before */
  const withPremium = (id: number): SectionsEntry['sections'] => {
    const { sections: known } = logged('sections ') as SectionsEntry;
    const [first] = known;
    if (!first) throw new Error('The log has no sections.');
    return [...known.filter((each) => each.id !== id), { ...first, id, slug: 'premium', name: 'Premium', position: 9 }];
  };
  /** The node asks WordPress for withdrawals, and WordPress answers at `second`. */
  const askAt = async (second: number): Promise<void> => {
    wordpress.intercept = async (request) => {
      if (!request.url.includes('/categories')) return null;
      wordpress.intercept = null;
      const response = await wordpress.handle(request);
      response.headers.set('Date', new Date(second * 1000).toUTCString());
      return response;
    };
    await content.withdrawMissed(60, signal);
  };
  const clock = Math.floor(Date.now() / 1000) + 100;

  it.each([
    ['fetched in an earlier second', clock - 5],
    ['fetched in the same second', clock],
  ])('add a section that makes its stories paid, but do not restore the deleted one: %s', async (_, answered) => {
    rules.premium = 'subscriber';
    // An editor adds a paid section, moves a free story into it and deletes another section; the holder logs it.
    const fetched = { at: Date.now() + 3_600_000, clock: answered };
    const list: ContentEntry = { kind: 'sections', sections: withPremium(54), fetched };
    const { document } = logged('document 1') as Extract<ContentEntry, { kind: 'document' }>;
    const moved: ContentEntry = { kind: 'document', document: { ...document, terms: [54] }, fetched };
    wordpress.remove('categories', 51);
    delivered(51, 'term', 'categories');
    await askAt(clock);
    await content.followed.apply([list, moved], log.length + 1, new Set());
    expect(content.reader().article('a-1')?.access).toBe('subscriber');
    expect(shownSections()).toEqual(['money Money', 'opinion Opinion', 'premium Politics']);
    expect(content.followed.ahead()).toEqual([{ type: 'sections', id: 0 }]);
    // This node's list lacks sections that WordPress has, so it isn't appended.
    const before = log.length;
    await content.refresh('articles', 5);
    expect(log[before]?.entries.map(({ kind }) => kind)).toEqual(['document']);
    wordpress.put('categories', { id: 54, ...wireSection(54, 'premium', 9) });
    await content.refresh('sections', 0);
    expect(shownSections()).toEqual(['money Money', 'opinion Opinion', 'premium Premium']);
    expect(content.followed.ahead()).toEqual([]);
  });

  it('restore a removed section that has since become paid', async () => {
    rules.premium = 'subscriber';
    const list: ContentEntry = {
      kind: 'sections',
      sections: withPremium(51),
      fetched: { at: Date.now() + 3_600_000, clock: clock - 5 },
    };
    wordpress.remove('categories', 51);
    delivered(51, 'term', 'categories');
    await askAt(clock);
    expect(shownSections()).toEqual(['money Money', 'opinion Opinion']);
    await content.followed.apply([list], log.length + 1, new Set());
    expect(shownSections().map((each) => each.split(' ')[0])).toEqual(['money', 'opinion', 'premium']);
  });

  it('do not restore a section that was removed, restored and removed again', async () => {
    const restored = { ...logged('sections '), fetched: { at: Date.now() + 3_600_000, clock: clock + 5 } };
    wordpress.remove('categories', 51);
    delivered(51, 'term', 'categories');
    await askAt(clock);
    wordpress.remove('categories', 52);
    delivered(52, 'term', 'categories');
    await askAt(clock + 2);
    // Restored at `clock + 5`, when the holder fetched the list, and removed again.
    delivered(51, 'term', 'categories');
    await askAt(clock + 10);
    await content.followed.apply([restored as ContentEntry], log.length + 1, new Set());
    expect(shownSections()).toEqual(['opinion Opinion']);
  });

  it('are appended without the removed section if this node requested them before the removal', async () => {
    wordpress.put('categories', { id: 54, ...wireSection(54, 'premium', 9) });
    const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    wordpress.intercept = async (request) => {
      if (!request.url.includes('/categories')) return null;
      wordpress.intercept = null;
      const response = await wordpress.handle(request);
      asked.resolve();
      await answer.promise;
      return response;
    };
    const refreshed = content.refresh('sections', 0);
    await asked.promise;
    wordpress.remove('categories', 51);
    delivered(51, 'term', 'categories');
    await content.withdrawMissed(60, signal);
    const before = log.length;
    answer.resolve();
    await refreshed;
    const [list] = log.slice(before).flatMap(({ entries }) => entries.filter(({ kind }) => kind === 'sections'));
    expect((list as SectionsEntry | undefined)?.sections.map(({ slug }) => slug)).toEqual([
      'money',
      'opinion',
      'premium',
    ]);
    expect(shownSections()).toEqual(['money Money', 'opinion Opinion', 'premium Premium']);
  });
});

it('a second withdrawal of the same document moves its time to WordPress’s later answer', async () => {
  put(2, { status: 'draft' });
  wordpress.remove('comments', 12);
  delivered(2, 'unpublish');
  delivered(12, 'comment', 'comments');
  expect(await content.withdrawMissed(60, signal)).toBe(2);
  // Published again and withdrawn again; the log has the version in between.
  const between = { at: Date.now() + 3_600_000, clock: Math.floor(Date.now() / 1000) + 50 };
  delivered(2, 'unpublish');
  delivered(12, 'comment', 'comments');
  wordpress.clockAhead = 100;
  expect(await content.withdrawMissed(60, signal)).toBe(0);
  const written = log.flatMap((append) => append.entries);
  const entries = ['document 2', 'comment 12'].map((name) =>
    written.findLast((entry) => Object.values(entryName(entry)).join(' ') === name),
  );
  const dated = entries.map((entry) => ({ ...entry, fetched: between }) as ContentEntry);
  await content.followed.apply(dated, log.length + 1, new Set());
  expect([title(2), shownComments().length]).toEqual([undefined, 3]);
});
