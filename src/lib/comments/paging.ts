/** Addresses and page numbers of the comments of an article; the same with and without JavaScript. */

/** Where the comments of an article are read page by page. */
export const commentsPath = (slug: string, page = 1): string =>
  `/article/${slug}/comments${page > 1 ? `?page=${page}` : ''}`;

/** Where one comment is read with all its replies. */
export const threadPath = (slug: string, comment: number, page = 1): string =>
  `/article/${slug}/comments/${comment}${page > 1 ? `?page=${page}` : ''}`;

/** Number of a page from its address: 1 when none is given, `null` when what is given is no page number. */
export function pageNumber(given: string | null): number | null {
  if (given === null || given === '') return 1;
  return /^[1-9]\d{0,5}$/u.test(given) ? Number(given) : null;
}

/** Pages that `total` things fill; an empty list has one page. */
export const pageCount = (total: number, size: number): number => Math.max(1, Math.ceil(total / size));

/** "1 comment", "1,204 comments". */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
