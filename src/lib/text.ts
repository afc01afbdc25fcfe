/** Small pure functions for plain text. */

/**
 * Cuts text at a word so that the result, ellipsis included, has at most `limit` characters, counted by code point. A longer word is cut
 * between the characters that a reader sees. Text that fits is returned unchanged, except that white space is collapsed.
 */
export function truncateAtWord(text: string, limit: number): string {
  const collapsed = text.replace(/\s+/gu, ' ').trim();
  const points = [...collapsed];
  if (points.length <= limit) return collapsed;
  const head = points.slice(0, limit - 1).join('');
  const space = points[limit - 1] === ' ' ? head.length : head.lastIndexOf(' ');
  // A space in the first half is a rare one: the text is in a language without spaces, or goes on with an address.
  const end = space > head.length / 2 ? space : characterStart(collapsed, head.length);
  return `${head.slice(0, end).replace(/[\s,;:.–—-]+$/u, '')}…`;
}

/** Start of the visible character around a place in a text: an emoji or a letter may consist of several code points. */
function characterStart(text: string, place: number): number {
  const index = new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text).containing(place)?.index;
  // If the first character is longer than the limit, it is cut all the same.
  return index || place;
}

/** A part of a path, percent-encoded in lower case as WordPress stores slugs: the one spelling of addresses and of the keys of pages. */
export const encodeSegment = (text: string): string =>
  encodeURIComponent(text).replace(/%[0-9A-F]{2}/gu, (code) => code.toLowerCase());

/** Cuts a text to a number of UTF-8 bytes, but never inside a character. */
export function cutToBytes(text: string, most: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.byteLength <= most) return text;
  return new TextDecoder().decode(bytes.subarray(0, most)).replace(/\ufffd+$/u, '');
}

/** The id of a document or comment in an address, a form or a vendor's answer; `null`: the text isn't an id. */
export const parseId = (text: string | null | undefined): number | null =>
  /^[1-9]\d{0,14}$/.test(text ?? '') ? Number(text) : null;

/** Words in plain text, by white space. */
export const countWords = (text: string): number => text.match(/\S+/gu)?.length ?? 0;

/** Reading time in whole minutes at 230 words a minute, at least 1. */
export const readingMinutes = (words: number): number => Math.max(1, Math.round(words / 230));

const entities: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&nbsp;': ' ',
  '&quot;': '"',
  '&amp;': '&',
};

/** Inline elements: removing their tags must not add a space. */
const inlineTags =
  /<\/?(?:a|abbr|b|bdi|bdo|cite|code|del|dfn|em|i|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup|time|u|var|wbr)(?:\s[^>]*)?>/gu;

/** The text of sanitized markup. Not for unsanitized markup: it doesn't distinguish scripts from text. */
export const plainText = (html: string): string =>
  html
    .replace(inlineTags, '')
    .replace(/<[^>]*>/gu, ' ')
    .replace(/&(?:lt|gt|nbsp|quot|amp);/gu, (entity) => entities[entity] ?? ' ')
    .replace(/\s+/gu, ' ')
    .trim();

export interface SnippetPart {
  readonly text: string;
  readonly match: boolean;
}

/**
 * The text to show below a headline in search results. If only the headline matches, the index returns it as the snippet, which
 * would repeat it.
 */
export function snippetOf(hit: { readonly title: string; readonly snippet: string; readonly excerpt: string }): string {
  const words = snippetParts(hit.snippet)
    .map((part) => part.text)
    .join('');
  return words === '' || words === hit.title ? hit.excerpt : hit.snippet;
}

/** Splits a snippet at its matches, which are between U+0001 and U+0002; empty parts and stray marks are left out. */
export function snippetParts(snippet: string): SnippetPart[] {
  const parts: SnippetPart[] = [];
  let match = false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the index marks matches with these two characters
  for (const piece of snippet.split(/([\u0001\u0002])/u)) {
    if (piece === '\u0001') match = true;
    else if (piece === '\u0002') match = false;
    else if (piece !== '') parts.push({ text: piece, match });
  }
  return parts;
}
