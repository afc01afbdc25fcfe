/** Who sees which slot, and what the house says in one that stays empty. */
import { seenBy } from '../../lib/accounts/visitor.ts';
import type { Publication } from '../../publication.ts';

/** What the paper says about itself (HousePromo.astro). */
export type PromoName = 'join' | 'newsletter' | 'print' | 'crossword';

export const labels: Readonly<Record<PromoName, string>> = {
  join: 'Membership',
  newsletter: 'Newsletter',
  print: 'Print edition',
  crossword: 'Crossword',
};

/** What a slot with an advertisement in it is called: landmarks of a page have names of their own. */
export const adLabel = (slot: string): string => `Advertisement ${/\d+$/.exec(slot)?.[0] ?? ''}`.trim();

/** Readers who see what the house says about itself where there is no advertising: those who do not pay. */
export const freeOfAds: string = seenBy.joinable;

/**
 * Kinds of reader that a slot is for, as a value of `data-for`: the one above the header of the home page for those who do not pay (spec
 * section 2, "Header"), the others for all but those whom the publication promises a paper without advertising.
 */
export function viewersOf(slot: string, { header, none }: Publication['ads']): string {
  if (header.includes(slot as never)) return seenBy.joinable;
  const without: readonly string[] = none;
  return ['anonymous', ...seenBy.signedIn.split(' ')].filter((kind) => !without.includes(kind)).join(' ');
}

const standIns: Readonly<Record<'ribbon' | 'billboard' | 'box', readonly PromoName[]>> = {
  ribbon: ['newsletter'],
  billboard: ['print', 'newsletter'],
  box: ['crossword', 'newsletter', 'print'],
};

/** What stands in a slot that no advertisement comes for; neighbours differ. */
export function standIn(slot: string, shape: 'ribbon' | 'billboard' | 'box'): PromoName {
  const number = Number(/\d+$/.exec(slot)?.[0] ?? 0);
  const choices = standIns[shape];
  return choices[number % choices.length] ?? 'newsletter';
}
