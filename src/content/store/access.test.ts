import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fixtureDocument } from '../../../tests/fixtures/content.ts';
import { silent } from '../../lib/logging.ts';
import { publication } from '../../publication.ts';
import type { IngestedDocument, IngestedSection } from '../ingest/document.ts';
import { updateRestrictedSections } from './access.server.ts';
import { type ContentStore, openContentStore } from './content-store.server.ts';
import { storeSections } from './navigation.server.ts';
import { createReader } from './reader.server.ts';
import { sectionTable } from './rows.server.ts';
import { storeDocument } from './write.server.ts';

const rules = publication.access.sections as Record<string, 'free' | 'registered' | 'subscriber'>;
const section = (id: number, slug: string, position: number | null = id): IngestedSection => ({
  id,
  slug,
  name: slug,
  label: slug,
  homepageCount: 4,
  showInMedia: true,
  position,
  color: 'default',
});
const opening = 'The bridge was opened on a Sunday, and nobody had told the ferry.';
const rest = 'Behind the wall stands a heliotrope.';

let store: ContentStore;
let clock = 0;
beforeEach(() => {
  store = openContentStore({ file: ':memory:', origin: null, log: silent });
  storeSections(store, [section(1, 'politics'), section(2, 'columnists')]);
});
afterEach(() => {
  store.close();
  for (const slug of Object.keys(rules)) delete rules[slug];
});

function put(part: Partial<IngestedDocument> & { access?: 'default' | 'free' | 'registered' | 'subscriber' }) {
  const { access = 'default', ...more } = part;
  const base = fixtureDocument({
    type: 'articles',
    id: 7,
    slug: 'bridge',
    title: 'A bridge',
    excerpt: 'It was opened.',
  });
  const document: IngestedDocument = {
    ...base,
    facts: { ...base.facts, access },
    bodyHtml: `<p>${opening}</p><p>${rest}</p>`,
    openingHtml: `<p>${opening}</p>`,
    searchText: `${opening} ${rest}`,
    terms: [1],
    ...more,
  };
  return storeDocument(store, document, { at: ++clock, clock: 0 });
}
const reader = () => createReader(store);
const found = (): number => reader().search('heliotrope').total;

describe('access rules', () => {
  it.each(['registered', 'subscriber'] as const)(
    'a story for %s readers is found only by the words of its free opening',
    (access) => {
      put({ access });
      expect(found()).toBe(0);
      expect(reader().search('ferry').total).toBe(1);
    },
  );

  it('a story that becomes paid, with its text unchanged, is no longer found by its paid part', () => {
    put({});
    expect(found()).toBe(1);
    expect(put({ access: 'subscriber' }).tags).toContain('search');
    expect(found()).toBe(0);
    put({ access: 'free' });
    expect(found()).toBe(1);
  });

  it('a story has the access level of its sections, unless it has its own', () => {
    rules.columnists = 'subscriber';
    updateRestrictedSections(store);
    put({ terms: [1] });
    expect([reader().article('bridge')?.access, found()]).toEqual(['default', 1]);
    put({ terms: [1, 2] });
    expect([reader().article('bridge')?.access, found()]).toEqual(['subscriber', 0]);
    expect(reader().articles({}).items[0]?.access).toBe('subscriber');
    put({ terms: [1, 2], access: 'free' });
    expect([reader().article('bridge')?.access, found()]).toEqual(['free', 1]);
  });

  it('a changed rule applies to stories that are already stored', () => {
    put({ terms: [2] });
    expect(found()).toBe(1);
    rules.columnists = 'registered';
    updateRestrictedSections(store);
    expect([reader().article('bridge')?.access, found()]).toEqual(['registered', 0]);
    delete rules.columnists;
    updateRestrictedSections(store);
    expect([reader().article('bridge')?.access, found()]).toEqual(['default', 1]);
  });

  it('a rule applies to a section that is renamed to the rule’s slug', () => {
    rules.essays = 'subscriber';
    put({ terms: [2] });
    storeSections(store, [section(1, 'politics'), section(2, 'essays')]);
    updateRestrictedSections(store);
    expect([reader().article('bridge')?.access, found()]).toEqual(['subscriber', 0]);
  });

  it('a rule applies to a section outside the navigation', () => {
    rules.columnists = 'subscriber';
    updateRestrictedSections(store);
    put({ terms: [2] });
    storeSections(store, [section(1, 'politics'), section(2, 'columnists', null)]);
    expect(updateRestrictedSections(store).tags.size).toBe(0);
    expect([reader().article('bridge')?.access, found()]).toEqual(['subscriber', 0]);
    rules.essays = 'registered';
    put({ id: 8, slug: 'essay', terms: [3] });
    storeSections(store, [section(1, 'politics'), section(2, 'columnists', null), section(3, 'essays', null)]);
    updateRestrictedSections(store);
    expect([reader().article('essay')?.access, found()]).toEqual(['registered', 0]);
  });

  it('a section’s stories keep its rule when its slug changes or it is deleted, until another section takes the slug', () => {
    rules.columnists = 'subscriber';
    updateRestrictedSections(store);
    put({ terms: [2] });
    for (const terms of [[section(1, 'politics'), section(2, 'columns')], [section(1, 'politics')]]) {
      storeSections(store, terms);
      expect(updateRestrictedSections(store).tags.size).toBe(0);
      expect([reader().article('bridge')?.access, found()]).toEqual(['subscriber', 0]);
      expect(sectionTable(store).unknownRules).toEqual(['columnists']);
    }
    storeSections(store, [section(1, 'politics'), section(2, 'columns'), section(3, 'columnists')]);
    updateRestrictedSections(store);
    expect([reader().article('bridge')?.access, found(), sectionTable(store).unknownRules]).toEqual(['default', 1, []]);
  });

  it('a changed rule invalidates the pages that show its stories, and withdraws those that may no longer be served', () => {
    put({ terms: [2], excerpt: `${opening} ${rest} […]` });
    put({ id: 8, slug: 'short', terms: [2] });
    put({ id: 9, slug: 'open', terms: [2], access: 'free' });
    const changed = () => {
      const { tags, withdrawnTags } = updateRestrictedSections(store);
      return [[...tags].sort(), [...withdrawnTags].sort()];
    };
    const tags = ['article:7', 'article:8', 'card:7', 'card:8', 'search'];
    rules.columnists = 'registered';
    expect(changed()).toEqual([tags, ['article:7', 'article:8', 'card:7']]);
    rules.columnists = 'subscriber';
    expect(changed()).toEqual([tags, ['article:7', 'article:8']]);
    rules.politics = 'registered';
    expect(changed()).toEqual([[], []]);
    delete rules.columnists;
    expect(changed()).toEqual([tags, []]);
  });

  it('an unchanged rule writes nothing to the store', () => {
    rules.columnists = 'registered';
    put({ terms: [2] });
    updateRestrictedSections(store);
    const write = vi.spyOn(store, 'transaction');
    updateRestrictedSections(store);
    expect(write).not.toHaveBeenCalled();
  });

  describe('excerpts', () => {
    const excerpt = (document: Parameters<typeof put>[0]): string | undefined => {
      put(document);
      return reader().article('bridge')?.excerpt;
    };
    const made = `${opening} ${rest} […]`;

    it('made by WordPress end where the free opening ends', () => {
      expect(excerpt({ access: 'subscriber', excerpt: made })).toBe(opening);
      expect(excerpt({ access: 'subscriber', excerpt: made, openingHtml: '' })).toBe('');
      rules.politics = 'registered';
      updateRestrictedSections(store);
      expect(excerpt({ excerpt: made })).toBe(opening);
    });
    it('made by WordPress are cut when a new rule makes the story paid', () => {
      expect(excerpt({ excerpt: made })).toBe(made);
      expect(reader().articles({}).items[0]?.excerpt).toBe(made);
      rules.politics = 'subscriber';
      updateRestrictedSections(store);
      expect(reader().articles({}).items[0]?.excerpt).toBe(opening);
      expect([reader().article('bridge')?.excerpt, found()]).toEqual([opening, 0]);
      expect(reader().search('bridge').items[0]?.snippet).not.toContain('heliotrope');
    });
    it('made by WordPress are recognized even with text that a theme adds', () => {
      const caption = 'The ferry, in a photograph of 1931.';
      const bodyHtml = `<p>${caption}</p><p>${opening}</p><p>${rest}</p>`;
      const story = { access: 'subscriber', bodyHtml } as const;
      expect(excerpt({ ...story, excerpt: `${opening} ${rest} Continue reading A bridge` })).toBe(opening);
      expect(excerpt({ ...story, excerpt: `${caption} ${opening} ${rest}` })).toBe(opening);
    });
    it('of public stories are left unchanged', () => expect(excerpt({ excerpt: made })).toBe(made));
    it('that end before the free opening does are left unchanged', () => {
      const short = 'The bridge was opened on a Sunday, and nobody […]';
      expect(excerpt({ access: 'subscriber', excerpt: short })).toBe(short);
    });
    it('written by editors are left unchanged', () => {
      expect(excerpt({ access: 'subscriber', excerpt: 'A Sunday on the river.' })).toBe('A Sunday on the river.');
      expect(excerpt({ access: 'subscriber', excerpt: '' })).toBe('');
    });
  });
});
