/** Writes everything that isn't a document: the editors' selection for the front page, sections, menus. */
import type { SectionRules } from '../../lib/access/model.ts';
import { type MenuItem, type Section, strictness } from '../../lib/content/model.ts';
import { tag } from '../../lib/content/tags.ts';
import { publication, type SectionConfig } from '../../publication.ts';
import type { IngestedSection, TopStoriesChoice } from '../ingest/document.ts';
import { canonicalSlug } from '../wire/values.ts';
import { tagsOfSections } from './changed-tags.ts';
import type { ContentStore } from './content-store.server.ts';

/** The editors' selection for the front page; `null` while they have none. */
export function storedTopStories(store: ContentStore): TopStoriesChoice | null {
  const value = store.getMeta('top-stories');
  return value === null ? null : JSON.parse(value);
}

/** Slug of a category term that is a section; `null` for other terms. */
export function sectionSlugOf(store: ContentStore): (term: number) => string | null {
  return (term) => {
    const row = store.prepare('SELECT slug FROM sections WHERE id = ? AND position IS NOT NULL').get(term);
    return row ? String(row.slug) : null;
  };
}

/** Stores the editors' selection for the front page; `null` when they have none. */
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
    .map((row) => {
      const former = JSON.parse(String(row.former)) as string[];
      return {
        id: Number(row.id),
        slug: String(row.slug),
        name: String(row.name),
        label: String(row.label),
        homepageCount: Number(row.homepage_count),
        showInMedia: row.show_in_media === 1,
        position: row.position === null ? null : Number(row.position),
        color: row.color === 'red' ? 'red' : 'default',
        ...(former.length > 0 && { former }),
      };
    });
}

/** Replaces all category terms. */
export function storeSections(store: ContentStore, sections: readonly IngestedSection[]): Set<string> {
  return store.transaction(() => {
    const after = sections
      .map(({ former = [], ...section }) => ({
        ...section,
        slug: canonicalSlug(section.slug),
        ...(former.length > 0 && { former: former.map(canonicalSlug) }),
      }))
      .sort((a, b) => a.id - b.id);
    const before = storedSections(store);
    if (JSON.stringify(before) === JSON.stringify(after)) return new Set<string>();
    store.prepare('DELETE FROM sections').run();
    const insert = store.prepare('INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
    for (const { id, slug, name, label, homepageCount, showInMedia, position, color, former = [] } of after) {
      const show = showInMedia ? 1 : 0;
      insert.run(id, slug, name, label, homepageCount, show, position, color, JSON.stringify(former));
    }
    store.invalidateCaches();
    return tagsOfSections(before, after);
  });
}

/** Key of the terms that the rules applied to last. */
export const ruledTermsKey = 'ruled-sections';

/** What the publication's rules for sections say about WordPress's terms, whether or not these are in the navigation. */
export interface RuledTerms {
  /** Levels by term id. */
  readonly levels: SectionRules;
  /**
   * Term ids by the rule's slug. A term whose slug has changed, or that is gone, keeps its rule until another term has the
   * slug.
   */
  readonly ids: Readonly<Record<string, number>>;
  /** Slugs of rules that no term has; none while no terms are known. */
  readonly unknown: readonly string[];
}

export function ruledTerms(store: ContentStore): RuledTerms {
  const terms = new Map(storedSections(store).map(({ id, slug }) => [slug, id]));
  const earlier = JSON.parse(store.getMeta(ruledTermsKey) ?? '{}') as RuledTerms['ids'];
  const levels: Record<string, SectionRules[string]> = {};
  const ids: Record<string, number> = {};
  const rules = Object.entries<SectionRules[string]>(publication.access.sections);
  for (const [slug, level] of rules) {
    const id = terms.get(canonicalSlug(slug)) ?? earlier[slug];
    if (id === undefined) continue;
    ids[slug] = id;
    if (strictness(level) > strictness(levels[id] ?? 'default')) levels[id] = level;
  }
  const unknown = rules.flatMap(([slug]) => (terms.size > 0 && !terms.has(canonicalSlug(slug)) ? [slug] : []));
  return { levels, ids, unknown };
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
    store.invalidateCaches();
    return new Set<string>([tag.navigation]);
  });
}

// The newspaper's sections: the publication's, which WordPress's terms replace once those are known.

const configured = (section: SectionConfig): Section => ({ ...section, id: 0 });

/**
 * Sections in navigation order. While WordPress hasn't named any, the publication's, with id 0; afterward exactly the terms that have a
 * position in the navigation.
 */
export function navigationSections(terms: readonly IngestedSection[]): Section[] {
  const named = terms.filter((term) => term.position !== null);
  const sections = named.length > 0 ? named.map(fromTerm) : publication.sections.map(configured);
  return sections.sort((a, b) => a.navigationPosition - b.navigationPosition || a.name.localeCompare(b.name, 'en'));
}

const fromTerm = ({ position, former: _, ...term }: IngestedSection): Section => ({
  ...term,
  navigationPosition: position ?? 0,
});

/** The publication's fields for a term's slug, for terms without the newsroom plugin's fields. */
export const configuredSection = (slug: string): SectionConfig | undefined =>
  publication.sections.find((section) => section.slug === slug);
