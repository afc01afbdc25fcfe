/**
 * Full-text search over titles, standfirsts, authors and public text of bodies. Its cost is limited: it counts all matches, but ranks
 * only as many as a reader may page through (docs/decisions/0023). It needs the index alone, so that it can run in a thread of its own
 * (search-thread.server.ts).
 */
import type { ContentStore } from '../store/content-store.server.ts';
import { pageBounds } from '../store/lists.server.ts';
import { keyOf, sectionWord } from './index.server.ts';
import { docsOf, meantBy, type Query, readQuery, toMatch, without } from './words.server.ts';

export interface SearchFilter {
  /** Category term that hits must have. */
  readonly term?: number | undefined;
  /** Canonical UTC instants: published at or after `since`, and before `until`; to the minute. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

export interface FoundArticles {
  readonly hits: readonly { readonly id: number; readonly snippet: string }[];
  readonly total: number;
  /** Words that the search added to the typed ones, because those found too little. */
  readonly instead: readonly string[];
}

/** The database with the search index, in either thread. */
export type Index = Pick<ContentStore, 'prepare'>;

/**
 * Above this number of matches, results are ordered by the field that matches instead of by rank, which limits the time for a
 * common word.
 */
const ranked = 1000;

/** With fewer hits than this, the last word also matches as a prefix. */
const enough = 10;

/** With fewer hits than this, the search also looks for words that the reader may have meant. */
const tooFew = 3;

/** JavaScript numbers reach SQLite as floating point, and FTS5 ignores such bounds: without the cast, the query would return all rows. */
const within = 'rowid BETWEEN CAST(? AS INTEGER) AND CAST(? AS INTEGER)';

/** The parts of a query to the index. */
interface Asked {
  /** The words as an FTS5 query, without the filter. */
  readonly words: string;
  /** The FTS5 condition for the filter. */
  readonly facet: string;
  /** Range of keys. */
  readonly from: number;
  readonly to: number;
}

const matchOf = ({ words, facet }: Asked): string => `(${words})${facet}`;

/**
 * Best match first: a word in a title weighs more than one in a standfirst, an author's name or the body. Of more than a thousand
 * matches, those with all words in the title come first, then those with all words above the body, then the others, each group newest
 * first.
 */
export function searchArticles(store: Index, text: string, filter: SearchFilter): FoundArticles {
  const typed = readQuery(text);
  const none: FoundArticles = { hits: [], total: 0, instead: [] };
  if (typed === null) return none;
  const query = selectiveTerms(store, typed);
  const from = filter.since === undefined ? 0 : keyOf(filter.since);
  const to = filter.until === undefined ? Number.MAX_SAFE_INTEGER : keyOf(filter.until) - 1;
  const facet = filter.term === undefined ? '' : ` AND facets : "${sectionWord(filter.term)}"`;
  const ask = (words: string): Asked => ({ words, facet, from, to });

  let asked = ask(toMatch(query));
  let total = countMatches(store, asked);
  if (total < enough && query.open) {
    asked = ask(toMatch(query, { beginning: true }));
    total = countMatches(store, asked);
  }
  let instead: readonly string[] = [];
  if (total < tooFew) {
    const meant = correctionsOf(store, query);
    const wider = ask(toMatch(query, { beginning: total > 0, instead: meant }));
    const more = meant.size === 0 ? 0 : countMatches(store, wider);
    if (more > total) {
      [asked, total] = [wider, more];
      instead = [...meant.values()].flat();
    }
  }
  const { offset, limit } = pageBounds(filter, 10);
  if (offset >= total) return { ...none, total, instead };
  const keys = total > ranked ? keysByPlace(store, asked, offset, limit) : keysByRank(store, asked, offset, limit);
  return { hits: hitsAt(store, asked, keys), total, instead };
}

const countMatches = (store: Index, asked: Asked): number =>
  Number(
    store
      .prepare(`SELECT count(*) AS n FROM search WHERE search MATCH ? AND ${within}`)
      .get(matchOf(asked), asked.from, asked.to)?.n ?? 0,
  );

/** In archives with fewer stories than this, every word is searched for. */
const large = 1000;
/** A word in more than this share of the stories doesn't narrow a search ("the", "said"). */
const common = 0.4;
/** If all words are that common, the search uses this many, the rarest. */
const mostCommon = 4;

/** The query without the words that nearly every story has: matching them takes most of the time and changes little. */
function selectiveTerms(store: Index, query: Query): Query {
  const { terms } = query;
  const stories = Number(store.prepare("SELECT n FROM list_counts WHERE list = 'articles'").get()?.n ?? 0);
  if (stories < large || terms.length === 1) return query;
  const docs = terms.map(({ words, plain }) => (plain ? docsOf(store, words[0] ?? '') : 0));
  const byDocs = [...docs.keys()].sort((a, b) => (docs[b] ?? 0) - (docs[a] ?? 0));
  const usual = byDocs.filter((index) => (docs[index] ?? 0) > stories * common);
  return without(query, new Set(usual.length < terms.length ? usual : usual.slice(0, -mostCommon)));
}

/** Most words of a query that are checked for typing mistakes: each check reads thousands of words. */
const mostMistyped = 4;

/** For each word that may be mistyped, the words that the reader probably meant; of many words only the rarest are checked. */
function correctionsOf(store: Index, { terms }: Query): Map<number, readonly string[]> {
  const meant = new Map<number, readonly string[]>();
  const rarest = [...terms.entries()]
    .flatMap(
      ([
        index,
        {
          words: [word = ''],
          plain,
        },
      ]) => (plain ? [{ index, word, docs: docsOf(store, word) }] : []),
    )
    .sort((a, b) => a.docs - b.docs)
    .slice(0, mostMistyped)
    .sort((a, b) => a.index - b.index);
  for (const { index, word } of rarest) {
    const others = meantBy(store, word);
    if (others.length > 0) meant.set(index, others);
  }
  return meant;
}

/** Keys of one page of at most a thousand matches, best first; among equals, newest first. */
function keysByRank(store: Index, asked: Asked, offset: number, limit: number): number[] {
  const all = store
    .prepare(`SELECT rowid AS key, rank AS score FROM search WHERE search MATCH ? AND ${within}`)
    .all(matchOf(asked), asked.from, asked.to) as { key: number; score: number }[];
  all.sort((a, b) => a.score - b.score || b.key - a.key);
  return all.slice(offset, offset + limit).map(({ key }) => key);
}

/** Keys of one page of any number of matches. It reads no further than to the end of the page. */
function keysByPlace(store: Index, asked: Asked, offset: number, limit: number): number[] {
  const title = `{title} : (${asked.words})`;
  const above = `{title standfirst author} : (${asked.words})`;
  const places = [title, `((${above}) NOT (${title}))`, `((${asked.words}) NOT (${above}))`];
  const keys: number[] = [];
  let skip = offset;
  for (const place of places) {
    const match = `(${place})${asked.facet}`;
    const rows = store
      .prepare(
        `SELECT rowid AS key FROM search WHERE search MATCH ? AND ${within} ORDER BY rowid DESC LIMIT ? OFFSET ?`,
      )
      .all(match, asked.from, asked.to, limit - keys.length, skip);
    keys.push(...rows.map((row) => Number(row.key)));
    if (keys.length === limit) break;
    // The page starts in this group, or further down by the number of matches here.
    skip = keys.length > 0 ? 0 : skip - countMatches(store, { ...asked, words: place });
  }
  return keys;
}

/** The stories at some keys with a snippet of each; one query for each key, because one over all matches would cost far more. */
function hitsAt(store: Index, asked: Asked, keys: readonly number[]): FoundArticles['hits'] {
  const ids = store.prepare('SELECT id FROM search_keys WHERE key = ?');
  const snippets = store.prepare(
    `SELECT snippet(search, -1, char(1), char(2), '…', 32) AS snippet FROM search WHERE search MATCH ? AND ${within}`,
  );
  return keys.flatMap((key) => {
    const row = ids.get(key);
    const snippet = snippets.get(asked.words, key, key)?.snippet ?? '';
    return row ? [{ id: Number(row.id), snippet: String(snippet) }] : [];
  });
}
