/** Addresses and counts of the comments of an article; the same with and without JavaScript. */
import { pageHref } from '../paging.ts';

/** In which order the threads of an article are read. */
export type CommentSort = 'newest' | 'oldest' | 'replies';

/** All orders with their names, the usual one first. */
export const commentSorts: readonly { readonly sort: CommentSort; readonly name: string }[] = [
  { sort: 'newest', name: 'Newest' },
  { sort: 'oldest', name: 'Oldest' },
  { sort: 'replies', name: 'Most replies' },
];

/** The order that an address asks for; `null`: it asks for one that there is not. The usual one has the plain address. */
export function sortOf(params: URLSearchParams): CommentSort | null {
  const given = params.get('sort');
  if (given === null) return 'newest';
  return given === 'oldest' || given === 'replies' ? given : null;
}

/** Where the comments of an article are read page by page. */
export const commentsPath = (slug: string, page = 1, sort: CommentSort = 'newest'): string =>
  pageHref(`/article/${slug}/comments${sort === 'newest' ? '' : `?sort=${sort}`}`, page);

/** Where one comment is read with all its replies. */
export const threadPath = (slug: string, comment: number, page = 1): string =>
  pageHref(`/article/${slug}/comments/${comment}`, page);

/** The page on which comments are written, changed and reported without a script; both ends of its form. */
export const commentForm = '/account/comment';

/**
 * Address of that page.
 *
 * @param what the comment that is answered, or reported; an own one that is changed, by our number; nothing: a new one
 */
export function commentFormPath(
  articleId: number,
  what: { readonly parent?: number; readonly report?: number; readonly edit?: string; readonly state?: string } = {},
): string {
  const query = new URLSearchParams({ article: String(articleId) });
  for (const [name, value] of Object.entries(what))
    if (value !== undefined && value !== 0) query.set(name, String(value));
  return `${commentForm}?${query}`;
}

/** Number of a comment from its address; `null` when what is given is none. WordPress counts comments on without end. */
export const commentNumber = (given: string): number | null => (/^[1-9]\d{0,14}$/u.test(given) ? Number(given) : null);

/** "1 comment", "1,204 comments". */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
