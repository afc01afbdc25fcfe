/** Places for advertising: their sizes and what the ad server is told about a page (spec section 2, "Ad slots"). Pure. */

import type { PageFacts } from '../third-party/page-facts.ts';
import type { VisitorType } from '../third-party/visitor-type.ts';

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
