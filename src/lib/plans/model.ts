/**
 * The plans on sale (spec sections 1 and 9): tiers, benefits, prices, and the links into them. Prices come from Stripe's catalog;
 * without one the list prices here are shown, and nothing can be bought.
 */

import { publication } from '../../publication.ts';
import {
  highestProduct,
  productSlugs,
  products,
  seenBy,
  soldProducts,
  type TierId,
  tierRank,
  type VisitorKind,
  visitorKinds,
} from '../accounts/products.ts';
import { currencies, priceIn } from '../billing/currency.ts';
import type { Price } from '../billing/schema.ts';
import { formatMoney, formatSum } from '../money.ts';

export interface Tier {
  readonly id: TierId;
  readonly name: string;
  /** One sentence on who it is for. */
  readonly promise: string;
  readonly benefits: readonly string[];
}

/** One way to pay for a tier. */
export interface Plan {
  /** `zephrPlanId` of its price. */
  readonly id: string;
  readonly tier: TierId;
  readonly interval: Price['recurring']['interval'];
  /** Intervals between two bills. */
  readonly count: number;
  /** Minor units of `currency`. */
  readonly amount: number;
  readonly currency: string;
  /** Whether a weekly paper is delivered with it, which takes a shipping address. */
  readonly print: boolean;
  /** An introductory price; `null` for ordinary plans. */
  readonly promotion: Promotion | null;
}

export interface Promotion {
  readonly heading: string;
  readonly subheading: string;
  readonly days: number;
  /** Minor units for all of these days. */
  readonly amount: number;
}

/** The plans on sale now. */
export interface Offer {
  /** Whether subscriptions are on sale. */
  readonly open: boolean;
  readonly plans: readonly Plan[];
  /** The same in other currencies, by currency code. */
  readonly abroad?: Readonly<Record<string, Offer>>;
}

/** From the lowest to the highest. */
export const tiers: readonly Tier[] = soldProducts.map((product) => ({
  id: productSlugs[product],
  name: publication.plans.names[product],
  promise: publication.plans.texts[product].promise,
  benefits: publication.plans.texts[product].benefits,
}));

/** The lowest tier on sale, which a paywall sells. */
export const lowestTier: TierId = productSlugs[soldProducts[0] ?? 'reader'];

/** The tier that is sold with the print edition; `null` if there is no print edition. */
export const printTier: TierId | null =
  publication.plans.printWith === null ? null : productSlugs[publication.plans.printWith];

/** Whether a tier includes the print edition without a price of its own: those above the one that is sold with it. */
export const bringsPrint = (of: TierId): boolean => printTier !== null && tierRank(of) > tierRank(printTier);

/** The tier with this name in the protocol; `undefined` for unknown names. */
export const findTier = (slug: string): Tier | undefined => tiers.find(({ id }) => id === slug);

/** Benefits side by side; `from` is the lowest tier with it, `null`: every reader has it. Those of tiers that aren't sold are left out. */
export const comparison: readonly { readonly what: string; readonly from: TierId | null }[] =
  publication.plans.comparison
    .filter(({ from }) => from === null || products.indexOf(from) <= products.indexOf(highestProduct))
    .map(({ what, from }) => ({ what, from: from && productSlugs[from] }));

/** List prices (spec section 9), shown without a catalog. */
const printedPlans: readonly Plan[] = publication.plans.listed
  .filter(({ kind }) => soldProducts.includes(kind))
  .map(({ id, kind, interval, amount, print = false }) => ({
    id,
    tier: productSlugs[kind],
    interval,
    count: 1,
    amount,
    currency: publication.billing.currencies.standard,
    print,
    promotion: null,
  }));

/**
 * The plans on sale, from the catalog. Prices of products that are not a tier are left out.
 *
 * @param prices of the catalog; empty if nothing is sold, or the catalog is not loaded yet
 */
export function offerOf(prices: readonly Price[]): Offer {
  const [standard, ...others] = currencies.map((currency) => [currency, offerOfOne(prices, currency)] as const);
  if (!standard || standard[1].plans.length === 0) return { open: false, plans: printedPlans };
  return { ...standard[1], abroad: Object.fromEntries(others) };
}

function offerOfOne(prices: readonly Price[], currency: string): Offer {
  return { open: true, plans: prices.flatMap((price) => planOf(priceIn(price, currency)) ?? []) };
}

/** An offer as it is sold in a currency. */
export const offerIn = (offer: Offer, currency: string): Offer => offer.abroad?.[currency] ?? offer;

/** A text with amounts, and the currencies in which it reads so. */
export interface TextInCurrency {
  readonly text: string;
  readonly currencies: readonly string[];
}

/** A text of an offer in each currency, the standard one first; equal texts are merged. */
export function textsIn(offer: Offer, textOf: (offer: Offer) => string): readonly TextInCurrency[] {
  const [standard = ''] = currencies;
  const texts = new Map<string, string[]>([[textOf(offer), [standard]]]);
  for (const [currency, other] of Object.entries(offer.abroad ?? {})) {
    const text = textOf(other);
    texts.set(text, [...(texts.get(text) ?? []), currency]);
  }
  return [...texts].map(([text, those]) => ({ text, currencies: those }));
}

function planOf(price: Price): Plan | null {
  const tier = findTier(price.product.metadata.zephr_product_id);
  if (!tier) return null;
  const plain = { id: price.zephrPlanId, tier: tier.id, ...rateOf(price) };
  const { promotion } = price;
  return {
    ...plain,
    print: price.print,
    promotion: promotion && {
      heading: price.pennyHeading ?? tier.name,
      subheading: price.pennySubheading ?? promotionTerms(plain, promotion.days),
      days: promotion.days,
      amount: promotion.amount,
    },
  };
}

/** @throws RangeError for an unknown tier: a bug */
export const tier = (id: TierId): Tier => {
  const found = findTier(id);
  if (!found) throw new RangeError(`tier: there is no ${id}`);
  return found;
};

const lengths: Readonly<Record<Plan['interval'], number>> = { day: 1, week: 7, month: 30.4, year: 365 };
const days = ({ interval, count }: Pick<Plan, 'interval' | 'count'>): number => lengths[interval] * count;

/** The ordinary plans of a tier: without print first, then by billing interval. */
export const plansOf = ({ plans }: Offer, of: TierId): readonly Plan[] =>
  plans
    .filter((plan) => plan.tier === of && plan.promotion === null)
    .toSorted((a, b) => Number(a.print) - Number(b.print) || days(a) - days(b));

/** The plan with an introductory price; `null` if there is none, or sales are closed. */
export const promotionOf = ({ open, plans }: Offer): (Plan & { readonly promotion: Promotion }) | null => {
  const found = open ? plans.find((plan) => plan.promotion !== null) : undefined;
  return found?.promotion ? { ...found, promotion: found.promotion } : null;
};

/** The plan with an id; `null` when it is not sold (any more). */
export const planById = ({ plans }: Offer, id: string): Plan | null => plans.find((plan) => plan.id === id) ?? null;

/** The plan of a tier that is billed once in an interval; `null` if there is none. */
export const planBy = (offer: Offer, of: TierId, interval: 'month' | 'year', print = false): Plan | null =>
  plansOf(offer, of).find((plan) => plan.interval === interval && plan.count === 1 && plan.print === print) ?? null;

/**
 * A text about a plan in each currency, for `InCurrency.astro`; empty without the plan.
 *
 * @param find finds the plan in the offer of a currency
 */
export const textOf =
  <Found extends Plan>(find: (offer: Offer) => Found | null, text: (plan: Found) => string) =>
  (offer: Offer): string => {
    const plan = find(offer);
    return plan ? text(plan) : '';
  };

/** {@link textOf} the plan's amount, or the amount that `sum` returns. */
export const sumOf = (find: (offer: Offer) => Plan | null, sum: (plan: Plan) => number = ({ amount }) => amount) =>
  textOf(find, (plan) => formatSum(sum(plan), plan.currency));

/** What is billed, and how often. */
export type Rate = Pick<Plan, 'amount' | 'currency' | 'interval' | 'count'>;

export const rateOf = ({ unit_amount: amount, currency, recurring }: Price): Rate => ({
  amount,
  currency,
  interval: recurring.interval,
  count: recurring.interval_count,
});

/** "year", "3 months". */
export const intervalName = ({ interval, count }: Pick<Rate, 'interval' | 'count'>): string =>
  count === 1 ? interval : `${count} ${interval}s`;

/** "$12/month". */
export const priceLabel = (rate: Rate): string => `${formatSum(rate.amount, rate.currency)}/${intervalName(rate)}`;

/** "$120 a year", "$30 every 3 months". */
export const priceInWords = (rate: Rate): string =>
  `${formatSum(rate.amount, rate.currency)} ${rate.count === 1 ? 'a' : 'every'} ${intervalName(rate)}`;

/** "Sun Member with the print edition". */
export const planName = (plan: Pick<Plan, 'tier' | 'print'>): string =>
  `${tier(plan.tier).name}${plan.print ? ' with the print edition' : ''}`;

/**
 * "Sun Reader, Yearly": at Stripe a price is usually named by its interval, so the tier is added unless the name contains it.
 */
export function priceName(product: string, name: string): string {
  const tier = findTier(product)?.name;
  return tier && !name.includes(tier) ? `${tier}, ${name}` : name;
}

/** "$0.01/Day". */
export const dailyRate = (plan: Pick<Plan, 'currency'>, { amount, days }: Pick<Promotion, 'amount' | 'days'>): string =>
  `${formatMoney(amount / days, { currency: plan.currency, cents: true })}/Day`;

/** "Full dues ($120/year) billed after 60 days", if the price has no text of its own. */
const promotionTerms = (plan: Rate, after: number): string =>
  `Full dues (${priceLabel(plan)}) billed after ${after} days`;

/** Minor units charged on the day of joining. */
export const dueOnJoining = ({ amount, promotion }: Plan): number => promotion?.amount ?? amount;

/** Minor units saved by paying for a year at once instead of by the month; 0 if nothing is saved, or either rate is missing. */
export const savingOf = (year: Rate | null | undefined, month: Rate | null | undefined): number =>
  month && year && month.currency === year.currency ? Math.max(0, month.amount * 12 - year.amount) : 0;

/** {@link savingOf} for the ordinary plans of a tier. */
export const yearlySaving = (offer: Offer, of: TierId): number =>
  savingOf(planBy(offer, of, 'year'), planBy(offer, of, 'month'));

/** {@link yearlySaving} as a text in each currency, for `InCurrency.astro`. */
export const yearlySavingText =
  (of: TierId) =>
  (offer: Offer): string =>
    formatSum(yearlySaving(offer, of), planBy(offer, of, 'year')?.currency ?? publication.billing.currencies.standard);

/** Minor units that the print edition adds to a year of a tier; `null` unless the tier is sold with and without it. */
export function printSurcharge(offer: Offer, of: TierId): number | null {
  const [without, withPrint] = [planBy(offer, of, 'year'), planBy(offer, of, 'year', true)];
  return without && withPrint && without.currency === withPrint.currency ? withPrint.amount - without.amount : null;
}

/**
 * The link to a plan for each kind of reader (spec section 6): readers with less are asked to join or upgrade, readers with as
 * much or more may change, and founders have everything. Every page contains all of them; `data-visitor` selects the one that is
 * shown.
 */
export interface PlanLink {
  readonly words: 'Join Today' | 'Upgrade' | 'Change';
  /** Value of `data-for`. */
  readonly seenBy: string;
  /** Hidden until the browser knows how this reader pays, because it may be the plan that the reader has. */
  readonly waits: boolean;
}

/** The tier of each kind of reader. */
const own: Readonly<Partial<Record<VisitorKind, TierId>>> = productSlugs;

/** Kinds of reader whose tier is above a given one. */
export const kindsAbove = (of: TierId): readonly VisitorKind[] =>
  visitorKinds.filter((kind) => tierRank(own[kind] ?? of) > tierRank(of));

/** The links into a plan, each for other kinds of readers; founders get none. */
export function linksOf({ tier, print }: Pick<Plan, 'tier' | 'print'>): readonly PlanLink[] {
  const links: PlanLink[] = [{ words: 'Join Today', seenBy: seenBy.joinable, waits: false }];
  const isUpgrade = (kind: VisitorKind): boolean => {
    const has = own[kind];
    // A subscriber with an unknown plan: the quote will state the amount.
    if (!has) return kind === 'subscriber';
    return tierRank(has) < tierRank(tier) || (has === tier && print);
  };
  const above = visitorKinds.filter((kind) => kind !== 'founder' && isUpgrade(kind));
  if (above.length > 0) links.push({ words: 'Upgrade', seenBy: above.join(' '), waits: false });
  const others = visitorKinds.filter((kind) => kind !== 'founder' && own[kind] && !isUpgrade(kind));
  for (const kind of others) links.push({ words: 'Change', seenBy: kind, waits: own[kind] === tier });
  return links;
}
