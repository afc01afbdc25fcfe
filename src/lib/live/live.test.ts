import { describe, expect, it } from 'vitest';
import { fixtureDocument } from '../../../tests/fixtures/content.ts';
import { openContentStore } from '../../content/store/content-store.server.ts';
import { createReader } from '../../content/store/reader.server.ts';
import { storeDocument } from '../../content/store/write.server.ts';
import type { AccessLevel, Article, LiveCoverage } from '../content/model.ts';
import { silent } from '../logging.ts';
import { jsonLdText, liveBlogPosting } from '../seo/structured-data.ts';
import { liveView, pageOfEntry, storyOfEntry } from './model.ts';

const site = 'https://sun.example';
const live: LiveCoverage = { state: 'live', started: '2026-11-25T15:00:00Z', ended: null };

/** A story with 45 entries, one of them pinned and two of them key events. */
function paper(coverage: LiveCoverage | null = live, access: AccessLevel = 'free') {
  const store = openContentStore({ file: ':memory:', origin: null, log: silent });
  let clock = 0;
  const fetched = () => ({ at: ++clock, clock: 0 });
  const facts = { access, words: 9, minutes: 1, ...(coverage && { live: coverage }) };
  storeDocument(store, fixtureDocument({ type: 'articles', id: 1, slug: 'vote', facts }), fetched());
  for (let id = 101; id <= 145; id++) {
    const date = `2026-11-25T15:${String(id - 100).padStart(2, '0')}:00Z`;
    const own = { story: 1, pinned: id === 120, keyEvent: id === 110 || id === 144 };
    const bodyHtml = `<p>Text <em>${id}</em> &amp; more </p>`;
    storeDocument(
      store,
      fixtureDocument({
        type: 'live-entries',
        id,
        title: id % 2 ? `E${id}` : '',
        date,
        modified: date,
        facts: own,
        bodyHtml,
      }),
      fetched(),
    );
  }
  const content = createReader(store);
  const article = content.article('vote') as Article;
  const view = (page = 1, variant: 'public' | 'full' = 'public') =>
    liveView(createReader(store), article, page, variant);
  return { content, article, view };
}

describe('the pages of a live story', () => {
  it('have 20 entries each, with pinned entries and key events only on the first', () => {
    const { view } = paper();
    const first = view();
    if (!first) throw new Error('no page');
    expect([first.entries.length, first.entries[0]?.id, first.pinned.map(({ id }) => id)]).toEqual([20, 145, [120]]);
    expect(first.keyEvents.map(({ id }) => id)).toEqual([144, 110]);
    expect([first.updated, first.place.next]).toEqual(['2026-11-25T15:45:00Z', '/article/vote/live?page=2']);
    const last = view(3);
    if (!last) throw new Error('no page');
    expect([last.entries.length, last.pinned, last.keyEvents, last.first]).toEqual([4, [], [], false]);
  });

  it('link to the previous and next page, and none exists past the last', () => {
    const { view } = paper();
    const places = [1, 2, 3].map((page) => view(page)?.place);
    expect(places.map((place) => [place?.previous, place?.next])).toEqual([
      [null, '/article/vote/live?page=2'],
      ['/article/vote', '/article/vote/live?page=3'],
      ['/article/vote/live?page=2', null],
    ]);
    expect([view(4), paper(null).view()]).toEqual([null, null]);
  });

  it('show no entry of a restricted story to readers without access', () => {
    const { view } = paper(live, 'subscriber');
    expect([view(), view(2)]).toEqual([null, null]);
    expect(view(1, 'full')).toMatchObject({ entries: { length: 20 } });
  });

  it('are found from the permanent address of an entry', () => {
    const { content } = paper();
    const page = (id: string) => {
      const found = storyOfEntry(content, id);
      return found && pageOfEntry(content, found.story.slug, found.entry);
    };
    expect([page('145'), page('120'), page('101')]).toEqual([
      '/article/vote#entry-145',
      '/article/vote#entry-120',
      '/article/vote/live?page=3#entry-101',
    ]);
    for (const none of ['999', '1', '0', '-1', 'x', '1e3', '99999999999999999999']) expect(page(none), none).toBeNull();
  });
});

describe('structured data of a live story', () => {
  it('is a LiveBlogPosting with the page’s entries while coverage is live', () => {
    const { article, view } = paper();
    const page = view();
    if (!page) throw new Error('no page');
    const data = liveBlogPosting(article, page.entries, site);
    expect(data).toMatchObject({
      '@context': 'https://schema.org',
      '@type': 'LiveBlogPosting',
      coverageStartTime: '2026-11-25T10:00:00-05:00',
      dateModified: '2026-11-25T10:45:00-05:00',
    });
    expect(data).not.toHaveProperty('coverageEndTime');
    const updates = data.liveBlogUpdate as Record<string, unknown>[];
    expect(updates).toHaveLength(20);
    expect(updates[0]).toEqual({
      '@type': 'BlogPosting',
      headline: 'E145',
      datePublished: '2026-11-25T10:45:00-05:00',
      dateModified: '2026-11-25T10:45:00-05:00',
      author: [{ '@type': 'Organization', name: 'The Sun', url: `${site}/` }],
      url: `${site}/article/vote/live/145`,
      articleBody: 'Text 145 & more',
    });
    for (const update of updates) expect([update.headline, update.articleBody]).not.toContain('');
  });

  it('has the end of coverage, omits entries that are not shown, and escapes </script', () => {
    const { article, view } = paper({ ...live, state: 'ended', ended: '2026-11-25T18:00:00Z' });
    expect(liveBlogPosting(article, [], site)).toMatchObject({ coverageEndTime: '2026-11-25T13:00:00-05:00' });
    expect(liveBlogPosting(article, [], site)).not.toHaveProperty('liveBlogUpdate');
    const page = view();
    if (!page) throw new Error('no page');
    const hostile = page.entries.map((entry) => ({ ...entry, title: '</script><script>alert(1)</script>' }));
    expect(jsonLdText(liveBlogPosting(article, hostile, site))).not.toContain('</script');
  });
});
