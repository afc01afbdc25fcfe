/** Rules of comments: how texts and names are cleaned and checked, the orders of threads, and addresses. */
import { pageHref } from '../paging.ts';
import { commentInvalid } from './schema.ts';

// Invisible characters and those that change the direction of the text. Joiners and variation selectors stay: emoji and some scripts
// need them. So does the flag of a country such as Scotland: invisible letters after a black flag.
const invisible =
  /(\u{1f3f4}[\u{e0061}-\u{e007a}]{3,6}\u{e007f})|(?![\t\n\r\p{Join_C}\p{VS}])[\p{Cc}\p{DI}\ufff9-\ufffb]/gu;
const joiners = /[\u200c\u200d]{2,}/gu;
/** More marks on one letter than any language uses. */
const excessMarks = /(\p{M}{4})\p{M}+/gu;

const cleaned = (text: string): string =>
  text
    .toWellFormed()
    .normalize('NFC')
    .replace(invisible, '$1')
    // Braille without dots.
    .replaceAll('\u2800', ' ')
    .replace(joiners, (found) => found[0] ?? '')
    .replace(excessMarks, '$1');

/** A comment as it is stored and sent: one empty line between paragraphs, no white space at the ends. */
export const cleanComment = (text: string): string =>
  cleaned(text.replace(/\r\n|[\r\u2028\u2029]/gu, '\n'))
    .replace(/[^\S\n]+/gu, ' ')
    .replace(/ ?\n ?/gu, '\n')
    .replace(/\n{3,}/gu, '\n\n')
    .trim();

/** Length as a reader counts: by code point. */
export const lengthOf = (text: string): number => [...text].length;

/** A comment as HTML for WordPress, escaped so that readers see what the author typed. WordPress makes the paragraphs. */
export const asMarkup = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const shortestName = 2;
export const longestName = 50;

export const cleanName = (name: string): string => cleaned(name).replace(/\s+/gu, ' ').trim();

/** The problem with a commenter's name, as a message for the user; `null` if it is fine. */
export function nameProblem(name: string): string | null {
  if (name === '') return commentInvalid.noName;
  const length = lengthOf(name);
  if (length < shortestName || !/\p{L}/u.test(name)) return commentInvalid.shortName;
  if (length > longestName) return commentInvalid.longName(longestName);
  // An email or web address would be public.
  if (/@|:\/\/|\bwww\./iu.test(name)) return commentInvalid.addressAsName;
  return null;
}

/** First letters of a name's first and last word, for the mark next to a comment. */
export function initialsOf(name: string): string {
  const words = name.match(/\p{L}[\p{L}\p{M}'’-]*/gu) ?? [];
  const first = [...(words[0] ?? '')][0] ?? '';
  const last = words.length > 1 ? ([...(words.at(-1) ?? '')][0] ?? '') : '';
  return `${first}${last}`.toUpperCase();
}

/** One of `count` tints for a name, always the same. */
export function tintOf(name: string, count: number): number {
  let sum = 0;
  for (const sign of name) sum = (sum * 31 + (sign.codePointAt(0) ?? 0)) % 9973;
  return sum % count;
}

/** Order of the threads under an article. */
export type CommentSort = 'newest' | 'oldest' | 'replies';

/** All orders with their names, the default first. */
export const commentSorts: readonly { readonly sort: CommentSort; readonly name: string }[] = [
  { sort: 'newest', name: 'Newest' },
  { sort: 'oldest', name: 'Oldest' },
  { sort: 'replies', name: 'Most replies' },
];

/** The order that an address requests; `null`: unknown. The default order has no parameter. */
export function sortOf(params: URLSearchParams): CommentSort | null {
  const given = params.get('sort');
  if (given === null) return 'newest';
  return given === 'oldest' || given === 'replies' ? given : null;
}

/** Address of a page of an article's comments. */
export const commentsPath = (slug: string, page = 1, sort: CommentSort = 'newest'): string =>
  pageHref(`/article/${slug}/comments${sort === 'newest' ? '' : `?sort=${sort}`}`, page);

/** Address of one comment with all its replies. */
export const threadPath = (slug: string, comment: number, page = 1): string =>
  pageHref(`/article/${slug}/comments/${comment}`, page);

/** The page where comments are written, edited and reported without JavaScript; its form posts to it. */
export const commentForm = '/account/comment';

/**
 * Path of the comment form page.
 *
 * @param what the comment to reply to or report, or the user's own comment to edit, by our id; omitted: a new comment
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

/** "1 comment", "1,204 comments". */
export const countText = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;

// Tables of the comments, created by `src/server/migrations/reading.ts`. The published text is stored in WordPress.

/** A user's comments, for showing them before approval, for edits and for the export. */
export interface CommentPostsTable {
  id: string;
  user_id: string;
  /** The browser's id of the draft: sent twice, it is one comment. */
  draft: string;
  article_id: number;
  /** Comment that it replies to; 0: none. */
  parent_id: number;
  /** Name shown with it. */
  name: string;
  content: string;
  /** `sending`: WordPress has not responded yet; `waiting` for the editors; `declined` by them; `removed` by its author. */
  state: 'sending' | 'waiting' | 'published' | 'declined' | 'removed';
  wordpress_id: number | null;
  /** When it was last sent, epoch milliseconds; 0: no request is sending it. */
  claimed: number;
  created: number;
  edited: number | null;
  /** When WordPress was last asked for its state. */
  checked: number;
}

/** One report for each user and comment. */
export interface CommentReportsTable {
  user_id: string;
  /** WordPress's id. */
  comment_id: number;
  at: number;
}

export interface CommentsTables {
  comment_posts: CommentPostsTable;
  comment_reports: CommentReportsTable;
}
