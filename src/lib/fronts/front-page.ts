/** Layout of the front page: which stories each section shows, and in which columns and rows. */
import type { Card, Section } from '../content/model.ts';

/**
 * - `editorials`: tinted column next to the lead story
 * - `lead`, `mirror`: a large story, two with pictures, the rest as headlines; `mirror` from right to left
 * - `wide`: one story at full width with the picture next to its text, the rest in columns beneath
 * - `gallery`: a large picture, then rows of pictures
 * - `row`: equal columns
 * - `half`: half the width; two in a row share a line
 * - `voices`: led by the writers' portraits
 * - `essays`: led by the writers' names, no pictures but the first
 */
export type FrontLayout = 'editorials' | 'lead' | 'mirror' | 'wide' | 'gallery' | 'row' | 'half' | 'voices' | 'essays';

/** A section's part of the front page. */
export interface FrontSection {
  readonly section: Section;
  readonly layout: FrontLayout;
  readonly cards: readonly Card[];
}

const plainLayouts: readonly FrontLayout[] = ['lead', 'row', 'mirror', 'wide'];

/** Layout of a section: the publication's, or the next of the plain ones. */
export function layoutOf(slug: string, position: number, chosen: Readonly<Record<string, FrontLayout>>): FrontLayout {
  return chosen[slug] ?? plainLayouts[position % plainLayouts.length] ?? 'row';
}

/** Lines of a bulleted excerpt, without bullets that editors typed. */
export const bulletLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.replace(/^[\s•*–—-]+/u, '').trim())
    .filter((line) => line !== '');

export interface TopBlock {
  /** Rows under the lead story, the first with pictures. */
  readonly below: readonly (readonly Card[])[];
  /** A row with pictures across the page. */
  readonly row: readonly Card[];
}

/**
 * Where the other top stories are placed: three and two under the lead, up to four in a row across the page. With fewer stories there
 * are fewer rows, and no row has a single story next to empty cells.
 */
export function topBlock(others: readonly Card[]): TopBlock {
  const count = others.length;
  const first = count === 4 ? 2 : Math.min(3, count);
  const second = count === 6 ? 3 : count >= 4 ? 2 : 0;
  const at = first + second;
  const below = [others.slice(0, first), others.slice(first, at)].filter((cards) => cards.length > 0);
  return { below, row: others.slice(at, at + 4) };
}

/** For a layout that starts with a large picture: moves the first story with a picture to the lead. */
export function pictureFirst(cards: readonly Card[]): readonly Card[] {
  const index = cards.findIndex((card) => card.image !== null);
  const lead = cards[index];
  return index <= 0 || !lead ? cards : [lead, ...cards.slice(0, index), ...cards.slice(index + 1)];
}

/** Cuts a list into rows of four. The last two rows share their stories, so that none has a single story among empty cells. */
export function evenRows<T>(items: readonly T[]): T[][] {
  const rows: T[][] = [];
  for (let start = 0; start < items.length; start += 4) rows.push(items.slice(start, start + 4));
  const last = rows.at(-1);
  const before = rows.at(-2);
  if (last && before && last.length === 1 && before.length > 2) {
    const moved = before.pop();
    if (moved !== undefined) last.unshift(moved);
  }
  return rows;
}

/** Stories that a section could show on the front page, newest first. */
export interface Candidates {
  readonly section: Section;
  readonly cards: readonly Card[];
  /** Number of all stories of the section. */
  readonly total: number;
}

/**
 * Assigns every story to one section, so that none appears twice on the page. Many stories belong to several sections. Opinion (the
 * red sections) comes first, so that it stays separate from the news; then the sections with the fewest stories, which would otherwise
 * stay empty. The order of sections and of stories within each stays.
 *
 * @param taken ids of stories elsewhere on the page
 */
export function assignStories(
  candidates: readonly Candidates[],
  taken: ReadonlySet<number>,
): { section: Section; cards: Card[] }[] {
  const used = new Set(taken);
  const opinion = ({ section }: Candidates) => Number(section.color === 'red');
  const surplus = ({ total, section }: Candidates) => total - section.homepageCount;
  const inTurn = [...candidates].sort((a, b) => opinion(b) - opinion(a) || surplus(a) - surplus(b));
  const chosen = new Map<Section, Card[]>();
  for (const { section, cards } of inTurn) {
    const own = cards.filter((card) => !used.has(card.id)).slice(0, section.homepageCount);
    for (const card of own) used.add(card.id);
    chosen.set(section, own);
  }
  return candidates.map(({ section }) => ({ section, cards: chosen.get(section) ?? [] }));
}

/** The layout for a number of stories: most layouts would leave columns empty with one or two. */
export function fitLayout(layout: FrontLayout, count: number): FrontLayout {
  if (layout === 'editorials' || layout === 'half') return layout;
  if (count === 1) return 'wide';
  return count === 2 && layout !== 'voices' ? 'row' : layout;
}

/** Pairs neighboring sections of half width; all others have a line to themselves. */
export function pairHalves(sections: readonly FrontSection[]): FrontSection[][] {
  const lines: FrontSection[][] = [];
  for (const section of sections) {
    const line = lines.at(-1);
    if (section.layout === 'half' && line?.length === 1 && line[0]?.layout === 'half') line.push(section);
    else lines.push([section]);
  }
  return lines;
}
