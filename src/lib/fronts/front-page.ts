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

export interface TopBlock {
  /** Rows under the lead story, the first with pictures. */
  readonly below: readonly (readonly Card[])[];
  /** A row with pictures across the page. */
  readonly row: readonly Card[];
}

/**
 * Where the other top stories stand: three and two under the lead, up to four in a row across the page. Fewer stories fill fewer
 * places, and no place is left with one story among empty ones.
 */
export function topBlock(others: readonly Card[]): TopBlock {
  const count = others.length;
  const first = count === 4 ? 2 : Math.min(3, count);
  const second = count === 6 ? 3 : count >= 4 ? 2 : 0;
  const at = first + second;
  const below = [others.slice(0, first), others.slice(first, at)].filter((cards) => cards.length > 0);
  return { below, row: others.slice(at, at + 4) };
}

/** The first story with a picture takes the lead of a front whose place for it is a large picture. */
export function pictureFirst(cards: readonly Card[]): readonly Card[] {
  const index = cards.findIndex((card) => card.image !== null);
  const lead = cards[index];
  return index <= 0 || !lead ? cards : [lead, ...cards.slice(0, index), ...cards.slice(index + 1)];
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

/** What a section could show on the home page, newest first. */
export interface Candidates {
  readonly section: Section;
  readonly cards: readonly Card[];
  /** How many stories the section has in all. */
  readonly total: number;
}

/**
 * Gives every story to one section, so that none stands twice on the page. Many stories belong to several sections.
 * Opinion (the red sections) chooses first, so that it stays apart from the news; then those with the fewest to choose
 * from, else the small sections at the end would go empty. The order of sections and of stories within each stays.
 *
 * @param taken ids of stories that stand elsewhere on the page
 */
export function shareOut(
  candidates: readonly Candidates[],
  taken: ReadonlySet<number>,
): { section: Section; cards: Card[] }[] {
  const used = new Set(taken);
  const opinion = ({ section }: Candidates) => Number(section.color === 'red');
  const slack = ({ total, section }: Candidates) => total - section.homepageCount;
  const inTurn = [...candidates].sort((a, b) => opinion(b) - opinion(a) || slack(a) - slack(b));
  const chosen = new Map<Section, Card[]>();
  for (const { section, cards } of inTurn) {
    const own = cards.filter((card) => !used.has(card.id)).slice(0, section.homepageCount);
    for (const card of own) used.add(card.id);
    chosen.set(section, own);
  }
  return candidates.map(({ section }) => ({ section, cards: chosen.get(section) ?? [] }));
}

/** A layout for as few stories as there are: those that want more would leave columns empty. */
export function fitLayout(layout: FrontLayout, count: number): FrontLayout {
  if (layout === 'editorials' || layout === 'half') return layout;
  if (count === 1) return 'wide';
  return count === 2 && layout !== 'voices' ? 'row' : layout;
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
