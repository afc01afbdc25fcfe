/** Creates a promotion at Stripe, whose dashboard can't: a price for the first days, and the Trial Offer that leads to a plan. */
import type Stripe from 'stripe';
import { idOf } from './fetch-subscription.server.ts';

export interface WantedOffer {
  /** `zephrPlanId` under which the promotion is sold. */
  readonly plan: string;
  /** `zephrPlanId` of the plan that follows. */
  readonly next: string;
  readonly days: number;
  /** Minor units for the whole promotion, in the currency of the plan that follows. */
  readonly amount: number;
  /** Minor units in other currencies. */
  readonly others: Readonly<Record<string, number>>;
  readonly heading: string;
  readonly subheading: string | null;
}

export interface MadeOffer {
  readonly offer: string;
  readonly price: string;
  /** Earlier offers of the plan that were archived in favor of this one. */
  readonly archived: readonly string[];
}

/** @throws Error with a sentence for the operator where nothing can be made */
export async function createTrialOffer(stripe: Stripe, wanted: WantedOffer): Promise<MadeOffer> {
  if (wanted.plan === wanted.next) {
    throw new Error(`The promotion needs a plan name of its own: ${wanted.plan} is the plan that follows.`);
  }
  const prices: Stripe.Price[] = [];
  for await (const price of stripe.prices.list({ active: true, limit: 100, expand: ['data.currency_options'] })) {
    prices.push(price);
  }
  const next = prices.find(({ metadata, recurring }) => recurring && metadata.zephrPlanId === wanted.next);
  if (!next) throw new Error(`No active price has the metadata zephrPlanId = ${wanted.next}.`);
  const lacking = Object.keys(wanted.others).filter((currency) => !next.currency_options?.[currency]);
  if (lacking.length > 0) throw new Error(`${wanted.next} is not sold in ${lacking.join(', ')}.`);
  const metadata: Record<string, string> = { zephrPlanId: wanted.plan, pennyHeading: wanted.heading };
  if (next.metadata.print) metadata.print = next.metadata.print;
  if (wanted.subheading !== null) metadata.pennySubheading = wanted.subheading;
  const options = Object.entries(wanted.others).map(([currency, unit_amount]) => [currency, { unit_amount }] as const);
  const price = await stripe.prices.create({
    currency: next.currency,
    unit_amount: wanted.amount,
    ...(next.tax_behavior && { tax_behavior: next.tax_behavior }),
    ...(options.length > 0 && { currency_options: Object.fromEntries(options) }),
    recurring: { interval: 'day', interval_count: wanted.days },
    product: idOf(next.product) ?? '',
    nickname: wanted.heading,
    metadata,
  });
  const offer = await stripe.productCatalog.trialOffers.create({
    price: price.id,
    duration: { type: 'relative', relative: { iterations: 1 } },
    end_behavior: { transition: { price: next.id } },
    nickname: wanted.plan,
  });
  return { offer: offer.id, price: price.id, archived: await archiveOthers(stripe, wanted.plan, prices, price.id) };
}

/** Archives what was sold under the plan's name before; subscriptions to it continue. */
async function archiveOthers(
  stripe: Stripe,
  plan: string,
  prices: readonly Stripe.Price[],
  kept: string,
): Promise<readonly string[]> {
  const old = prices.filter(({ id, metadata }) => metadata.zephrPlanId === plan && id !== kept).map(({ id }) => id);
  const archived: string[] = [];
  if (old.length === 0) return archived;
  for await (const { id } of stripe.productCatalog.trialOffers.list({ active: true, prices: old, limit: 100 })) {
    await stripe.productCatalog.trialOffers.update(id, { active: false });
    archived.push(id);
  }
  for (const id of old) await stripe.prices.update(id, { active: false });
  return [...archived, ...old];
}
