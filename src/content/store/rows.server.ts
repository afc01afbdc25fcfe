/** Converts rows of the content store to what pages see. */
import { levelOf } from '../../lib/access/model.ts';
import type {
  AccessLevel,
  Author,
  AuthorRef,
  Byline,
  Card,
  Comment,
  Crossword,
  Picture,
  Podcast,
  PodcastDetails,
  Section,
  StaticPage,
  Video,
} from '../../lib/content/model.ts';
import type { DocumentFacts } from '../ingest/document.ts';
import { creditedIds, readByline } from './bylines.server.ts';
import type { ContentStore } from './content-store.server.ts';
import { navigationSections, ruledTerms, storedSections } from './navigation.server.ts';

export type Row = Record<string, unknown>;

/** Columns of a document with its author's name, used by every list. */
export const documentColumns = `d.id, d.slug, d.title, d.excerpt, d.image, d.author_id, d.terms, d.date, d.modified,
  d.facts, a.title AS author_name, a.slug AS author_slug`;
export const documentSource = "documents d LEFT JOIN documents a ON a.id = d.author_id AND a.type = 'authors'";

const text = (row: Row, column: string): string => String(row[column]);
const json = <T>(row: Row, column: string): T => JSON.parse(String(row[column])) as T;
/** The facts of a document's row. */
export const factsOf = (row: Row): DocumentFacts => json<DocumentFacts>(row, 'facts');
const pictureOf = (row: Row): Picture | null => (row.image === null ? null : json<Picture>(row, 'image'));

/** The fields that articles, videos and pages share. */
const baseOf = (row: Row) => ({
  id: Number(row.id),
  slug: text(row, 'slug'),
  title: text(row, 'title'),
  excerpt: text(row, 'excerpt'),
  image: pictureOf(row),
  modified: text(row, 'modified'),
});

export function authorRefOf(row: Row): AuthorRef | null {
  if (row.author_id === null || row.author_name === null || row.author_name === undefined) return null;
  return { id: Number(row.author_id), name: text(row, 'author_name'), slug: text(row, 'author_slug') };
}

export const authorOf = (row: Row): Author => ({
  id: Number(row.id),
  name: text(row, 'title'),
  slug: text(row, 'slug'),
  excerpt: text(row, 'excerpt'),
  image: pictureOf(row),
  role: factsOf(row).role,
});

/** The byline of a row of an article. */
function bylineOf(store: ContentStore, row: Row, { byline }: DocumentFacts): Byline {
  if (byline) return readByline(store, byline);
  const author = authorRefOf(row);
  return { authors: author ? [author] : [], contributors: [], agency: null };
}

/** The first author of a document's row. */
export const authorIdOf = (row: Row): number | null => (row.author_id === null ? null : Number(row.author_id));

/** See {@link creditedIds}. */
export const creditedIn = (row: Row): readonly number[] =>
  creditedIds({ authorId: authorIdOf(row), facts: factsOf(row) });

/** The newspaper's sections, cached until sync writes new ones. */
export interface SectionTable {
  readonly inOrder: readonly Section[];
  bySlug(slug: string): Section | null;
  /** The section that had this former slug, if no category has the slug now. */
  byFormerSlug(slug: string): Section | null;
  /** Sections of a document in navigation order. */
  of(terms: readonly number[]): Section[];
  /** Access level of an article. @param own level that the editors chose for it @param terms all that it has, not only sections */
  levelOf(own: AccessLevel | undefined, terms: readonly number[]): AccessLevel;
  /** Slugs of access rules that no term has. */
  readonly unknownRules: readonly string[];
}

const tables = new WeakMap<ContentStore, { generation: number; table: SectionTable }>();

export function sectionTable(store: ContentStore): SectionTable {
  const cached = tables.get(store);
  if (cached && cached.generation === store.generation) return cached.table;
  const stored = storedSections(store);
  const inOrder = navigationSections(stored);
  const slugs = new Map(inOrder.map((section) => [section.slug, section]));
  const taken = new Set(stored.map(({ slug }) => slug));
  const former = new Map(stored.flatMap((section) => section.former?.map((slug) => [slug, section.id]) ?? []));
  const { levels, unknown } = ruledTerms(store);
  const table: SectionTable = {
    inOrder,
    bySlug: (slug) => slugs.get(slug) ?? null,
    byFormerSlug: (slug) =>
      taken.has(slug) ? null : (inOrder.find(({ id }) => id !== 0 && id === former.get(slug)) ?? null),
    of: (terms) => inOrder.filter((section) => section.id !== 0 && terms.includes(section.id)),
    levelOf: (own = 'default', terms) => levelOf(own, terms.map(String), levels),
    unknownRules: unknown,
  };
  tables.set(store, { generation: store.generation, table });
  return table;
}

export type SectionBadge = Pick<Section, 'slug' | 'label' | 'color'>;

function badgeOf(sections: SectionTable, terms: readonly number[]): SectionBadge | null {
  const [first] = sections.of(terms);
  return first ? { slug: first.slug, label: first.label, color: first.color } : null;
}

export function cardOf(store: ContentStore, row: Row): Card {
  const sections = sectionTable(store);
  const facts = factsOf(row);
  const terms = json<number[]>(row, 'terms');
  return {
    ...baseOf(row),
    ...(facts.edited && { modified: facts.edited }),
    byline: bylineOf(store, row, facts),
    section: badgeOf(sections, terms),
    date: text(row, 'date'),
    access: sections.levelOf(facts.access, terms),
    minutes: facts.minutes ?? 1,
    ...(facts.test && { test: facts.test }),
    ...(facts.live?.state === 'live' && { isLive: true }),
  };
}

export function videoOf(row: Row, sections: SectionTable): Video {
  const facts = factsOf(row);
  return {
    ...baseOf(row),
    bodyHtml: text(row, 'body'),
    author: authorRefOf(row),
    section: badgeOf(sections, json<number[]>(row, 'terms')),
    video: { url: facts.videoUrl ?? '', providerId: facts.providerId ?? null, provider: 'youtube' },
    date: text(row, 'date'),
  };
}

export const crosswordOf = (row: Row): Crossword => ({
  id: Number(row.id),
  slug: text(row, 'slug'),
  title: text(row, 'title'),
  author: authorRefOf(row),
  iframeSrc: factsOf(row).iframeSrc ?? '',
  date: text(row, 'date'),
});

export const podcastOf = (row: Row): Podcast => ({
  ...baseOf(row),
  bodyHtml: text(row, 'body'),
  details: json<{ podcast: PodcastDetails }>(row, 'facts').podcast,
});

export const pageOf = (row: Row): StaticPage => ({ ...baseOf(row), bodyHtml: text(row, 'body') });

export const commentOf = (row: Row, replies: Comment['replies']): Comment => ({
  id: Number(row.id),
  articleId: Number(row.post),
  parentId: Number(row.parent),
  author: text(row, 'author'),
  contentHtml: text(row, 'content'),
  status: 'approved',
  date: text(row, 'date'),
  replies,
});
