/**
 * The content store's interface for pages. Every read walks an index for just the requested page; totals are stored counts. A reader
 * belongs to one request and records the tags of what it returned (docs/decisions/0002).
 */
import type {
  Article,
  Author,
  Card,
  CorrectedStory,
  Correction,
  Crossword,
  FeaturedStory,
  MenuItem,
  Section,
  StaticPage,
  TopStories,
  Video,
} from '../../lib/content/model.ts';
import type { ArticleFilter, ContentReader, Slice } from '../../lib/content/reader.ts';
import { tag } from '../../lib/content/tags.ts';
import { canonicalInstant } from '../../lib/instants.ts';
import type { SearchThread } from '../search/search-thread.server.ts';
import { canonicalSlug } from '../wire/values.ts';
import { readAlert } from './alert.server.ts';
import { isCredited } from './bylines.server.ts';
import { readComment, readComments } from './comments.server.ts';
import type { ContentStore } from './content-store.server.ts';
import { readCorrectedSince } from './corrections.server.ts';
import { readFront } from './front.server.ts';
import { testedStories } from './headline-tests.server.ts';
import { neighborIds, pageBounds } from './lists.server.ts';
import { liveReads } from './live.server.ts';
import { storedTopStories } from './navigation.server.ts';
import {
  findById,
  findBySlug,
  noteCredited,
  type Read,
  readCardOf,
  readSlice,
  withBodies,
  withLinks,
} from './read.server.ts';
import { authorOf, cardOf, crosswordOf, factsOf, pageOf, type Row, sectionTable, videoOf } from './rows.server.ts';
import { searchReads } from './search-reads.server.ts';
import { podcastById, readSound, soundReads } from './sounds.server.ts';

/**
 * Creates the reader of one request.
 *
 * @param thread runs searches off the main thread; without it, `searchAsync` runs them in the calling thread
 */
export function createReader(store: ContentStore, thread: SearchThread | null = null): ContentReader {
  const tags = new Set<string>();
  const read: Read = { store, tags };
  return {
    tags,
    note: (own) => void tags.add(own),
    edition() {
      const ready = store.getMeta('ready') === '1';
      if (!ready) tags.add(tag.site);
      return { ready, syncedAt: store.getMeta('synced-at') };
    },
    alert: () => readAlert(store, tags),
    testedStories: () => testedStories(store),
    front: (key, slots) => readFront(read, key, slots),
    ...navigationReads(read),
    ...articleReads(read),
    ...listedReads(read),
    ...pageReads(read),
    ...commentReads(read),
    ...addressReads(read),
    ...soundReads(read),
    ...liveReads(read),
    ...searchReads(read, thread),
  };
}

const noItems: Slice<never> = { items: [], total: 0 };

type NavigationReads = Pick<ContentReader, 'sections' | 'section' | 'formerSection' | 'menu'>;

function navigationReads({ store, tags }: Read): NavigationReads {
  return {
    sections(): readonly Section[] {
      tags.add(tag.navigation);
      return sectionTable(store).inOrder;
    },
    section(slug) {
      tags.add(tag.navigation);
      return sectionTable(store).bySlug(canonicalSlug(slug));
    },
    formerSection(slug) {
      tags.add(tag.navigation);
      return sectionTable(store).byFormerSlug(canonicalSlug(slug));
    },
    menu(location) {
      tags.add(tag.navigation);
      const row = store.prepare('SELECT items FROM menus WHERE location = ?').get(location);
      return row ? (JSON.parse(String(row.items)) as MenuItem[]) : [];
    },
  };
}

type ArticleReads = Pick<ContentReader, 'article' | 'articles' | 'topStories' | 'corrections' | 'correctedSince'>;

function articleReads(read: Read): ArticleReads {
  const { store, tags } = read;
  return {
    article: (slug) => readArticle(read, slug),
    articles: (filter) => (filter.ids === undefined ? listedArticles(read, filter) : articlesByIds(read, filter)),
    topStories: () => readTopStories(read),
    corrections(filter) {
      tags.add(tag.corrections);
      const { offset, limit } = pageBounds(filter, 20);
      const rows = store
        .prepare(
          `SELECT c.id, c.place, d.facts FROM corrections c JOIN documents d ON d.id = c.id
          ORDER BY c.date DESC, c.id DESC, c.place LIMIT ? OFFSET ?`,
        )
        .all(limit, offset);
      const items = rows.flatMap((row): CorrectedStory[] => {
        const note = factsOf(row).corrections?.[Number(row.place)];
        const story = readCardOf(read, Number(row.id));
        return note && story ? [{ ...noteWithLinks(read, note), card: story }] : [];
      });
      return { items, total: Number(store.prepare('SELECT count(*) AS n FROM corrections').get()?.n ?? 0) };
    },
    correctedSince(since) {
      tags.add(tag.corrections);
      return readCorrectedSince(store, canonicalInstant(since), canonicalInstant(new Date().toISOString()));
    },
  };
}

const noteWithLinks = (read: Read, { kind, date, html }: Correction): Correction => ({
  kind,
  date,
  html: withLinks(read, html),
});

function readArticle(read: Read, slug: string): Article | null {
  const row = findBySlug(read, 'articles', slug);
  if (!row) return null;
  const base = cardOf(read.store, row);
  read.tags.add(tag.article(base.id));
  read.tags.add(tag.navigation);
  const facts = factsOf(row);
  const article: Article = {
    ...base,
    byline: {
      ...base.byline,
      authors: base.byline.authors.flatMap(({ id }) => authorById(read, id) ?? []),
    },
    sections: sectionTable(read.store).of(JSON.parse(String(row.terms)) as number[]),
    bodyHtml: withLinks(read, String(row.body ?? '')),
    openingHtml: withLinks(read, String(row.opening ?? '')),
    words: facts.words ?? 0,
    commentsOpen: facts.commentsOpen ?? false,
    corrections: (facts.corrections ?? []).map((note) => noteWithLinks(read, note)),
    sound: facts.sound ? readSound(read.store, base.id) : null,
    podcast: podcastById(read, facts.sound?.podcast ?? null),
    live: facts.live ?? null,
  };
  noteCredited(read, row);
  return article;
}

function authorById(read: Read, id: number): Author | null {
  read.tags.add(tag.profile(id));
  const row = findById(read, 'authors', id);
  return row && authorOf(row);
}

function listedArticles(read: Read, filter: ArticleFilter): Slice<Card> {
  const lists: string[] = [];
  if (filter.section !== undefined) {
    const section = sectionTable(read.store).bySlug(canonicalSlug(filter.section));
    read.tags.add(tag.section(canonicalSlug(filter.section)));
    if (!section || section.id === 0) return noItems;
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
  return readSlice(read.store, lists, asked, 10, (id) => readCardOf(read, id));
}

function articlesByIds(read: Read, filter: ArticleFilter): Slice<Card> {
  const excluded = new Set(filter.exclude);
  const section = filter.section === undefined ? null : sectionTable(read.store).bySlug(canonicalSlug(filter.section));
  const wanted = [...new Set(filter.ids)].filter((id) => !excluded.has(id));
  const found = cardsOf(read, wanted).filter((each) => {
    if (filter.since !== undefined && each.date < canonicalInstant(filter.since)) return false;
    if (filter.authorId !== undefined && !isCredited(each.byline, filter.authorId)) return false;
    if (filter.section === undefined) return true;
    return section !== null && isIn(read.store, `articles:section:${section.id}`, each);
  });
  const { offset, limit } = pageBounds(filter, wanted.length);
  return { items: found.slice(offset, offset + limit), total: found.length };
}

const cardsOf = (read: Read, ids: readonly number[]): Card[] => ids.flatMap((id) => readCardOf(read, id) ?? []);

const isIn = (store: ContentStore, list: string, { date, id }: Card): boolean =>
  store.prepare('SELECT 1 FROM listing WHERE list = ? AND date = ? AND id = ?').get(list, date, id) !== undefined;

function readTopStories(read: Read): TopStories {
  read.tags.add(tag.topStories);
  const choice = storedTopStories(read.store);
  const found = cardsOf(read, [...new Set(choice?.ids)]);
  const [first, ...others] = found;
  if (!choice || !first) return { featured: null, others: [], ids: [] };
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

type ListedReads = Pick<
  ContentReader,
  'videos' | 'video' | 'neighborsOfVideo' | 'crosswords' | 'crossword' | 'neighborsOfCrossword'
>;

/** The reads of films and crosswords. */
function listedReads(read: Read): ListedReads {
  const { store, tags } = read;
  const videoIn = (row: Row | null): Video | null => {
    if (!row) return null;
    const video = videoOf(row, sectionTable(store));
    tags.add(tag.video(video.id));
    tags.add(tag.navigation);
    noteCredited(read, row);
    return video;
  };
  const crosswordIn = (row: Row | null): Crossword | null => {
    if (!row) return null;
    const crossword = crosswordOf(row);
    tags.add(tag.crossword(crossword.id));
    noteCredited(read, row);
    return crossword;
  };
  const videoById = (id: number) => videoIn(findById(read, 'video', id));
  const crosswordById = (id: number) => crosswordIn(findById(read, 'crosswords', id));
  return {
    videos(filter) {
      tags.add(tag.videos);
      if (filter.section === undefined) return readSlice(store, ['video'], filter, 12, videoById);
      tags.add(tag.navigation);
      const section = sectionTable(store).bySlug(canonicalSlug(filter.section));
      if (!section || section.id === 0) return noItems;
      return readSlice(store, [`video:section:${section.id}`], filter, 12, videoById);
    },
    video(slug) {
      const video = videoIn(findBySlug(read, 'video', slug));
      return video && { ...video, bodyHtml: withLinks(read, video.bodyHtml) };
    },
    neighborsOfVideo(video, limit) {
      tags.add(tag.neighbors(video.id));
      return neighborIds(store, 'video', video, limit).flatMap((id) => videoById(id) ?? []);
    },
    crosswords(filter) {
      tags.add(tag.crosswords);
      return readSlice(store, ['crosswords'], filter, 12, crosswordById);
    },
    crossword: (slug) => crosswordIn(findBySlug(read, 'crosswords', slug)),
    neighborsOfCrossword(crossword, limit) {
      tags.add(tag.neighbors(crossword.id));
      return neighborIds(store, 'crosswords', crossword, limit).flatMap((id) => crosswordById(id) ?? []);
    },
  };
}

/** The reads of authors, and of pages that editors write. */
function pageReads(read: Read): Pick<ContentReader, 'author' | 'authors' | 'page' | 'pages'> {
  const { store, tags } = read;
  return {
    author(slug) {
      const row = findBySlug(read, 'authors', slug);
      if (!row) return null;
      const author = authorOf(row);
      tags.add(tag.profile(author.id));
      tags.add(tag.byline(author.id));
      return author;
    },
    authors() {
      tags.add(tag.authors);
      const sql = "SELECT * FROM documents WHERE type = 'authors' ORDER BY title COLLATE NOCASE, id";
      return store
        .prepare(sql)
        .all()
        .map((row) => {
          tags.add(tag.profile(Number(row.id)));
          return authorOf(row);
        });
    },
    page(slug) {
      tags.add(tag.page(canonicalSlug(slug)));
      const row = findBySlug(read, 'pages', slug);
      if (!row) return null;
      const page = pageOf(row);
      return { ...page, bodyHtml: withLinks(read, page.bodyHtml) };
    },
    pages() {
      tags.add(tag.pages);
      const sql = `${withBodies} WHERE d.type = 'pages' ORDER BY d.title COLLATE NOCASE, d.id`;
      return store
        .prepare(sql)
        .all()
        .map((row): StaticPage => {
          const page = pageOf(row);
          tags.add(tag.page(page.slug));
          return page;
        });
    },
  };
}

function commentReads({ store, tags }: Read): Pick<ContentReader, 'comments' | 'comment'> {
  return {
    comments(articleId, filter) {
      tags.add(tag.comments(articleId));
      return readComments(store, articleId, filter);
    },
    comment(id) {
      const found = readComment(store, id);
      if (found) tags.add(tag.comments(found.articleId));
      return found;
    },
  };
}

/** What is known about the address of a document. */
function addressReads({ store, tags }: Read): Pick<ContentReader, 'exists' | 'resolveSlug'> {
  return {
    exists(type, slug) {
      const key = canonicalSlug(slug);
      tags.add(tag.slug(type, key));
      return store.prepare('SELECT 1 FROM documents WHERE type = ? AND slug = ?').get(type, key) !== undefined;
    },
    resolveSlug(type, slug) {
      const key = canonicalSlug(slug);
      tags.add(tag.slug(type, key));
      const old = store.prepare('SELECT id FROM old_slugs WHERE type = ? AND slug = ?').get(type, key);
      if (!old) return { kind: 'unknown' };
      const now = store.prepare('SELECT slug FROM documents WHERE id = ? AND type = ?').get(Number(old.id), type);
      if (!now) return { kind: 'gone' };
      tags.add(tag.slug(type, String(now.slug)));
      return { kind: 'moved', slug: String(now.slug) };
    },
  };
}
