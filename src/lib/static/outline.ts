/** The table of contents of a long page, made from the headings of its sanitized body. */
import { plainText } from '../text.ts';

export interface OutlineItem {
  readonly id: string;
  /** Plain text. */
  readonly text: string;
}

export interface Outline {
  /** The body with an id on every heading of the second level. */
  readonly html: string;
  readonly items: readonly OutlineItem[];
}

const heading = /<h2((?:"[^"]*"|'[^']*'|[^'">])*)>([\s\S]*?)<\/h2>/giu;

const slugOf = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/gu, '') || 'part';

/**
 * Gives each `<h2>` an id, keeping one that it has.
 *
 * @param fixedIds ids that other pages link to, by the start of the heading in lower case, such as
 *   `{'terms of use': 'Terms-of-use'}`; the first such heading gets the id instead of its own
 */
export function outline(html: string, fixedIds: Readonly<Record<string, string>> = {}): Outline {
  const items: OutlineItem[] = [];
  const taken = new Set<string>();
  for (const match of html.matchAll(/\sid="([^"]+)"/giu)) taken.add(match[1] ?? '');
  for (const to of Object.values(fixedIds)) taken.delete(to);
  const out = html.replace(heading, (_all, attributes: string, inner: string) => {
    const text = plainText(inner);
    const own = /\sid="([^"]+)"/iu.exec(attributes)?.[1];
    let id =
      Object.entries(fixedIds).find(([start, to]) => text.toLowerCase().startsWith(start) && !taken.has(to))?.[1] ??
      own;
    if (id === undefined) {
      const base = slugOf(text);
      id = base;
      for (let n = 2; taken.has(id); n++) id = `${base}-${n}`;
    }
    taken.add(id);
    if (text !== '') items.push({ id, text });
    return `<h2${attributes.replace(/\sid="[^"]*"/iu, '')} id="${id}">${inner}</h2>`;
  });
  return { html: out, items };
}

/**
 * Cuts a body after one of its parts, so that something can be added to the part.
 *
 * @returns the body up to the end of the part, and the rest; `null` when no second-level heading has the id
 */
export function cutAfterPart(html: string, id: string): readonly [string, string] | null {
  const starts = [...html.matchAll(heading)];
  const at = starts.findIndex(([, attributes = '']) => attributes.includes(` id="${id}"`));
  if (at < 0) return null;
  const end = starts[at + 1]?.index ?? html.length;
  return [html.slice(0, end), html.slice(end)];
}
