/** Pages of a list under `?page=N`; the first page has no number. */

/** A reader's position in a list. */
export interface Paging {
  readonly page: number;
  readonly pages: number;
  readonly previous: string | null;
  readonly next: string | null;
}

/**
 * Number of the requested page. `null` if the parameter isn't a page number (the response is then 404): `0`, `-1`, `abc`, `02`.
 * `1` is valid here; {@link isAlias} says that it has a shorter address.
 */
export function pageNumber(params: URLSearchParams): number | null {
  const given = params.get('page');
  if (given === null) return 1;
  if (!/^[1-9]\d{0,5}$/u.test(given)) return null;
  return Number(given);
}

/** True for `?page=1`, which is the list's plain address and redirects there. */
export const isAlias = (params: URLSearchParams): boolean => params.get('page') === '1';

/** Address of one page of the list at `path`, which may have a query of its own. */
export const pageHref = (path: string, page: number): string =>
  page <= 1 ? path : `${path}${path.includes('?') ? '&' : '?'}page=${page}`;

/** Number of pages for `total` items; an empty list has one page. */
export const pageCount = (total: number, size: number): number => Math.max(1, Math.ceil(total / size));

/**
 * Neighbors of a page.
 *
 * @param total how many things the list has in all
 * @returns `null` if the list has fewer pages; the first page exists even if it is empty
 */
export function paging(path: string, page: number, total: number, size: number): Paging | null {
  const pages = pageCount(total, size);
  if (page > pages) return null;
  return {
    page,
    pages,
    previous: page > 1 ? pageHref(path, page - 1) : null,
    next: page < pages ? pageHref(path, page + 1) : null,
  };
}

/**
 * The page of a list that an address requests.
 *
 * @param path address of the first page
 * @param read reads a part of the list
 * @returns a response if there is no such page (404), or if it has a shorter address (301)
 */
export function listPage<Part extends { readonly total: number }>(
  { searchParams }: URL,
  path: string,
  size: number,
  read: (part: { readonly offset: number; readonly limit: number }) => Part,
): Response | (Part & { readonly place: Paging; readonly first: boolean; readonly suffix: string }) {
  const page = pageNumber(searchParams);
  if (page === null) return new Response(null, { status: 404 });
  if (isAlias(searchParams)) return new Response(null, { status: 301, headers: { location: path } });
  const part = read({ offset: (page - 1) * size, limit: size });
  const place = paging(path, page, part.total, size);
  if (!place) return new Response(null, { status: 404 });
  return { ...part, place, first: page === 1, suffix: page === 1 ? '' : `, page ${page}` };
}
