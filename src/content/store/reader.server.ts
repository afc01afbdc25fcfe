/**
 * What pages ask of the content store. Every read is an index walk of the page asked for; totals are kept counts. A reader
 * belongs to one request and notes the tags of what it returned (docs/decisions/0002).
 */

import type {
  Article,
  ArticleFilter,
  Author,
  Card,
  ContentReader,
  Crossword,
  DocumentType,
  FeaturedStory,
  FoundArticles,
  MenuItem,
  SearchFilter,
  Slice,
  Video,
} from '../../lib/content/model.ts';
import { tag } from '../../lib/content/tags.ts';
import { answerAside, answerNow } from '../search/cache.server.ts';
import type { FoundArticles as FoundIds, SearchFilter as IndexFilter } from '../search/search.server.ts';
import type { SearchThread } from '../search/search-thread.server.ts';
import { canonicalSlug } from '../wire/slugs.ts';
import { resolveLinks } from './body-links.ts';
import type { ContentStore } from './content-store.server.ts';
import { listIds, listTotal, pageBounds } from './lists.server.ts';
import { storedTopStories } from './navigation.server.ts';
import { besideIn } from './neighbors.server.ts';
import { readComment, readComments } from './read-comments.server.ts';
import {
  authorOf,
  cardOf,
  crosswordOf,
  documentColumns,
  documentSource,
  pageOf,
  type Row,
  sectionTable,
  videoOf,
} from './rows.server.ts';

const byId = `SELECT ${documentColumns} FROM ${documentSource} WHERE d.id = ? AND d.type = ?`;
const bySlug = `SELECT ${documentColumns}, b.body, b.opening FROM ${documentSource} LEFT JOIN bodies b ON b.id = d.id
  WHERE d.type = ? AND d.slug = ? ORDER BY d.modified DESC LIMIT 1`;
const byIdWithBody = `SELECT ${documentColumns}, b.body, b.opening FROM ${documentSource} LEFT JOIN bodies b ON b.id = d.id
  WHERE d.id = ? AND d.type = ?`;

/**
 * Makes the reader of one request.
 *
 * @param thread searches aside; without one `searchAside` does it here
 */
export function createReader(store: ContentStore, thread: SearchThread | null = null): ContentReader {
  const tags = new Set<string>();

  const find = (type: DocumentType, slug: string): Row | null => {
    const key = canonicalSlug(slug);
    const row = store.prepare(bySlug).get(type, key) as Row | undefined;
    if (!row) tags.add(tag.slug(type, key));
    return row ?? null;
  };

  const links = (html: string): string => resolveLinks(html, store, (own) => void tags.add(own));

  const noteCard = (card: Card): Card => {
    tags.add(tag.card(card.id));
    tags.add(tag.navigation);
    if (card.author) tags.add(tag.byline(card.author.id));
    return card;
  };

  /** An id that is no published article still tags the page: it changes when the article appears. */
  const card = (id: number): Card | null => {
    const row = store.prepare(byId).get(id, 'articles') as Row | undefined;
    if (row) return noteCard(cardOf(row, sectionTable(store)));
    tags.add(tag.card(id));
    return null;
  };

  const cards = (ids: readonly number[]): Card[] => ids.flatMap((id) => card(id) ?? []);

  const videoById = (id: number): Video[] => {
    const row = store.prepare(byIdWithBody).get(id, 'video') as Row | undefined;
    if (!row) return [];
    const video = videoOf(row, sectionTable(store));
    tags.add(tag.video(id));
    tags.add(tag.navigation);
    if (video.author) tags.add(tag.byline(video.author.id));
    return [video];
  };

  const crosswordById = (id: number): Crossword[] => {
    const row = store.prepare(byId).get(id, 'crosswords') as Row | undefined;
    if (!row) return [];
    const crossword = crosswordOf(row);
    tags.add(tag.crossword(id));
    if (crossword.author) tags.add(tag.byline(crossword.author.id));
    return [crossword];
  };

  const fullAuthor = (id: number): Author | null => {
    tags.add(tag.profile(id));
    const row = store.prepare(byId).get(id, 'authors') as Row | undefined;
    return row ? authorOf(row) : null;
  };

  const articlesByIds = (filter: ArticleFilter): Slice<Card> => {
    const excluded = new Set(filter.exclude);
    const section = filter.section === undefined ? null : sectionTable(store).bySlug(canonicalSlug(filter.section));
    const wanted = [...new Set(filter.ids)].filter((id) => !excluded.has(id));
    const found = cards(wanted).filter((each) => {
      if (filter.since !== undefined && each.date < canonicalInstant(filter.since)) return false;
      if (filter.authorId !== undefined && each.author?.id !== filter.authorId) return false;
      if (filter.section === undefined) return true;
      return section !== null && isIn(store, `articles:section:${section.id}`, each);
    });
    const { offset, limit } = pageBounds(filter, wanted.length);
    return { items: found.slice(offset, offset + limit), total: found.length };
  };

  /** As the index wants it; `null` for a section that there is not. */
  const indexFilter = (filter: SearchFilter): IndexFilter | null => {
    tags.add(tag.search);
    const section =
      filter.section === undefined ? undefined : sectionTable(store).bySlug(canonicalSlug(filter.section));
    if (section === null || section?.id === 0) return null;
    const instant = (text: string | undefined) => (text === undefined ? undefined : canonicalInstant(text));
    const { offset, limit } = filter;
    return { offset, limit, since: instant(filter.since), until: instant(filter.until), term: section?.id };
  };

  const shown = ({ hits, total, instead }: FoundIds): FoundArticles => {
    const items = hits.flatMap(({ id, snippet }) => {
      const hit = card(id);
      return hit ? [{ ...hit, snippet }] : [];
    });
    return { items, total, instead };
  };

  const reader: ContentReader = {
    tags,
    note: (own) => void tags.add(own),
    edition() {
      const ready = store.getMeta('ready') === '1';
      if (!ready) tags.add(tag.site);
      return { ready, syncedAt: store.getMeta('synced-at') };
    },
    sections() {
      tags.add(tag.navigation);
      return sectionTable(store).inOrder;
    },
    section(slug) {
      tags.add(tag.navigation);
      return sectionTable(store).bySlug(canonicalSlug(slug));
    },
    menu(location) {
      tags.add(tag.navigation);
      const row = store.prepare('SELECT items FROM menus WHERE location = ?').get(location);
      return row ? (JSON.parse(String(row.items)) as MenuItem[]) : [];
    },
    article(slug) {
      const row = find('articles', slug);
      if (!row) return null;
      const sections = sectionTable(store);
      const base = cardOf(row, sections);
      tags.add(tag.article(base.id));
      tags.add(tag.navigation);
      const facts = JSON.parse(String(row.facts)) as { words?: number; commentsOpen?: boolean };
      const article: Article = {
        ...base,
        author: base.author ? fullAuthor(base.author.id) : null,
        sections: sections.of(JSON.parse(String(row.terms)) as number[]),
        bodyHtml: links(String(row.body ?? '')),
        openingHtml: links(String(row.opening ?? '')),
        words: facts.words ?? 0,
        commentsOpen: facts.commentsOpen ?? false,
      };
      if (article.author) tags.add(tag.byline(article.author.id));
      return article;
    },
    articles(filter) {
      if (filter.ids !== undefined) return articlesByIds(filter);
      const lists: string[] = [];
      if (filter.section !== undefined) {
        const section = sectionTable(store).bySlug(canonicalSlug(filter.section));
        tags.add(tag.section(canonicalSlug(filter.section)));
        if (!section || section.id === 0) return { items: [], total: 0 };
        lists.push(`articles:section:${section.id}`);
      }
      if (filter.authorId !== undefined) {
        tags.add(tag.author(filter.authorId));
        lists.push(`articles:author:${filter.authorId}`);
      }
      if (lists.length === 0) {
        tags.add(tag.latest);
        lists.push('articles');
      }
      const asked = { ...filter, since: filter.since === undefined ? undefined : canonicalInstant(filter.since) };
      return { items: cards(listIds(store, lists, asked, 10)), total: listTotal(store, lists, asked) };
    },
    besideVideo(video, limit) {
      tags.add(tag.beside(video.id));
      return besideIn(store, 'video', video, limit).flatMap(videoById);
    },
    besideCrossword(crossword, limit) {
      tags.add(tag.beside(crossword.id));
      return besideIn(store, 'crosswords', crossword, limit).flatMap(crosswordById);
    },
    topStories() {
      tags.add(tag.topStories);
      const choice = storedTopStories(store);
      if (!choice) return { featured: null, others: [], ids: [] };
      const found = cards([...new Set(choice.ids)]);
      const [first, ...others] = found;
      if (!first) return { featured: null, others: [], ids: [] };
      // The editors' words belong to the story that they put first, not to the one that moved up.
      const chosen = first.id === choice.ids[0];
      const featured: FeaturedStory = {
        ...first,
        breaking: chosen && choice.breaking,
        bulleted: chosen && choice.bulleted && choice.featuredExcerpt !== '',
        featuredExcerpt: (chosen && choice.featuredExcerpt) || first.excerpt,
      };
      return { featured, others, ids: found.map((each) => each.id) };
    },
    author(slug) {
      const row = find('authors', slug);
      if (!row) return null;
      const author = authorOf(row);
      tags.add(tag.profile(author.id));
      tags.add(tag.byline(author.id));
      return author;
    },
    authors() {
      tags.add(tag.authors);
      const rows = store
        .prepare("SELECT * FROM documents WHERE type = 'authors' ORDER BY title COLLATE NOCASE, id")
        .all();
      return rows.map((row) => {
        tags.add(tag.profile(Number(row.id)));
        return authorOf(row as Row);
      });
    },
    videos(filter) {
      tags.add(tag.videos);
      const lists = ['video'];
      if (filter.section !== undefined) {
        tags.add(tag.navigation);
        const section = sectionTable(store).bySlug(canonicalSlug(filter.section));
        if (!section || section.id === 0) return { items: [], total: 0 };
        lists[0] = `video:section:${section.id}`;
      }
      const items = listIds(store, lists, filter, 12).flatMap(videoById);
      return { items, total: listTotal(store, lists, filter) };
    },
    video(slug) {
      const row = find('video', slug);
      if (!row) return null;
      const video = videoOf(row, sectionTable(store));
      tags.add(tag.video(video.id));
      tags.add(tag.navigation);
      if (video.author) tags.add(tag.byline(video.author.id));
      return { ...video, bodyHtml: links(video.bodyHtml) };
    },
    crosswords(filter) {
      tags.add(tag.crosswords);
      const items = listIds(store, ['crosswords'], filter, 12).flatMap(crosswordById);
      return { items, total: listTotal(store, ['crosswords'], filter) };
    },
    crossword(slug) {
      const row = find('crosswords', slug);
      if (!row) return null;
      const crossword = crosswordOf(row);
      tags.add(tag.crossword(crossword.id));
      if (crossword.author) tags.add(tag.byline(crossword.author.id));
      return crossword;
    },
    page(slug) {
      tags.add(tag.page(canonicalSlug(slug)));
      const row = find('pages', slug);
      if (!row) return null;
      const page = pageOf(row);
      return { ...page, bodyHtml: links(page.bodyHtml) };
    },
    pages() {
      tags.add(tag.pages);
      const sql = `SELECT ${documentColumns}, b.body, b.opening FROM ${documentSource} LEFT JOIN bodies b ON b.id = d.id
        WHERE d.type = 'pages' ORDER BY d.title COLLATE NOCASE, d.id`;
      return store
        .prepare(sql)
        .all()
        .map((row) => {
          const page = pageOf(row as Row);
          tags.add(tag.page(page.slug));
          return page;
        });
    },
    comments(articleId, filter) {
      tags.add(tag.comments(articleId));
      return readComments(store, articleId, filter);
    },
    comment(id) {
      const found = readComment(store, id);
      if (found) tags.add(tag.comments(found.articleId));
      return found;
    },
    fate(type, slug) {
      const key = canonicalSlug(slug);
      tags.add(tag.slug(type, key));
      const old = store.prepare('SELECT id FROM old_slugs WHERE type = ? AND slug = ?').get(type, key);
      if (!old) return { kind: 'unknown' };
      const now = store.prepare('SELECT slug FROM documents WHERE id = ? AND type = ?').get(Number(old.id), type);
      if (!now) return { kind: 'gone' };
      tags.add(tag.slug(type, String(now.slug)));
      return { kind: 'moved', slug: String(now.slug) };
    },
    search(query, filter = {}) {
      const asked = indexFilter(filter);
      return asked ? shown(answerNow(store, query, asked)) : nothingFound;
    },
    async searchAside(query, filter = {}) {
      const asked = indexFilter(filter);
      if (!asked) return nothingFound;
      return shown(thread ? await answerAside(store, thread, query, asked) : answerNow(store, query, asked));
    },
  };
  return reader;
}

const nothingFound: FoundArticles = { items: [], total: 0, instead: [] };

/** Years of four digits: others are written in a longer form, which no date of a story can be compared with. */
const years = [Date.parse('0000-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59Z')] as const;

/** Any instant in the form in which the content store keeps them. */
function canonicalInstant(instant: string): string {
  const time = Date.parse(instant);
  if (Number.isNaN(time)) throw new RangeError(`Not an instant: ${instant}`);
  return `${new Date(Math.min(Math.max(time, years[0]), years[1])).toISOString().slice(0, 19)}Z`;
}

const isIn = (store: ContentStore, list: string, { date, id }: Card): boolean =>
  store.prepare('SELECT 1 FROM listing WHERE list = ? AND date = ? AND id = ?').get(list, date, id) !== undefined;
