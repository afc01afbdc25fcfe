/** Full-text search over titles, standfirsts, authors and public text of bodies. */
import { type ListFilter, pageBounds } from './lists.server.ts';
import type { Mirror } from './mirror.server.ts';
import { toMatch } from './search-query.ts';

export interface SearchFilter extends ListFilter {
  /** Category term that hits must belong to. */
  readonly term?: number | undefined;
}

export interface FoundArticles {
  readonly hits: readonly { readonly id: number; readonly snippet: string }[];
  readonly total: number;
}

/** Newest matches that are ranked against each other; bounds the time that a very common word takes. */
const ranked = 1000;

/** With fewer hits than this the last word is also taken as the beginning of one. */
const enough = 10;

/**
 * Best match first: a word in a title weighs more than in a standfirst, an author's name, the body. Of more than a thousand
 * matches the newest thousand are ranked and the others follow, newest first.
 */
export function searchArticles(mirror: Mirror, query: string, filter: SearchFilter): FoundArticles {
  const match = toMatch(query);
  if (match === null) return { hits: [], total: 0 };
  let where = 'search MATCH ?';
  const further: (string | number)[] = [];
  if (filter.term !== undefined || filter.since !== undefined) {
    where += ' AND EXISTS (SELECT 1 FROM listing l WHERE l.id = search.rowid AND l.list = ? AND l.date >= ?)';
    further.push(filter.term === undefined ? 'articles' : `articles:section:${filter.term}`, filter.since ?? '');
  }
  const count = (asked: string): number =>
    Number(mirror.prepare(`SELECT count(*) AS n FROM search WHERE ${where}`).get(asked, ...further)?.n ?? 0);
  let asked = match.exact;
  let total = count(asked);
  if (total < enough && match.beginning !== null) {
    asked = match.beginning;
    total = count(asked);
  }
  const ids = total === 0 ? [] : rankedIds(mirror, where, [asked, ...further], total, filter);
  return { hits: withSnippets(mirror, asked, ids), total };
}

function rankedIds(
  mirror: Mirror,
  where: string,
  values: (string | number)[],
  total: number,
  filter: ListFilter,
): number[] {
  const { offset, limit } = pageBounds(filter, 10);
  const newest = mirror
    .prepare(`SELECT rowid AS id, rank AS score FROM search WHERE ${where} ORDER BY rowid DESC LIMIT ${ranked}`)
    .all(...values) as { id: number; score: number }[];
  newest.sort((a, b) => a.score - b.score || b.id - a.id);
  const ids = newest.slice(offset, offset + limit).map(({ id }) => id);
  if (ids.length < limit && total > ranked) {
    const older = mirror.prepare(`SELECT rowid AS id FROM search WHERE ${where} ORDER BY rowid DESC LIMIT ? OFFSET ?`);
    const rows = older.all(...values, limit - ids.length, Math.max(ranked, offset));
    ids.push(...rows.map((row) => Number(row.id)));
  }
  return ids;
}

/** Snippets of the hits that are shown, in one pass over the matches. */
function withSnippets(mirror: Mirror, asked: string, ids: readonly number[]): FoundArticles['hits'] {
  if (ids.length === 0) return [];
  const rows = mirror
    .prepare(
      `SELECT rowid AS id, snippet(search, -1, char(1), char(2), '…', 32) AS snippet FROM search
      WHERE search MATCH ? AND +rowid IN (SELECT value FROM json_each(?))`,
    )
    .all(asked, JSON.stringify(ids));
  const snippets = new Map(rows.map((row) => [Number(row.id), String(row.snippet)]));
  return ids.map((id) => ({ id, snippet: snippets.get(id) ?? '' }));
}
