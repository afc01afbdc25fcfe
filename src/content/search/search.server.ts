/**
 * Full-text search over titles, standfirsts, authors and public text of bodies. Its cost is limited: it counts all matches, but ranks
 * only as many as a reader may page through (docs/decisions/0023). It needs the index alone, so that it can run in a thread of its own
 * (search-thread.server.ts).
 */
import type { ContentStore } from '../store/content-store.server.ts';
import { pageBounds } from '../store/lists.server.ts';
import { keyOf, sectionWord } from './index.server.ts';
import { type Query, readQuery, spellingSuggestions, storiesWith, toMatch, withoutTerms } from './words.server.ts';

export interface IndexFilter {
  /** Category term that hits must have. */
  readonly term?: number | undefined;
  /** Canonical UTC instants: published at or after `since`, and before `until`; to the minute. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

/** Stories of the index, without the contents of their cards. */
export interface FoundIds {
  readonly hits: readonly { readonly id: number; readonly snippet: string }[];
  readonly total: number;
  /** Words that the search added to the typed ones, because those found too little. */
  readonly added: readonly string[];
}

/** The database with the search index, in either thread. */
export type Index = Pick<ContentStore, 'prepare'>;

/**
 * Above this number of matches, results are ordered by the field that matches instead of by rank, which limits the time for a
 * common word.
 */
const mostRanked = 1000;

/** With fewer hits than this, the last word also matches as a prefix. */
const prefixBelow = 10;

/** With fewer hits than this, the search also looks for words that the reader may have meant. */
const correctBelow = 3;

/** JavaScript numbers reach SQLite as floating point, and FTS5 ignores such bounds: without the cast, the query would return all rows. */
const within = 'rowid BETWEEN CAST(? AS INTEGER) AND CAST(? AS INTEGER)';

/** The parts of a query to the index. */
interface IndexQuery {
  /** The words as an FTS5 query, without the filter. */
  readonly words: string;
  /** The FTS5 condition for the filter. */
  readonly facet: string;
  /** Range of keys. */
  readonly from: number;
  readonly to: number;
}

const matchOf = ({ words, facet }: IndexQuery): string => `(${words})${facet}`;

/**
 * Best match first: a word in a title weighs more than one in a standfirst, an author's name or the body. Of more than a thousand
 * matches, those with all words in the title come first, then those with all words above the body, then the others, each group newest
 * first.
 */
export function searchArticles(store: Index, text: string, filter: IndexFilter): FoundIds {
  const typed = readQuery(text);
  const none: FoundIds = { hits: [], total: 0, added: [] };
  if (typed === null) return none;
  const selective = selectiveTerms(store, typed);
  const from = filter.since === undefined ? 0 : keyOf(filter.since);
  const to = filter.until === undefined ? Number.MAX_SAFE_INTEGER : keyOf(filter.until) - 1;
  const facet = filter.term === undefined ? '' : ` AND facets : "${sectionWord(filter.term)}"`;
  const withFilter = (words: string): IndexQuery => ({ words, facet, from, to });

  let query = withFilter(toMatch(selective));
  let total = countMatches(store, query);
  if (total < prefixBelow && selective.lastMayBePrefix) {
    query = withFilter(toMatch(selective, { lastAsPrefix: true }));
    total = countMatches(store, query);
  }
  let added: readonly string[] = [];
  if (total < correctBelow) {
    const suggestions = suggestionsFor(store, selective);
    const wider = withFilter(toMatch(selective, { lastAsPrefix: total > 0, alternatives: suggestions }));
    const more = suggestions.size === 0 ? 0 : countMatches(store, wider);
    if (more > total) {
      [query, total] = [wider, more];
      added = [...suggestions.values()].flat();
    }
  }
  const { offset, limit } = pageBounds(filter, 10);
  if (offset >= total) return { ...none, total, added };
  const keys = total > mostRanked ? keysByPlace(store, query, offset, limit) : keysByRank(store, query, offset, limit);
  return { hits: hitsAt(store, query, keys), total, added };
}

const countMatches = (store: Index, query: IndexQuery): number =>
  Number(
    store
      .prepare(`SELECT count(*) AS n FROM search WHERE search MATCH ? AND ${within}`)
      .get(matchOf(query), query.from, query.to)?.n ?? 0,
  );

/** In archives with fewer stories than this, every word is searched for. */
const smallArchive = 1000;
/** A word in more than this share of the stories doesn't narrow a search ("the", "said"). */
const commonShare = 0.4;
/** If all words are that common, the search uses this many, the rarest. */
const mostCommon = 4;

/** The query without the words that nearly every story has: matching them takes most of the time and changes little. */
function selectiveTerms(store: Index, query: Query): Query {
  const { terms } = query;
  const stories = Number(store.prepare("SELECT n FROM list_counts WHERE list = 'articles'").get()?.n ?? 0);
  if (stories < smallArchive || terms.length === 1) return query;
  const docs = terms.map(({ words, plain }) => (plain ? storiesWith(store, words[0] ?? '') : 0));
  const byDocs = [...docs.keys()].sort((a, b) => (docs[b] ?? 0) - (docs[a] ?? 0));
  const common = byDocs.filter((index) => (docs[index] ?? 0) > stories * commonShare);
  return withoutTerms(query, new Set(common.length < terms.length ? common : common.slice(0, -mostCommon)));
}

/** Most words of a query that are checked for typing mistakes: each check reads thousands of words. */
const mostMistyped = 4;

/** For each word that may be mistyped, the words that the reader probably meant; of many words only the rarest are checked. */
function suggestionsFor(store: Index, { terms }: Query): Map<number, readonly string[]> {
  const suggestions = new Map<number, readonly string[]>();
  const rarest = [...terms.entries()]
    .flatMap(
      ([
        index,
        {
          words: [word = ''],
          plain,
        },
      ]) => (plain ? [{ index, word, docs: storiesWith(store, word) }] : []),
    )
    .sort((a, b) => a.docs - b.docs)
    .slice(0, mostMistyped)
    .sort((a, b) => a.index - b.index);
  for (const { index, word } of rarest) {
    const others = spellingSuggestions(store, word);
    if (others.length > 0) suggestions.set(index, others);
  }
  return suggestions;
}

/** Keys of one page of at most a thousand matches, best first; among equals, newest first. */
function keysByRank(store: Index, query: IndexQuery, offset: number, limit: number): number[] {
  const all = store
    .prepare(`SELECT rowid AS key, rank AS score FROM search WHERE search MATCH ? AND ${within}`)
    .all(matchOf(query), query.from, query.to) as { key: number; score: number }[];
  all.sort((a, b) => a.score - b.score || b.key - a.key);
  return all.slice(offset, offset + limit).map(({ key }) => key);
}

/** Keys of one page of any number of matches. It reads no further than to the end of the page. */
function keysByPlace(store: Index, query: IndexQuery, offset: number, limit: number): number[] {
  const title = `{title} : (${query.words})`;
  const above = `{title standfirst author} : (${query.words})`;
  const places = [title, `((${above}) NOT (${title}))`, `((${query.words}) NOT (${above}))`];
  const keys: number[] = [];
  let skip = offset;
  for (const place of places) {
    const match = `(${place})${query.facet}`;
    const rows = store
      .prepare(
        `SELECT rowid AS key FROM search WHERE search MATCH ? AND ${within} ORDER BY rowid DESC LIMIT ? OFFSET ?`,
      )
      .all(match, query.from, query.to, limit - keys.length, skip);
    keys.push(...rows.map((row) => Number(row.key)));
    if (keys.length === limit) break;
    // The page starts in this group, or further down by the number of matches here.
    skip = keys.length > 0 ? 0 : skip - countMatches(store, { ...query, words: place });
  }
  return keys;
}

/** The stories at some keys with a snippet of each; one query for each key, because one over all matches would cost far more. */
function hitsAt(store: Index, query: IndexQuery, keys: readonly number[]): FoundIds['hits'] {
  const ids = store.prepare('SELECT id FROM search_keys WHERE key = ?');
  const snippets = store.prepare(
    `SELECT snippet(search, -1, char(1), char(2), '…', 32) AS snippet FROM search WHERE search MATCH ? AND ${within}`,
  );
  return keys.flatMap((key) => {
    const row = ids.get(key);
    const snippet = snippets.get(query.words, key, key)?.snippet ?? '';
    return row ? [{ id: Number(row.id), snippet: String(snippet) }] : [];
  });
}
