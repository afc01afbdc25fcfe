/** What a reader has bought, in words. */
import { mayRenew } from '../billing/status.ts';
import type { Subscription } from '../billing/wire.ts';
import { formatTaxed } from '../money.ts';
import { type TierId, tiers } from './model.ts';

export interface Bought {
  /** "Sun Member with the print edition". */
  readonly name: string;
  /** When it is billed next, or ends; `null` where neither is known. */
  readonly next: string | null;
  readonly print: boolean;
}

/**
 * Describes a subscription that runs; `null` when there is none.
 *
 * @param day prints an instant as a day
 */
export function boughtOf(subscription: Subscription | null, day: (instant: string) => string): Bought | null {
  if (!subscription || !mayRenew(subscription)) return null;
  const { productId, planName, print, price, currency, nextBillingDate, paidUntil, cancelAtPeriodEnd } = subscription;
  const tier = tiers.find(({ id }) => id === (productId as TierId))?.name ?? planName;
  const ends = cancelAtPeriodEnd || (nextBillingDate === null && !subscription.paused);
  return {
    name: print ? `${tier} with the print edition` : tier,
    next: ends
      ? `It ends on ${day(paidUntil)}.`
      : nextBillingDate === null
        ? 'Billing is paused, and nothing is charged.'
        : `The next bill is ${formatTaxed(price, subscription.tax, currency)} on ${day(nextBillingDate)}.`,
    print,
  };
}
