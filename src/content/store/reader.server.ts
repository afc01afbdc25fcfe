/**
 * The content store's interface for pages. Every read walks an index for just the requested page; totals are stored counts. A reader
 * belongs to one request and records the tags of what it returned (docs/decisions/0002).
 */
import type {
  Article,
  Author,
  Card,
  Comment,
  CorrectedStory,
  Correction,
  Crossword,
  DocumentType,
  FeaturedStory,
  MenuItem,
  Section,
  StaticPage,
  TopStories,
  Video,
} from '../../lib/content/model.ts';
import type { ArticleFilter, ContentReader, Slice, SlugResolution } from '../../lib/content/reader.ts';
import { tag } from '../../lib/content/tags.ts';
import { canonicalInstant } from '../../lib/instants.ts';
import type { DocumentFacts } from '../ingest/document.ts';
import type { SearchThread } from '../search/search-thread.server.ts';
import { canonicalSlug } from '../wire/values.ts';
import { readAlert } from './alert.server.ts';
import { resolveLinks } from './body-links.ts';
import { isCredited } from './bylines.server.ts';
import { readCard } from './cards.server.ts';
import { type CommentFilter, readComment, readComments } from './comments.server.ts';
import type { ContentStore } from './content-store.server.ts';
import { readCorrectedSince } from './corrections.server.ts';
import { readFront } from './front.server.ts';
import { testedStories } from './headline-tests.server.ts';
import { listIds, listTotal, neighborIds, pageBounds } from './lists.server.ts';
import { liveReads, type ReadState } from './live.server.ts';
import { storedTopStories } from './navigation.server.ts';
import {
  authorOf,
  cardOf,
  creditedIn,
  crosswordOf,
  documentColumns,
  documentSource,
  pageOf,
  type Row,
  sectionTable,
  videoOf,
} from './rows.server.ts';
import { searchReads } from './search-reads.server.ts';
import { podcastById, readSound, type SoundContext, soundReads } from './sounds.server.ts';

const byId = `SELECT ${documentColumns} FROM ${documentSource} WHERE d.id = ? AND d.type = ?`;
const withBodies = `SELECT ${documentColumns}, b.body, b.opening FROM ${documentSource} LEFT JOIN bodies b ON b.id = d.id`;
/** WordPress lets a page below another one have the slug of a page of the site, whose address it must not take. */
const bySlug = `${withBodies} WHERE d.type = ? AND d.slug = ? ORDER BY d.facts ->> 'child' IS NOT NULL, d.modified DESC LIMIT 1`;
const byIdWithBody = `${withBodies} WHERE d.id = ? AND d.type = ?`;

/**
 * Creates the reader of one request.
 *
 * @param thread runs searches off the main thread; without it, `searchAsync` runs them in the calling thread
 */
export function createReader(store: ContentStore, thread: SearchThread | null = null): ContentReader {
  const tags = new Set<string>();
  const read: ReadState = { store, tags };
  return {
    tags,
    note: (own) => void tags.add(own),
    edition: () => edition(read),
    sections: () => sections(read),
    section: (slug) => section(read, slug),
    formerSection: (slug) => formerSection(read, slug),
    menu: (location) => menu(read, location),
    article: (slug) => article(read, slug),
    articles: (filter) => articles(read, filter),
    neighborsOfVideo: (video, limit) => neighborsOfVideo(read, video, limit),
    neighborsOfCrossword: (crossword, limit) => neighborsOfCrossword(read, crossword, limit),
    topStories: () => topStories(read),
    front: (key, slots) => readFront({ store, tags, card: (id) => card(read, id) }, key, slots),
    corrections: (filter) => corrections(read, filter),
    correctedSince: (since) => correctedSince(read, since),
    testedStories: () => testedStories(store),
    alert: () => readAlert(store, tags),
    ...soundReads(soundContext(read)),
    ...liveReads(read, (html) => links(read, html)),
    author: (slug) => author(read, slug),
    authors: () => authors(read),
    videos: (filter) => videos(read, filter),
    video: (slug) => video(read, slug),
    crosswords: (filter) => crosswords(read, filter),
    crossword: (slug) => crossword(read, slug),
    page: (slug) => page(read, slug),
    pages: () => pages(read),
    comments: (articleId, filter) => comments(read, articleId, filter),
    comment: (id) => comment(read, id),
    exists: (type, slug) => exists(read, type, slug),
    resolveSlug: (type, slug) => resolveSlug(read, type, slug),
    ...searchReads({ store, tags, thread, card: (id) => card(read, id) }),
  };
}

function find(read: ReadState, type: DocumentType, slug: string): Row | null {
  const key = canonicalSlug(slug);
  const row = read.store.prepare(bySlug).get(type, key) as Row | undefined;
  if (!row) read.tags.add(tag.slug(type, key));
  return row ?? null;
}

function exists(read: ReadState, type: DocumentType, slug: string): boolean {
  const key = canonicalSlug(slug);
  read.tags.add(tag.slug(type, key));
  return read.store.prepare('SELECT 1 FROM documents WHERE type = ? AND slug = ?').get(type, key) !== undefined;
}

const links = (read: ReadState, html: string): string =>
  resolveLinks(html, read.store, (own) => void read.tags.add(own));

/** An id without a published article still tags the page, which changes when the article appears. */
function card(read: ReadState, id: number): Card | null {
  read.tags.add(tag.card(id));
  const stored = readCard(read.store, id);
  if (!stored) return null;
  read.tags.add(tag.navigation);
  if (stored.card.test?.state === 'running') read.tags.add(tag.headlineTests);
  // If an author's document is missing, the page changes when it arrives, so it has the tag already.
  for (const credited of stored.credited) read.tags.add(tag.byline(credited));
  return stored.card;
}

const cards = (read: ReadState, ids: readonly number[]): Card[] => ids.flatMap((id) => card(read, id) ?? []);

function noteVideo(read: ReadState, row: Row): Video {
  const video = videoOf(row, sectionTable(read.store));
  read.tags.add(tag.video(video.id));
  read.tags.add(tag.navigation);
  for (const id of creditedIn(row)) read.tags.add(tag.byline(id));
  return video;
}

function noteCrossword(read: ReadState, row: Row): Crossword {
  const crossword = crosswordOf(row);
  read.tags.add(tag.crossword(crossword.id));
  for (const id of creditedIn(row)) read.tags.add(tag.byline(id));
  return crossword;
}

const videosById = (read: ReadState, ids: readonly number[]): Video[] =>
  ids.flatMap((id) => {
    const row = read.store.prepare(byIdWithBody).get(id, 'video') as Row | undefined;
    return row ? noteVideo(read, row) : [];
  });

const crosswordsById = (read: ReadState, ids: readonly number[]): Crossword[] =>
  ids.flatMap((id) => {
    const row = read.store.prepare(byId).get(id, 'crosswords') as Row | undefined;
    return row ? noteCrossword(read, row) : [];
  });

function authorById(read: ReadState, id: number): Author | null {
  read.tags.add(tag.profile(id));
  const row = read.store.prepare(byId).get(id, 'authors') as Row | undefined;
  return row ? authorOf(row) : null;
}

function articlesByIds(read: ReadState, filter: ArticleFilter): Slice<Card> {
  const excluded = new Set(filter.exclude);
  const section = filter.section === undefined ? null : sectionTable(read.store).bySlug(canonicalSlug(filter.section));
  const wanted = [...new Set(filter.ids)].filter((id) => !excluded.has(id));
  const found = cards(read, wanted).filter((each) => {
    if (filter.since !== undefined && each.date < canonicalInstant(filter.since)) return false;
    if (filter.authorId !== undefined && !isCredited(each.byline, filter.authorId)) return false;
    if (filter.section === undefined) return true;
    return section !== null && isIn(read.store, `articles:section:${section.id}`, each);
  });
  const { offset, limit } = pageBounds(filter, wanted.length);
  return { items: found.slice(offset, offset + limit), total: found.length };
}

const soundContext = (read: ReadState): SoundContext => ({
  store: read.store,
  tags: read.tags,
  find: (slug) => find(read, 'podcasts', slug),
  card: (id) => card(read, id),
  links: (html) => links(read, html),
});

function edition(read: ReadState): { readonly ready: boolean; readonly syncedAt: string | null } {
  const ready = read.store.getMeta('ready') === '1';
  if (!ready) read.tags.add(tag.site);
  return { ready, syncedAt: read.store.getMeta('synced-at') };
}

function sections(read: ReadState): readonly Section[] {
  read.tags.add(tag.navigation);
  return sectionTable(read.store).inOrder;
}

function section(read: ReadState, slug: string): Section | null {
  read.tags.add(tag.navigation);
  return sectionTable(read.store).bySlug(canonicalSlug(slug));
}

function formerSection(read: ReadState, slug: string): Section | null {
  read.tags.add(tag.navigation);
  return sectionTable(read.store).byFormerSlug(canonicalSlug(slug));
}

function menu(read: ReadState, location: 'footer'): readonly MenuItem[] {
  read.tags.add(tag.navigation);
  const row = read.store.prepare('SELECT items FROM menus WHERE location = ?').get(location);
  return row ? (JSON.parse(String(row.items)) as MenuItem[]) : [];
}

function article(read: ReadState, slug: string): Article | null {
  const row = find(read, 'articles', slug);
  if (!row) return null;
  const base = cardOf(read.store, row);
  read.tags.add(tag.article(base.id));
  read.tags.add(tag.navigation);
  const facts = JSON.parse(String(row.facts)) as ArticleFacts;
  const article: Article = {
    ...base,
    byline: {
      ...base.byline,
      authors: base.byline.authors.flatMap(({ id }) => authorById(read, id) ?? []),
    },
    sections: sectionTable(read.store).of(JSON.parse(String(row.terms)) as number[]),
    bodyHtml: links(read, String(row.body ?? '')),
    openingHtml: links(read, String(row.opening ?? '')),
    words: facts.words ?? 0,
    commentsOpen: facts.commentsOpen ?? false,
    corrections: (facts.corrections ?? []).map((note) => withLinks(read, note)),
    sound: facts.sound ? readSound(read.store, base.id) : null,
    podcast: podcastById(soundContext(read), facts.sound?.podcast ?? null),
    live: facts.live ?? null,
  };
  for (const id of creditedIn(row)) read.tags.add(tag.byline(id));
  return article;
}

type ArticleFacts = Pick<DocumentFacts, 'words' | 'commentsOpen' | 'corrections' | 'sound' | 'live'>;

const withLinks = (read: ReadState, { kind, date, html }: Correction): Correction => ({
  kind,
  date,
  html: links(read, html),
});

function corrections(read: ReadState, filter: Parameters<ContentReader['corrections']>[0]): Slice<CorrectedStory> {
  read.tags.add(tag.corrections);
  const { offset, limit } = pageBounds(filter, 20);
  const rows = read.store
    .prepare(
      `SELECT c.id, c.place, d.facts FROM corrections c JOIN documents d ON d.id = c.id
      ORDER BY c.date DESC, c.id DESC, c.place LIMIT ? OFFSET ?`,
    )
    .all(limit, offset);
  const items = rows.flatMap((row): CorrectedStory[] => {
    const note = (JSON.parse(String(row.facts)) as ArticleFacts).corrections?.[Number(row.place)];
    const story = card(read, Number(row.id));
    return note && story ? [{ ...withLinks(read, note), card: story }] : [];
  });
  const total = Number(read.store.prepare('SELECT count(*) AS n FROM corrections').get()?.n ?? 0);
  return { items, total };
}

function correctedSince(read: ReadState, since: string): ReturnType<ContentReader['correctedSince']> {
  read.tags.add(tag.corrections);
  return readCorrectedSince(read.store, canonicalInstant(since), canonicalInstant(new Date().toISOString()));
}

function articles(read: ReadState, filter: ArticleFilter): Slice<Card> {
  if (filter.ids !== undefined) return articlesByIds(read, filter);
  const lists: string[] = [];
  if (filter.section !== undefined) {
    const section = sectionTable(read.store).bySlug(canonicalSlug(filter.section));
    read.tags.add(tag.section(canonicalSlug(filter.section)));
    if (!section || section.id === 0) return { items: [], total: 0 };
    lists.push(`articles:section:${section.id}`);
  }
  if (filter.authorId !== undefined) {
    read.tags.add(tag.author(filter.authorId));
    lists.push(`articles:author:${filter.authorId}`);
  }
  if (lists.length === 0) {
    read.tags.add(tag.latest);
    lists.push('articles');
  }
  const asked = { ...filter, since: filter.since === undefined ? undefined : canonicalInstant(filter.since) };
  return { items: cards(read, listIds(read.store, lists, asked, 10)), total: listTotal(read.store, lists, asked) };
}

function neighborsOfVideo(read: ReadState, video: Video, limit: number): readonly Video[] {
  read.tags.add(tag.neighbors(video.id));
  return videosById(read, neighborIds(read.store, 'video', video, limit));
}

function neighborsOfCrossword(read: ReadState, crossword: Crossword, limit: number): readonly Crossword[] {
  read.tags.add(tag.neighbors(crossword.id));
  return crosswordsById(read, neighborIds(read.store, 'crosswords', crossword, limit));
}

function topStories(read: ReadState): TopStories {
  read.tags.add(tag.topStories);
  const choice = storedTopStories(read.store);
  if (!choice) return { featured: null, others: [], ids: [] };
  const found = cards(read, [...new Set(choice.ids)]);
  const [first, ...others] = found;
  if (!first) return { featured: null, others: [], ids: [] };
  // The editors' own words belong to the story that they put first, and not to one that moved up.
  const chosen = first.id === choice.ids[0];
  const featured: FeaturedStory = {
    ...first,
    breaking: chosen && choice.breaking,
    bulleted: chosen && choice.bulleted && choice.featuredExcerpt !== '',
    featuredExcerpt: (chosen && choice.featuredExcerpt) || first.excerpt,
  };
  return { featured, others, ids: found.map((each) => each.id) };
}

function author(read: ReadState, slug: string): Author | null {
  const row = find(read, 'authors', slug);
  if (!row) return null;
  const author = authorOf(row);
  read.tags.add(tag.profile(author.id));
  read.tags.add(tag.byline(author.id));
  return author;
}

function authors(read: ReadState): readonly Author[] {
  read.tags.add(tag.authors);
  const sql = "SELECT * FROM documents WHERE type = 'authors' ORDER BY title COLLATE NOCASE, id";
  const rows = read.store.prepare(sql).all();
  return rows.map((row) => {
    read.tags.add(tag.profile(Number(row.id)));
    return authorOf(row as Row);
  });
}

function videos(read: ReadState, filter: Parameters<ContentReader['videos']>[0]): Slice<Video> {
  read.tags.add(tag.videos);
  const lists = ['video'];
  if (filter.section !== undefined) {
    read.tags.add(tag.navigation);
    const section = sectionTable(read.store).bySlug(canonicalSlug(filter.section));
    if (!section || section.id === 0) return { items: [], total: 0 };
    lists[0] = `video:section:${section.id}`;
  }
  const items = videosById(read, listIds(read.store, lists, filter, 12));
  return { items, total: listTotal(read.store, lists, filter) };
}

function video(read: ReadState, slug: string): Video | null {
  const row = find(read, 'video', slug);
  if (!row) return null;
  const video = noteVideo(read, row);
  return { ...video, bodyHtml: links(read, video.bodyHtml) };
}

function crosswords(read: ReadState, filter: Parameters<ContentReader['crosswords']>[0]): Slice<Crossword> {
  read.tags.add(tag.crosswords);
  const items = crosswordsById(read, listIds(read.store, ['crosswords'], filter, 12));
  return { items, total: listTotal(read.store, ['crosswords'], filter) };
}

function crossword(read: ReadState, slug: string): Crossword | null {
  const row = find(read, 'crosswords', slug);
  return row && noteCrossword(read, row);
}

function page(read: ReadState, slug: string): StaticPage | null {
  read.tags.add(tag.page(canonicalSlug(slug)));
  const row = find(read, 'pages', slug);
  if (!row) return null;
  const page = pageOf(row);
  return { ...page, bodyHtml: links(read, page.bodyHtml) };
}

function pages(read: ReadState): readonly StaticPage[] {
  read.tags.add(tag.pages);
  const sql = `${withBodies} WHERE d.type = 'pages' ORDER BY d.title COLLATE NOCASE, d.id`;
  return read.store
    .prepare(sql)
    .all()
    .map((row) => {
      const page = pageOf(row as Row);
      read.tags.add(tag.page(page.slug));
      return page;
    });
}

function comments(read: ReadState, articleId: number, filter: CommentFilter): Slice<Comment> {
  read.tags.add(tag.comments(articleId));
  return readComments(read.store, articleId, filter);
}

function comment(read: ReadState, id: number): Comment | null {
  const found = readComment(read.store, id);
  if (found) read.tags.add(tag.comments(found.articleId));
  return found;
}

function resolveSlug(read: ReadState, type: DocumentType, slug: string): SlugResolution {
  const key = canonicalSlug(slug);
  read.tags.add(tag.slug(type, key));
  const old = read.store.prepare('SELECT id FROM old_slugs WHERE type = ? AND slug = ?').get(type, key);
  if (!old) return { kind: 'unknown' };
  const now = read.store.prepare('SELECT slug FROM documents WHERE id = ? AND type = ?').get(Number(old.id), type);
  if (!now) return { kind: 'gone' };
  read.tags.add(tag.slug(type, String(now.slug)));
  return { kind: 'moved', slug: String(now.slug) };
}

const isIn = (store: ContentStore, list: string, { date, id }: Card): boolean =>
  store.prepare('SELECT 1 FROM listing WHERE list = ? AND date = ? AND id = ?').get(list, date, id) !== undefined;
