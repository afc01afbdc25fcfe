/** Writes of what is no document: the editors' choice for the front page, sections, menus. */

import type { MenuItem } from '../../lib/content/model.ts';
import { tag } from '../../lib/content/tags.ts';
import type { IngestedSection, TopStoriesChoice } from '../ingest/document.ts';
import { canonicalSlug } from '../wire/slugs.ts';
import { tagsOfSections } from './changed-tags.ts';
import type { ContentStore } from './content-store.server.ts';

/** The editors' choice for the front page, `null` while they have none. */
export function storedTopStories(store: ContentStore): TopStoriesChoice | null {
  const value = store.getMeta('top-stories');
  return value === null ? null : JSON.parse(value);
}

/** Slug of the section that a category term is, `null` for terms that are no sections. */
export function sectionSlugOf(store: ContentStore): (term: number) => string | null {
  return (term) => {
    const row = store.prepare('SELECT slug FROM sections WHERE id = ? AND position IS NOT NULL').get(term);
    return row ? String(row.slug) : null;
  };
}

/** Keeps the editors' choice for the front page; `null` when they have none. */
export function storeTopStories(store: ContentStore, choice: TopStoriesChoice | null): Set<string> {
  const value = JSON.stringify(choice);
  if ((store.getMeta('top-stories') ?? 'null') === value) return new Set();
  store.setMeta('top-stories', value);
  return new Set([tag.topStories]);
}

export function storedSections(store: ContentStore): IngestedSection[] {
  return store
    .prepare('SELECT * FROM sections ORDER BY id')
    .all()
    .map((row) => ({
      id: Number(row.id),
      slug: String(row.slug),
      name: String(row.name),
      label: String(row.label),
      homepageCount: Number(row.homepage_count),
      showInMedia: row.show_in_media === 1,
      position: row.position === null ? null : Number(row.position),
      color: row.color === 'red' ? 'red' : 'default',
    }));
}

/** Replaces the whole set of category terms. */
export function storeSections(store: ContentStore, sections: readonly IngestedSection[]): Set<string> {
  return store.transaction(() => {
    const after = sections
      .map((section) => ({ ...section, slug: canonicalSlug(section.slug) }))
      .sort((a, b) => a.id - b.id);
    const before = storedSections(store);
    if (JSON.stringify(before) === JSON.stringify(after)) return new Set<string>();
    store.prepare('DELETE FROM sections').run();
    const insert = store.prepare('INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
    for (const each of after) {
      const show = each.showInMedia ? 1 : 0;
      insert.run(each.id, each.slug, each.name, each.label, each.homepageCount, show, each.position, each.color);
    }
    store.touch();
    return tagsOfSections(before, after);
  });
}

/** Replaces all menus. */
export function storeMenus(store: ContentStore, menus: ReadonlyMap<string, readonly MenuItem[]>): Set<string> {
  return store.transaction(() => {
    const before = store.prepare('SELECT location, items FROM menus ORDER BY location').all();
    const after = [...menus].map(([location, items]) => ({ location, items: JSON.stringify(items) }));
    after.sort((a, b) => (a.location < b.location ? -1 : 1));
    if (JSON.stringify(before) === JSON.stringify(after)) return new Set<string>();
    store.prepare('DELETE FROM menus').run();
    const insert = store.prepare('INSERT INTO menus VALUES (?, ?)');
    for (const { location, items } of after) insert.run(location, items);
    store.touch();
    return new Set<string>([tag.navigation]);
  });
}
