/** Places for advertising: their sizes and what the ad server is told about a page (spec section 2, "Ad slots"). Pure. */
import type { PageFacts, VisitorType } from '../third-party/model.ts';

/** A place that an advertisement is wanted for. */
export interface AdPlace {
  /** Name of the slot, and of its ad unit. */
  readonly name: string;
  readonly shape: AdShape;
  /** Id of the element that it is set into. */
  readonly element: string;
}

export const adShapes = ['ribbon', 'billboard', 'box'] as const;
export type AdShape = (typeof adShapes)[number];

/** Width and height in CSS pixels. */
export type AdSize = readonly [number, number];

/** Windows at least so wide get these sizes; the widest first. */
export interface AdStep {
  readonly from: number;
  readonly sizes: readonly AdSize[];
}

/**
 * What each shape takes. A ribbon is 50 px high on every window: it stands above the header. AdSlot.astro reserves the room that this
 * says, at the same widths.
 */
export const adSteps: Readonly<Record<AdShape, readonly AdStep[]>> = {
  ribbon: [{ from: 0, sizes: [[320, 50]] }],
  billboard: [
    { from: 1024, sizes: [[970, 250]] },
    { from: 0, sizes: [[320, 50]] },
  ],
  box: [{ from: 0, sizes: [[300, 250]] }],
};

/** Every size of a shape. */
export const adSizes = (shape: AdShape): AdSize[] => adSteps[shape].flatMap(({ sizes }) => [...sizes]);

/** Name of the ad unit of a slot, e.g. `/1234567/home-2`. */
export const adUnit = (network: string, slot: string): string => `/${network}/${slot}`;

/** What all slots of a page are told: the section, the article, the type of visitor. Nothing personal. */
export function adTargeting(page: PageFacts, visitor: VisitorType | null): Record<string, string> {
  const told: Record<string, string> = { page: page.kind };
  if (page.section) told.section = page.section;
  if (page.article) told.slug = page.article.slug;
  if (visitor) told.visitor = visitor;
  return told;
}

const slots = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('[data-ad-room]')];
const placeIn = (slot: HTMLElement) => slot.querySelector<HTMLElement>('[data-ad-place]');

/** Places that are shown to this reader, and hold nothing yet. */
export function openPlaces(): AdPlace[] {
  return slots().flatMap((slot) => {
    const { adSlot: name, shape } = slot.dataset;
    const element = placeIn(slot)?.id;
    const known = adShapes.find((each) => each === shape) as AdShape | undefined;
    return name && known && element && isShown(slot) ? [{ name, shape: known, element }] : [];
  });
}

/**
 * Opens slots that are closed as long as advertising is not allowed. Only below what is in sight: the others would push down what is
 * being read, and open on the next page.
 */
export function openBelow(): void {
  for (const slot of slots()) {
    if (slot.dataset.adRoom !== 'opens' || isShown(slot)) continue;
    // What is not shown has no place; what stands before it in the page has.
    const before = nearestShownBefore(slot);
    if (before && before.getBoundingClientRect().bottom > window.innerHeight) slot.dataset.open = '';
  }
}

/** Shows what was set into a slot, or the site's own text again. */
export function fill(element: string, filled: boolean): void {
  const slot = document.getElementById(element)?.closest<HTMLElement>('[data-ad-room]');
  if (!slot) return;
  if (!filled) {
    empty(slot);
    return;
  }
  slot.dataset.filled = '';
  slot.dataset.word ??= slot.ariaLabel ?? '';
  slot.ariaLabel = slot.dataset.adLabel ?? null;
}

function empty(slot: HTMLElement): void {
  delete slot.dataset.filled;
  if (slot.dataset.word) slot.ariaLabel = slot.dataset.word;
}

/** Every slot shows the site's own text. */
export function emptyAll(): void {
  for (const slot of slots()) empty(slot);
}

const isShown = (element: HTMLElement): boolean => element.getClientRects().length > 0;

function nearestShownBefore(element: Element): HTMLElement | null {
  for (let at: Element | null = element; at; at = at.parentElement) {
    let before = at.previousElementSibling;
    while (before && !(before instanceof HTMLElement && isShown(before))) before = before.previousElementSibling;
    if (before instanceof HTMLElement) return before;
  }
  return null;
}
