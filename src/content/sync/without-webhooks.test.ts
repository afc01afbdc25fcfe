import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { wireComment, wirePost, wireSection } from '../../../tests/fixtures/wordpress.ts';
import { changes, content, fillWordPress, put, start, total, wordpress } from '../../../tests/world/sync.ts';

const tags = (): string[] => [...new Set(changes.flatMap((change) => [...change.tags]))].sort();

beforeEach(fillWordPress);
afterEach(() => content.stop());

describe('following WordPress without webhooks', () => {
  beforeEach(async () => {
    start();
    await content.syncNow();
    changes.length = 0;
  });

  it('finds an edit and invalidates only the tags that show it', async () => {
    put(7, { content: { rendered: '<p>Corrected.</p>' }, modified_gmt: '2026-11-21T11:00:00' });
    await content.syncNow();
    expect(content.reader().article('a-7')?.bodyHtml).toBe('<p>Corrected.</p>');
    expect(tags()).toEqual(['article:7', 'search']);
  });

  it('requests no article when nothing changed', async () => {
    wordpress.requests.length = 0;
    await content.syncNow();
    expect(
      wordpress.requests.filter((path) => path.startsWith('/wp/v2/articles') && !path.includes('_fields')),
    ).toEqual([]);
    expect(changes).toEqual([]);
  });

  it('withdraws deleted, unpublished and password-protected documents', async () => {
    wordpress.remove('articles', 7);
    put(8, { status: 'draft' });
    put(9, { content: { rendered: '', protected: true }, modified_gmt: '2026-11-21T11:00:00' });
    await content.syncNow();
    expect(total()).toBe(127);
    expect(
      changes
        .flatMap(({ withdrawn }) => withdrawn)
        .map(({ slug }) => slug)
        .sort(),
    ).toEqual(['a-7', 'a-8', 'a-9']);
    expect(content.reader().resolveSlug('articles', 'a-8')).toEqual({ kind: 'gone' });
    put(8, { modified_gmt: '2026-11-21T11:30:00' });
    await content.syncNow();
    expect(content.reader().article('a-8')?.id).toBe(8);
  });

  it('finds a new slug and redirects the old one to it', async () => {
    put(7, { slug: 'better', modified_gmt: '2026-11-21T11:00:00' });
    await content.syncNow();
    expect(content.reader().resolveSlug('articles', 'a-7')).toEqual({ kind: 'moved', slug: 'better' });
  });

  it('finds a scheduled story that appeared without being modified', async () => {
    put(500, { date_gmt: '2026-11-21T11:00:00', modified_gmt: '2026-10-01T00:00:00' });
    await content.syncNow();
    expect(content.reader().articles({ limit: 1 }).items[0]?.id).toBe(500);
  });

  it('finds a second edit within one second', async () => {
    // However long the first sync takes, the second one starts in the same second.
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const modified = new Date(Date.now() + 60_000).toISOString().slice(0, 19);
    wordpress.clockAhead = 60;
    put(7, { title: { rendered: 'First' }, modified_gmt: modified });
    await content.syncNow();
    put(7, { title: { rendered: 'Second' }, modified_gmt: modified });
    await content.syncNow();
    expect(content.reader().article('a-7')?.title).toBe('Second');
  });

  it('finds new, changed and removed comments, and changed sections and menus', async () => {
    for (const id of [1, 2, 3]) wordpress.put('comments', { id, ...wireComment({ id, post: 130 }) });
    wordpress.menus = [
      {
        location: 'footer',
        items: [
          { title: 'A &amp; B', url: `${wordpress.url}/about/` },
          { title: 'x', url: 'javascript:x' },
          { title: 'A draft', url: `${wordpress.url}/?page_id=7` },
          { title: 'A place of no page', url: '#top' },
          { title: ' <b></b> ', url: `${wordpress.url}/masthead/` },
        ],
      },
    ];
    await content.syncNow();
    expect(content.reader().comments(130, {}).total).toBe(3);
    expect(content.reader().menu('footer')).toEqual([{ title: 'A & B', href: '/about' }]);
    wordpress.remove('comments', 2);
    wordpress.put('comments', { id: 3, ...wireComment({ id: 3, post: 130, status: 'hold' }) });
    wordpress.put('comments', { id: 1, ...wireComment({ id: 1, post: 130, content: { rendered: '<p>Edited</p>' } }) });
    const politics = wireSection(3, 'politics', 1);
    const newsroom = { ...(politics.newsroom as object), former_slugs: ['Policy', 'politics'] };
    wordpress.put('categories', { ...politics, id: 3, name: 'Power', newsroom });
    await content.syncNow();
    expect(content.reader().formerSection('policy')?.id).toBe(3);
    expect(content.reader().formerSection('politics')).toBeNull();
    expect(
      content
        .reader()
        .comments(130, {})
        .items.map(({ contentHtml }) => contentHtml),
    ).toEqual(['<p>Edited</p>']);
    expect(content.reader().section('politics')?.label).toBe('Power');
    expect(tags()).toEqual(['comments:130', 'navigation', 'section:politics']);
  });

  it('withdraws a page at once when its article is no longer free', async () => {
    put(7, { access: 'subscriber', modified_gmt: '2026-11-21T11:00:00' });
    await content.syncNow();
    expect(changes.flatMap(({ withdrawn }) => withdrawn)).toEqual([{ type: 'articles', slug: 'a-7' }]);
    expect(content.reader().article('a-7')?.access).toBe('subscriber');
  });

  it('withdraws a page when its article needs a higher access level, and not when it needs a lower one', async () => {
    const steps = ['default', 'free', 'registered', 'subscriber', 'registered', 'default'] as const;
    const gone: boolean[] = [];
    for (const [step, access] of steps.entries()) {
      changes.length = 0;
      put(7, { access, modified_gmt: `2026-11-21T11:0${step}:00` });
      await content.syncNow();
      gone.push(changes.some(({ withdrawnTags = [] }) => withdrawnTags.includes('article:7')));
    }
    expect(gone).toEqual([false, false, true, true, false, false]);
  });

  it('empties the top stories when the WordPress page that lists them is deleted', async () => {
    wordpress.put('pages', { id: 601, ...wirePost({ id: 601, slug: 'top-stories-2', acf: { top_articles: [2] } }) });
    await content.syncNow();
    expect(content.reader().topStories().ids).toEqual([2]);
    wordpress.remove('pages', 601);
    await content.syncNow();
    expect(content.reader().topStories().ids).toEqual([]);
  });
});

describe('a requested poll', () => {
  const corrected = (): void => {
    // The polls resume by WordPress's clock, which is the machine's here.
    const modified_gmt = new Date(Date.now() + 60_000).toISOString().slice(0, 19);
    put(7, { content: { rendered: '<p>Corrected.</p>' }, modified_gmt });
    content.pollNow();
  };
  const found = (): Promise<void> =>
    vi.waitFor(() => expect(content.reader().article('a-7')?.bodyHtml).toBe('<p>Corrected.</p>'));

  it('runs at once', async () => {
    start({ pollSeconds: 3600 }).start();
    await vi.waitFor(() => expect(content.status().phase).toBe('following'));
    corrected();
    await found();
  });

  it('runs after the poll in progress, which may have fetched too early', async () => {
    start({ pollSeconds: 3600 });
    await content.syncNow();
    let asked = false;
    // The last request of a round.
    wordpress.intercept = ({ url }) => {
      if (!asked && url.includes('/wp/v2/comments?orderby=id')) {
        asked = true;
        corrected();
      }
      return null;
    };
    content.start();
    await found();
  });
});
