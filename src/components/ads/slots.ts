/** Who sees which ad slot, and which house ad an empty one shows. */
import { seenBy } from '../../lib/accounts/products.ts';
import { type Publication, publication } from '../../publication.ts';

/** The house ads (HouseAd.astro). */
export type HouseAdName = 'join' | 'newsletter' | 'print' | 'crossword';

export const labels: Readonly<Record<HouseAdName, string>> = {
  join: 'Membership',
  newsletter: 'Newsletter',
  print: 'Print edition',
  crossword: 'Crossword',
};

/** Accessible name of a slot with an advertisement, unique on its page. */
export const adLabel = (slot: string): string => `Advertisement ${/\d+$/.exec(slot)?.[0] ?? ''}`.trim();

/** Readers who see house ads where no advertising is set up: those who do not pay. */
export const houseAdViewers: string = seenBy.joinable;

/**
 * Kinds of reader that a slot is for, as a value of `data-for`: above the header of the home page, those who do not pay (spec section 2,
 * "Header"); elsewhere all except those whom the publication promises no advertising.
 */
export function viewersOf(slot: string, { header, none }: Publication['ads']): string {
  if (header.includes(slot as never)) return seenBy.joinable;
  const without: readonly string[] = none;
  return ['anonymous', ...seenBy.signedIn.split(' ')].filter((kind) => !without.includes(kind)).join(' ');
}

const houseAdsByShape: Readonly<Record<'ribbon' | 'billboard' | 'box', readonly HouseAdName[]>> = {
  ribbon: ['newsletter'],
  billboard: ['print', 'newsletter'],
  box: ['crossword', 'newsletter', 'print'],
};

/** Whether the paper has what a house ad is for. */
function isOffered(ad: HouseAdName): boolean {
  if (ad === 'crossword') return publication.parts.games;
  return ad !== 'print' || publication.plans.printWith !== null;
}

/** A house ad, or the newsletter's where the paper doesn't have what it is for. */
export const offeredAd = (ad: HouseAdName): HouseAdName => (isOffered(ad) ? ad : 'newsletter');

/** The house ad in a slot without an advertisement; neighboring slots differ. */
export function houseAdFor(slot: string, shape: 'ribbon' | 'billboard' | 'box'): HouseAdName {
  const number = Number(/\d+$/.exec(slot)?.[0] ?? 0);
  const choices = houseAdsByShape[shape].filter(isOffered);
  return choices[number % choices.length] ?? 'newsletter';
}
