import { describe, expect, it } from 'vitest';
import { type DocumentVersion, tagsOfDocument, tagsOfSections } from './changed-tags.ts';

const article: DocumentVersion = {
  id: 1,
  type: 'articles',
  slug: 'a',
  title: 'A',
  excerpt: 'E',
  image: null,
  authorId: 5,
  terms: [3],
  date: '2026-11-20T12:00:00Z',
  modified: '2026-11-20T12:00:00Z',
  facts: { access: 'default', minutes: 1 },
  bodyHash: 'x',
};
/** The article with other facts. */
const having = (facts: DocumentVersion['facts']): DocumentVersion => ({
  ...article,
  facts: { ...article.facts, ...facts },
});
const live = having({ live: { state: 'live', started: null, ended: null } });
const corrected = having({ corrections: [{ kind: 'correction', date: '2026-11-21T12:00:00Z', html: 'x' }] });
const episode = having({ sound: { podcast: 9, mark: 'a' } });
const byTwo = having({ byline: { authors: [5, 7], contributors: [], agency: null } });
const sectionSlug = (term: number): string | null => (term < 10 ? `s${term}` : null);
const everything = ['article:1', 'author:5', 'card:1', 'latest', 'search', 'section:s3', 'slug:articles:a'];

describe('tagsOfDocument', () => {
  const changed = (part: Partial<DocumentVersion>): DocumentVersion => ({
    ...article,
    ...part,
    modified: '2026-11-21T12:00:00Z',
  });
  const table: [what: string, before: DocumentVersion | null, after: DocumentVersion | null, tags: string[]][] = [
    ['no change', article, article, []],
    ['publication', null, article, everything],
    ['withdrawal', article, null, everything],
    ['a new modification date only', article, changed({}), ['article:1']],
    ['an edit of the body', article, changed({ bodyHash: 'y' }), ['article:1', 'search']],
    ['a new headline', article, changed({ title: 'B' }), ['article:1', 'card:1', 'search']],
    ['a new picture', article, changed({ image: '{}' }), ['article:1', 'card:1']],
    ['a new access level', article, changed(having({ access: 'subscriber' })), ['article:1', 'card:1', 'search']],
    ['live coverage that begins', article, changed(live), ['article:1', 'card:1', 'search']],
    [
      'live coverage that ends',
      live,
      changed(having({ live: { state: 'ended', started: null, ended: null } })),
      ['article:1', 'card:1'],
    ],
    ['a new correction', article, changed(corrected), ['article:1', 'corrections']],
    ['a removed correction', corrected, changed({}), ['article:1', 'corrections']],
    ['a new recording in a series', article, changed(episode), ['article:1', 'episodes:9']],
    [
      'a recording that moves to another series',
      episode,
      changed(having({ sound: { podcast: 8, mark: 'b' } })),
      ['article:1', 'episodes:8', 'episodes:9'],
    ],
    ['an edit of an episode’s text', episode, changed({ ...episode, bodyHash: 'y' }), ['article:1', 'search']],
    [
      'a new date of an episode',
      episode,
      changed({ ...episode, date: '2026-11-19T12:00:00Z' }),
      ['article:1', 'author:5', 'card:1', 'episodes:9', 'latest', 'section:s3'],
    ],
    ['a new series', null, { ...article, type: 'podcasts' }, ['podcast:1', 'podcasts', 'slug:podcasts:a']],
    [
      'a new description of a series',
      { ...article, type: 'podcasts' },
      changed({ type: 'podcasts', bodyHash: 'y' }),
      ['podcast:1'],
    ],
    ['the withdrawal of a corrected story', corrected, null, [...everything, 'corrections'].sort()],
    ['an edit of a corrected story without a new correction', corrected, changed(corrected), ['article:1']],
    ['closed comments', article, changed(having({ commentsOpen: false })), ['article:1']],
    [
      'a different section',
      article,
      changed({ terms: [4] }),
      ['article:1', 'card:1', 'search', 'section:s3', 'section:s4'],
    ],
    ['an additional section', article, changed({ terms: [3, 4] }), ['article:1', 'card:1', 'search', 'section:s4']],
    ['a category that is not a section', article, changed({ terms: [3, 40] }), ['article:1', 'card:1', 'search']],
    [
      'a different author',
      article,
      changed({ authorId: 6 }),
      ['article:1', 'author:5', 'author:6', 'card:1', 'search'],
    ],
    ['an additional author', article, changed(byTwo), ['article:1', 'author:7', 'card:1', 'search']],
    [
      'a new date of a story by two authors',
      byTwo,
      changed({ ...byTwo, date: '2026-11-19T12:00:00Z' }),
      ['article:1', 'author:5', 'author:7', 'card:1', 'latest', 'section:s3'],
    ],
    ['a new slug', article, changed({ slug: 'b' }), ['article:1', 'card:1', 'slug:articles:a', 'slug:articles:b']],
    [
      'a new date',
      article,
      changed({ date: '2026-11-19T12:00:00Z' }),
      ['article:1', 'author:5', 'card:1', 'latest', 'section:s3'],
    ],
    ['an edited video', { ...article, type: 'video' }, { ...changed({ bodyHash: 'y' }), type: 'video' }, ['video:1']],
    [
      'a video in another section',
      { ...article, type: 'video' },
      { ...changed({ terms: [4] }), type: 'video' },
      ['video:1', 'videos'],
    ],
    ['a new video', null, { ...article, type: 'video' }, ['slug:video:a', 'video:1', 'videos']],
    ['a new crossword', null, { ...article, type: 'crosswords' }, ['crossword:1', 'crosswords', 'slug:crosswords:a']],
    ['an edited page', { ...article, type: 'pages' }, { ...changed({ bodyHash: 'y' }), type: 'pages' }, ['page:a']],
    [
      'a renamed page',
      { ...article, type: 'pages' },
      { ...changed({ title: 'B' }), type: 'pages' },
      ['page:a', 'pages'],
    ],
    [
      'a new biography of an author',
      { ...article, type: 'authors' },
      { ...changed({ excerpt: 'F' }), type: 'authors' },
      ['profile:1'],
    ],
    [
      'a new name of an author',
      { ...article, type: 'authors' },
      { ...changed({ title: 'B' }), type: 'authors' },
      ['authors', 'byline:1', 'profile:1', 'search'],
    ],
  ];
  it.each(table)('returns the affected tags: %s', (_what, before, after, tags) => {
    expect([...tagsOfDocument(before, after, sectionSlug)].sort()).toEqual(tags);
  });

  it('includes the front page’s tag when one of its stories is published or withdrawn, not edited', () => {
    expect(tagsOfDocument(article, null, sectionSlug, [1, 2])).toContain('top-stories');
    expect(tagsOfDocument(null, article, sectionSlug, [1, 2])).toContain('top-stories');
    expect(tagsOfDocument(article, changed({ title: 'B' }), sectionSlug, [1, 2])).not.toContain('top-stories');
  });
});

describe('tagsOfSections', () => {
  const section = {
    id: 3,
    slug: 'politics',
    name: 'Politics',
    label: 'Politics',
    homepageCount: 4,
    showInMedia: true,
    position: 1,
    color: 'default' as const,
  };
  it('returns no tags when nothing changed', () => expect([...tagsOfSections([section], [section])]).toEqual([]));
  it('returns the tags of the navigation and the changed section, under its old and new slug', () => {
    expect([...tagsOfSections([section], [{ ...section, label: 'Power' }])]).toEqual([
      'navigation',
      'section:politics',
    ]);
    expect([...tagsOfSections([section], [])]).toEqual(['navigation', 'section:politics']);
    expect([...tagsOfSections([section], [{ ...section, slug: 'power' }])]).toEqual([
      'navigation',
      'section:politics',
      'section:power',
    ]);
  });
  it('ignores categories that are not sections', () => {
    expect([...tagsOfSections([], [{ ...section, position: null }])]).toEqual([]);
  });
});
