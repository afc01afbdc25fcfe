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

/** Best match first: a word in a title weighs more than in a standfirst, an author's name, the body. */
export function searchArticles(mirror: Mirror, query: string, filter: SearchFilter): FoundArticles {
  const match = toMatch(query);
  if (match === null) return { hits: [], total: 0 };
  const { offset, limit } = pageBounds(filter, 10);
  let where = 'search MATCH ?';
  const values: (string | number)[] = [match];
  if (filter.term !== undefined || filter.since !== undefined) {
    where += ' AND rowid IN (SELECT id FROM listing WHERE list = ? AND date >= ?)';
    values.push(filter.term === undefined ? 'articles' : `articles:section:${filter.term}`, filter.since ?? '');
  }
  const total = Number(mirror.prepare(`SELECT count(*) AS n FROM search WHERE ${where}`).get(...values)?.n ?? 0);
  if (total === 0 || limit === 0) return { hits: [], total };
  // Two steps, so that snippets are only cut for the hits that are shown.
  const ids = mirror
    .prepare(`SELECT rowid AS id FROM search WHERE ${where} ORDER BY rank LIMIT ? OFFSET ?`)
    .all(...values, limit, offset)
    .map((row) => Number(row.id));
  // A number is bound as a float, and FTS5 looks rowids up by integers alone: without the cast every hit gets the first one's.
  const cut = mirror.prepare(
    "SELECT snippet(search, -1, char(1), char(2), '…', 32) AS snippet FROM search WHERE search MATCH ? AND rowid = CAST(? AS INTEGER)",
  );
  return { hits: ids.map((id) => ({ id, snippet: String(cut.get(match, id)?.snippet ?? '') })), total };
}
