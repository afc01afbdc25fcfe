/**
 * The standfirst of a story. Without an excerpt WordPress makes one of the story's first words, which is of use in lists and
 * to search engines, but would be read twice above the story itself.
 */

/** Letters by which two openings are taken for the same. */
const telling = 40;
/** How far into a body its opening is looked for, in characters of markup: behind a picture, its caption and a heading. */
const opening = 6000;

const letters = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, '');

/**
 * @param excerpt plain text
 * @param bodyHtml sanitized markup, at least the story's opening
 * @returns the excerpt, or `''` when it only repeats how the body begins
 */
export function standfirstOf(excerpt: string, bodyHtml: string): string {
  const said = letters(excerpt);
  if (said === '') return excerpt;
  const body = letters(bodyHtml.slice(0, opening).replace(/<[^>]*>|&[a-z0-9#]+;/giu, ' '));
  if (said.length < telling) return body === said ? '' : excerpt;
  return body.includes(said.slice(0, telling)) ? '' : excerpt;
}
