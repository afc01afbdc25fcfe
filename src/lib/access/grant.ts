/** What a signed-in reader may have and until when: the level of the access cookie and the kind of visitor, from what was paid. */

import { type Product, productSlugs, productsByRank } from '../accounts/session.ts';
import type { VisitorKind } from '../accounts/visitor.ts';
import type { Entitlement } from '../billing/service.ts';
import type { WalledLevel } from '../content/model.ts';

/** Something that is paid for, as far as it decides what may be read. */
export type Paid = Pick<Entitlement, 'product' | 'until' | 'trialing'>;

export interface Grant {
  /** What the access cookie says. */
  readonly level: WalledLevel;
  /** Epoch milliseconds at which the level ends by itself; `Infinity`: with the session. */
  readonly until: number;
  /** What pages are laid out by. */
  readonly visitor: VisitorKind;
}

/** An account and nothing paid. */
export const registeredGrant: Grant = { level: 'registered', until: Number.POSITIVE_INFINITY, visitor: 'registered' };

/** The paid products that run at a moment, the highest first, each once. What is no product of the paper opens nothing. */
export const runningProducts = (paid: readonly Omit<Paid, 'trialing'>[], now: number): readonly Product[] =>
  productsByRank.filter((product) => paid.some((one) => one.product === productSlugs[product] && one.until > now));

/**
 * @param now epoch milliseconds
 * @param trialUntil end of a time in which everything may be read, epoch milliseconds; `null`: there is none
 */
export function grantOf(paid: readonly Paid[], now: number, trialUntil: number | null = null): Grant {
  const [highest] = runningProducts(paid, now);
  const known = new Set(Object.values(productSlugs));
  const ends = paid.filter(({ product }) => known.has(product)).map(({ until }) => until);
  const until = Math.max(...ends, trialUntil ?? 0);
  return until > now ? { level: 'subscriber', until, visitor: highest ?? 'registered' } : registeredGrant;
}
