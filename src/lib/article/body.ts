/**
 * A sanitized body as blocks: where an advertisement may be placed between two paragraphs, and whether the first paragraph can have a drop
 * cap. The markup must be serialized DOM (every element closed, attributes quoted).
 */

/** One top-level piece of a body. */
export interface Block {
  /** Element name in lower case; `''` for bare text and comments. */
  readonly name: string;
  readonly html: string;
  /** Number of characters of the text; an entity counts as written. */
  readonly characters: number;
}

const tag = /<!--[\s\S]*?-->|<(\/?)([a-z][a-z0-9:-]*)(?:"[^"]*"|'[^']*'|[^'">])*>/giu;
const voidElements = new Set([
  'area',
  'br',
  'col',
  'embed',
  'hr',
  'img',
  'input',
  'link',
  'meta',
  'source',
  'track',
  'wbr',
]);

/** The top-level elements of a body and the text between them, in order. Joined, they are the body again. */
export function blocks(html: string): Block[] {
  const found: Block[] = [];
  let depth = 0;
  let start = 0;
  let name = '';
  let characters = 0;
  let textFrom = 0;
  const push = (end: number, as: string) => {
    if (end > start) found.push({ name: as, html: html.slice(start, end), characters });
    start = end;
    characters = 0;
  };
  for (const match of html.matchAll(tag)) {
    const [text, slash, element] = match;
    const after = match.index + text.length;
    characters += match.index - textFrom;
    textFrom = after;
    if (element === undefined) continue;
    const lower = element.toLowerCase();
    if (slash) {
      if (depth > 0 && --depth === 0) push(after, name);
    } else if (voidElements.has(lower)) {
      if (depth === 0) {
        push(match.index, '');
        push(after, lower);
      }
    } else {
      if (depth === 0) {
        push(match.index, '');
        name = lower;
      }
      depth++;
    }
  }
  characters += html.length - textFrom;
  push(html.length, depth > 0 ? name : '');
  return found;
}

/** Text of a piece of markup; entities stay as written. */
const bare = (html: string): string => html.replace(tag, '').replace(/\s+/gu, ' ').trim();

/** Fewest characters between two advertisements, about four screens of a phone. */
const adDistance = 2800;

/**
 * Cuts a body for advertisements between its paragraphs: never next to a heading, picture, quotation or list, never before the third
 * paragraph or after the last but one, and never two within about 450 words.
 *
 * @param most most cuts
 * @returns the parts, one more than the number of cuts
 */
export function partsForAds(html: string, most: number): string[] {
  const all = blocks(html).filter((block) => block.name !== '' || block.html.trim() !== '');
  const parts: string[] = [];
  let part = '';
  let since = 0;
  let paragraphs = 0;
  for (const [at, block] of all.entries()) {
    part += block.html;
    since += block.characters;
    if (block.name === 'p') paragraphs++;
    const between = block.name === 'p' && all[at + 1]?.name === 'p' && all[at + 2] !== undefined;
    const due = parts.length === 0 ? adDistance / 2 : adDistance;
    if (between && paragraphs >= 3 && since >= due && parts.length < most) {
      parts.push(part);
      part = '';
      since = 0;
    }
  }
  parts.push(part);
  return parts;
}

/** Whether a body begins with a paragraph of Latin letters that is long enough for a drop cap of three lines. */
export function takesDropCap(html: string): boolean {
  const first = blocks(html).find((block) => block.name !== '' || block.html.trim() !== '');
  if (first?.name !== 'p' || /^<p[^>]*\s(?:dir|style)=/iu.test(first.html)) return false;
  // A drop cap doesn't work if the first letter is emphasized, as in editors' notes.
  if (/^<p[^>]*>\s*<(?!a\b)/iu.test(first.html)) return false;
  const text = bare(first.html);
  // "PORT AUBURN, Mo. — ": a dateline already begins with capitals.
  if (/^\p{Lu}[\p{Lu}\s.’'-]+\p{Lu}.{0,24}?[—–]/u.test(text)) return false;
  return /^["'“‘]?\p{Script=Latin}/u.test(text) && text.length >= 180;
}
