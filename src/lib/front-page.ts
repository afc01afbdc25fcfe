/** How the home page is composed: which stories stand where. Pure; the page asks the mirror and hands the answers in. */
import type { Card, FeaturedStory, Section, TopStories } from '../content/model.ts';

/**
 * - `editorials`: tinted column beside the lead story
 * - `lead`, `mirror`: a large story, two with pictures, the rest as headlines; `mirror` from right to left
 * - `wide`: one story across with the picture beside its text, the rest in columns beneath
 * - `gallery`: a large picture, then rows of pictures
 * - `row`: equal columns
 * - `half`: half the width; two in a row share a line
 * - `voices`: led by the writers' portraits
 * - `essays`: led by the writers' names, no pictures but the first
 */
export type FrontLayout = 'editorials' | 'lead' | 'mirror' | 'wide' | 'gallery' | 'row' | 'half' | 'voices' | 'essays';

export interface Front {
  readonly section: Section;
  readonly layout: FrontLayout;
  readonly cards: readonly Card[];
}

const plainLayouts: readonly FrontLayout[] = ['lead', 'row', 'mirror', 'wide'];

/** Layout of a section: the publication's, or the next of the plain ones. */
export function layoutOf(slug: string, position: number, chosen: Readonly<Record<string, FrontLayout>>): FrontLayout {
  return chosen[slug] ?? plainLayouts[position % plainLayouts.length] ?? 'row';
}

/** The story that leads: the editors' choice, else the newest. `null` while the paper has none at all. */
export function leadStory(top: TopStories, newest: readonly Card[]): FeaturedStory | null {
  if (top.featured) return top.featured;
  const first = newest[0];
  return first ? { ...first, breaking: false, bulleted: false, featuredExcerpt: first.excerpt } : null;
}

/** Lines of a bulleted excerpt: one per line, bullets that editors typed themselves taken off. */
export const bulletLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.replace(/^[\s•*–—-]+/u, '').trim())
    .filter((line) => line !== '');

/**
 * Stories beside the lead. The column holds as many as are as tall as the lead; what is left goes in a row beneath. A
 * row of one would stand alone in a wide space, so the column then takes it as well.
 */
export function besideLead(others: readonly Card[], inColumn = 3): { column: readonly Card[]; row: readonly Card[] } {
  const size = others.length === inColumn + 1 ? inColumn + 1 : inColumn;
  return { column: others.slice(0, size), row: others.slice(size, size + 4) };
}

/**
 * Cuts a list into rows of `size` so that no row is left with a single story among empty cells: the last two rows share
 * what there is.
 */
export function evenRows<T>(items: readonly T[], size: number): T[][] {
  const rows: T[][] = [];
  for (let start = 0; start < items.length; start += size) rows.push(items.slice(start, start + size));
  const last = rows.at(-1);
  const before = rows.at(-2);
  if (last && before && last.length === 1 && before.length > 2) {
    const moved = before.pop();
    if (moved !== undefined) last.unshift(moved);
  }
  return rows;
}

/** Neighbouring fronts of half width in pairs; every other front, and a half without a neighbour, alone. */
export function pairHalves(fronts: readonly Front[]): Front[][] {
  const lines: Front[][] = [];
  for (const front of fronts) {
    const line = lines.at(-1);
    if (front.layout === 'half' && line?.length === 1 && line[0]?.layout === 'half') line.push(front);
    else lines.push([front]);
  }
  return lines;
}
