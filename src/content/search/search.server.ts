/**
 * Full-text search over titles, standfirsts, authors and public text of bodies. What it costs is bounded: all matches are counted,
 * but only as many are ranked as a reader may look through (docs/decisions/0023). It needs the index and nothing else, so that it
 * can be done in a thread of its own (search-thread.server.ts).
 */
import type { ContentStore } from '../store/content-store.server.ts';
import { pageBounds } from '../store/lists.server.ts';
import { keyOf, sectionWord } from './index.server.ts';
import { docsOf, meantBy, type Query, readQuery, toMatch, without } from './words.server.ts';

export interface SearchFilter {
  /** Category term that hits must belong to. */
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
  /** Words that were looked for beside those that were typed, because too little was found with these. */
  readonly instead: readonly string[];
}

/** The file with the search index, in whichever thread. */
export type Index = Pick<ContentStore, 'prepare'>;

/** More matches than this are not ranked by how well they match, but by where: it bounds the time of a common word. */
const ranked = 1000;

/** With fewer hits than this the last word is also taken as the beginning of one. */
const enough = 10;

/** With fewer hits than this a word may be mistyped. */
const tooFew = 3;

/** Numbers of scripts arrive as floating point, by which the index finds no row: unnoticed, it would give all of them. */
const within = 'rowid BETWEEN CAST(? AS INTEGER) AND CAST(? AS INTEGER)';

/** What one search asks of the index. */
interface Asked {
  /** The words in the language of FTS5, without the filter. */
  readonly words: string;
  /** What is added for it. */
  readonly facet: string;
  /** Span of keys. */
  readonly from: number;
  readonly to: number;
}

const matchOf = ({ words, facet }: Asked): string => `(${words})${facet}`;

/**
 * Best match first: a word in a title weighs more than in a standfirst, an author's name, the body. Of more than a thousand
 * matches those with all words in the title come first, then those with all words above the text, then the others, the newest first
 * each time.
 */
export function searchArticles(store: Index, text: string, filter: SearchFilter): FoundArticles {
  const typed = readQuery(text);
  const none: FoundArticles = { hits: [], total: 0, instead: [] };
  if (typed === null) return none;
  const query = tellingPart(store, typed);
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
    const meant = whatWasMeant(store, query);
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

/** Papers with fewer stories than this are searched for every word. */
const large = 1000;
/** A word that more stories have than this share tells none apart ("the", "said"). */
const common = 0.4;
/** Where all words are that common, so many of them have to do: the least common. */
const mostCommon = 4;

/** The query without the words that nearly every story has: to go through these for each is what takes time, and changes little. */
function tellingPart(store: Index, query: Query): Query {
  const { terms } = query;
  const stories = Number(store.prepare("SELECT n FROM list_counts WHERE list = 'articles'").get()?.n ?? 0);
  if (stories < large || terms.length === 1) return query;
  const docs = terms.map(({ words, plain }) => (plain ? docsOf(store, words[0] ?? '') : 0));
  const byDocs = [...docs.keys()].sort((a, b) => (docs[b] ?? 0) - (docs[a] ?? 0));
  const usual = byDocs.filter((index) => (docs[index] ?? 0) > stories * common);
  return without(query, new Set(usual.length < terms.length ? usual : usual.slice(0, -mostCommon)));
}

/** So many words of a query may be mistyped. To look for what was meant goes through thousands of words for each. */
const mostMistyped = 4;

/** For each term that may be mistyped the words that were probably meant; of many terms the rarest are looked at. */
function whatWasMeant(store: Index, { terms }: Query): Map<number, readonly string[]> {
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

/** Keys of one page of a thousand matches at most, best first; among equals the newer first. */
function keysByRank(store: Index, asked: Asked, offset: number, limit: number): number[] {
  const all = store
    .prepare(`SELECT rowid AS key, rank AS score FROM search WHERE search MATCH ? AND ${within}`)
    .all(matchOf(asked), asked.from, asked.to) as { key: number; score: number }[];
  all.sort((a, b) => a.score - b.score || b.key - a.key);
  return all.slice(offset, offset + limit).map(({ key }) => key);
}

/** Keys of one page of any number of matches. Only as many are walked as the page is far down. */
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
    // The page begins here, or further down by as many as there are here.
    skip = keys.length > 0 ? 0 : skip - countMatches(store, { ...asked, words: place });
  }
  return keys;
}

/** The stories at some keys with a snippet of each; one look for each key, for a pass over all matches costs far more. */
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
