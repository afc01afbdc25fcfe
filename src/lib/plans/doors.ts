/**
 * What the way into a plan says to each kind of reader (spec section 6): who has less is asked to join or to upgrade, who has as
 * much or more may change, and founders have everything. Every page carries all of it; `data-visitor` shows what fits.
 */
import { productSlugs, productsByRank } from '../accounts/session.ts';
import { type VisitorKind, visitorKinds } from '../accounts/visitor.ts';
import type { Plan, TierId } from './model.ts';

export interface Door {
  readonly words: 'Join Today' | 'Upgrade' | 'Change';
  /** Value of `data-for`. */
  readonly seenBy: string;
  /** Hidden until it is known how this reader pays: it might be the plan that they have. */
  readonly waits: boolean;
}

/** Higher tiers have higher numbers. */
const heightOf = (tier: TierId): number => -productsByRank.findIndex((product) => productSlugs[product] === tier);
const own: Readonly<Partial<Record<VisitorKind, TierId>>> = {
  reader: 'sun-reader',
  member: 'sun-member',
  founder: 'sun-founder',
};

/** Kind of reader that has a tier. */
export const kindOf = (of: TierId): VisitorKind => of.replace('sun-', '') as VisitorKind;

/** Kinds of reader that have more than a tier. */
export const kindsAbove = (of: TierId): readonly VisitorKind[] =>
  visitorKinds.filter((kind) => heightOf(own[kind] ?? of) > heightOf(of));

/** The doors of a plan, each for other readers. Founders have none. */
export function doorsOf({ tier, print }: Pick<Plan, 'tier' | 'print'>): readonly Door[] {
  const doors: Door[] = [{ words: 'Join Today', seenBy: 'anonymous registered', waits: false }];
  const rises = (kind: VisitorKind): boolean => {
    const has = own[kind];
    // Somebody who pays for what is not known: the payment says what it comes to.
    if (!has) return kind === 'subscriber';
    return heightOf(has) < heightOf(tier) || (has === tier && print);
  };
  const above = visitorKinds.filter((kind) => kind !== 'founder' && rises(kind));
  if (above.length > 0) doors.push({ words: 'Upgrade', seenBy: above.join(' '), waits: false });
  const others = visitorKinds.filter((kind) => kind !== 'founder' && own[kind] && !rises(kind));
  for (const kind of others) doors.push({ words: 'Change', seenBy: kind, waits: own[kind] === tier });
  return doors;
}
