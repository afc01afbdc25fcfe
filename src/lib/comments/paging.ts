/** Addresses and counts of the comments of an article; the same with and without JavaScript. */
import { pageHref } from '../paging.ts';

/** Where the comments of an article are read page by page. */
export const commentsPath = (slug: string, page = 1): string => pageHref(`/article/${slug}/comments`, page);

/** Where one comment is read with all its replies. */
export const threadPath = (slug: string, comment: number, page = 1): string =>
  pageHref(`/article/${slug}/comments/${comment}`, page);

/** Number of a comment from its address; `null` when what is given is none. WordPress counts comments on without end. */
export const commentNumber = (given: string): number | null => (/^[1-9]\d{0,14}$/u.test(given) ? Number(given) : null);

/** "1 comment", "1,204 comments". */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
