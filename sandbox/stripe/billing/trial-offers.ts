/**
 * Trial Offers: a first price of a subscription item for a number of its intervals, then another
 * (docs.stripe.com/billing/subscriptions/trials). docs/decisions/0026-trial-offers.md says which of this is documented and which is inferred.
 */

import type { StripeAccount } from '../core/account.ts';
import { invalid, noSuch } from '../core/errors.ts';
import type { Price, Subscription, SubscriptionItem, TrialOffer } from '../core/model.ts';
import type { Params } from '../core/params.ts';
import { addIntervals } from './calendar.ts';
import { amountIn } from './currencies.ts';

/** `current_trial` of an item that is being made, with the price that its trial is billed at; `null`: no offer is requested. */
export function readOffer(account: StripeAccount, item: Params): { offer: TrialOffer; price: Price } | null {
  const requested = item.object('current_trial');
  if (!requested) return null;
  const id = requested.need('trial_offer');
  const param = requested.name('trial_offer');
  const offer = account.store.find('product_catalog.trial_offer', id);
  if (!offer) throw noSuch('trial offer', id, param, 400);
  if (!offer.active) {
    throw invalid(`The trial offer \`${id}\` is archived. Archived trial offers can't be used for new items.`, param);
  }
  const price = item.text('price');
  if (price && price !== offer.price) {
    throw invalid(`The price \`${price}\` is not the price of the trial offer \`${id}\`.`, item.name('price'));
  }
  return { offer, price: account.need('price', offer.price) };
}

/** @throws {ApiError} 400 for what can't be combined with a Trial Offer */
export function checkOfferParams(params: Params): void {
  for (const name of ['trial_end', 'trial_period_days', 'trial_from_plan']) {
    if (params.has(name)) throw invalid(`You can't use trial offers and \`${name}\` together.`, name);
  }
  const mode = params.object('billing_mode')?.text('type') ?? 'flexible';
  if (mode !== 'flexible') {
    throw invalid('Trial offers are only supported for subscriptions with `billing_mode=flexible`.', 'billing_mode');
  }
}

/**
 * Begins the trial of an offer with the item's period. @throws {ApiError} 400 when the following price is not sold in the currency
 */
export function beginTrial(account: StripeAccount, item: SubscriptionItem, offer: TrialOffer, currency: string): void {
  const { recurring } = account.need('price', offer.price);
  amountIn(account.need('price', offer.end_behavior.transition.price), currency);
  const start = item.current_period_start;
  const end = recurring ? addIntervals(start, recurring, offer.duration.relative.iterations) : start;
  item.current_trial = { end_date: end, start_date: start, trial_offer: offer.id };
}

/** Whether nothing is charged now because every item is in a trial with price 0; a paid trial is active like any subscription. */
export const isFreeOffer = (account: StripeAccount, { items }: Subscription): boolean =>
  items.data.every((item) => item.current_trial !== null && account.need('price', item.price).unit_amount === 0);

/** End of the trial that ends first; `null`: no item has one. */
export function offerEnd({ items }: Subscription): number | null {
  const ends = items.data.flatMap(({ current_trial: trial }) => (trial ? [trial.end_date] : []));
  return ends.length > 0 ? Math.min(...ends) : null;
}

/** Switches items whose trial ends to the following price. The billing cycle restarts, unless another anchor is requested. */
export function endTrials(account: StripeAccount, subscription: Subscription, now: number): void {
  for (const item of subscription.items.data) {
    if (item.current_trial === null || item.current_trial.end_date > now) continue;
    const offer = account.need('product_catalog.trial_offer', item.current_trial.trial_offer);
    item.price = offer.end_behavior.transition.price;
    item.current_trial = null;
    subscription.billing_cycle_anchor = now;
  }
}
