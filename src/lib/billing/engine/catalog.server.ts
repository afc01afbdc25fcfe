/**
 * The plans on sale, from Stripe's catalog (spec section 3, "Price"): prices, and Trial Offers, which turn a price into a promotion.
 * The database stores the last catalog, for other processes and for starts while Stripe is unavailable.
 */
import Stripe from 'stripe';
import type { Database } from '../../database.ts';
import type { Logger } from '../../logging.ts';
import type { Price } from '../schema.ts';
import { type KnownPrice, rankOf } from '../subscription-model.ts';
import { idOf } from './fetch-subscription.server.ts';
import { findNote, storeNote } from './notes.server.ts';
import { ifMissing } from './stripe.server.ts';

export interface CatalogOptions {
  readonly stripe: Stripe;
  readonly database: Database;
  /** Called when the prices on the pages have changed. */
  readonly onPrices: () => void;
  readonly log: Logger;
  readonly now: () => number;
}

export type Catalog = ReturnType<typeof createCatalog>;

/**
 * Not the key of releases without Trial Offers: a process of such a release that is still running would sell this promotion for
 * nothing.
 */
const noteKey = 'catalogue with trial offers';
/** Milliseconds until a price that isn't on sale is looked up again: the publisher may have changed its metadata. */
const lookUpAgainMs = 60 * 60_000;

export function createCatalog({ stripe, database, onPrices, log, now }: CatalogOptions) {
  const { db } = database;
  let prices: readonly Price[] = [];
  let shown = '[]';
  let fetchedAt: number | null = null;
  const known = new Map<string, KnownPrice | null>();
  const lookedUpAt = new Map<string, number>();
  const isSold = (id: string): boolean =>
    prices.some(({ id: own, promotion }) => own === id || promotion?.offer === id);

  function take(value: string, at: number): void {
    fetchedAt = at;
    if (value === shown) return;
    shown = value;
    prices = JSON.parse(value) as Price[];
    for (const price of prices) {
      known.set(price.id, knownPrice(price));
      if (price.promotion) known.set(price.promotion.offer, knownPrice(price));
    }
    onPrices();
  }

  return {
    prices: () => prices,
    /** A price that is sold now. @param plan `zephrPlanId` */
    plan: (plan: string): Price | null => prices.find(({ zephrPlanId }) => zephrPlanId === plan) ?? null,
    /** Any price or Trial Offer that was looked up before; `null`: not looked up yet, or not a plan of this site. */
    known: (id: string): KnownPrice | null => known.get(id) ?? null,
    /** When any process last fetched it; epoch milliseconds, `null`: never. */
    fetchedAt: () => fetchedAt,
    /** Looks up prices that have left the catalog, or were never in it. */
    async learn(ids: readonly string[]): Promise<void> {
      for (const id of ids) {
        if (isSold(id) || (lookedUpAt.get(id) ?? Number.NEGATIVE_INFINITY) > now() - lookUpAgainMs) continue;
        known.set(id, await fetchKnown(stripe, id).catch(ifMissing(known.get(id) ?? null)));
        lookedUpAt.set(id, now());
      }
    },
    /** Loads the stored catalog, which another process may have fetched. */
    async load(): Promise<void> {
      const note = await findNote(db, noteKey);
      if (note && note.at !== fetchedAt) take(note.value, note.at);
    },
    /** Fetches it. @throws StripeError */
    async refresh(): Promise<void> {
      const { sold, unsold } = plansOf(await listPrices(stripe), await listOffers(stripe, log));
      const value = JSON.stringify(sold.toSorted(inOrder));
      const at = now();
      if (value !== shown) {
        log.info({ prices: sold.length }, 'Stripe’s prices have changed');
        for (const { plan, why } of unsold) log.warn({ plan }, `A promotion is not on sale: ${why}`);
      }
      await storeNote(db, noteKey, value, at);
      take(value, at);
    },
  };
}

type Offer = Stripe.ProductCatalog.TrialOffer;

async function listPrices(stripe: Stripe): Promise<readonly Stripe.Price[]> {
  const expand = ['data.product', 'data.currency_options'];
  return Array.fromAsync(stripe.prices.list({ active: true, limit: 100, expand }));
}

/** All Trial Offers, newest first, archived ones too; `null`: the key may not read them. */
async function listOffers(stripe: Stripe, log: Logger): Promise<readonly Offer[] | null> {
  try {
    return await Array.fromAsync(stripe.productCatalog.trialOffers.list({ limit: 100 }));
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripePermissionError)) throw error;
    log.warn(
      { err: error },
      'STRIPE_SECRET_KEY may not read Trial Offers, so no promotion and no plan of days or weeks is sold: allow it to read them',
    );
    return null;
  }
}

/** @param id of a price, or of a Trial Offer */
async function fetchKnown(stripe: Stripe, id: string): Promise<KnownPrice | null> {
  const whole = (of: string) => stripe.prices.retrieve(of, { expand: ['product', 'currency_options'] });
  const known = (price: Price | null): KnownPrice | null => price && knownPrice(price);
  if (!id.startsWith('to_')) return known(readPlan(await whole(id)));
  const offer = await stripe.productCatalog.trialOffers.retrieve(id);
  const [first, next] = await Promise.all([whole(idOf(offer.price) ?? ''), whole(nextOf(offer) ?? '')]);
  return known(readPromotion(first, next, offer));
}

const nextOf = ({ end_behavior: { transition } }: Offer): string | null => idOf(transition?.price);
/** Days of an interval whose length is fixed. */
const daysOf: Readonly<Record<string, number>> = { day: 1, week: 7 };

/**
 * The plans that are sold. The price of a Trial Offer is never sold by itself, even if its offer is archived: it would be the reduced
 * price forever. If offers can't be read, any price with an interval of days or weeks may belong to one, and none of them is sold.
 *
 * @param offers newest first, archived ones too; `null`: they can't be read
 */
export function plansOf(
  prices: readonly Stripe.Price[],
  offers: readonly Offer[] | null,
): { sold: Price[]; unsold: { plan: string; why: string }[] } {
  const sold: Price[] = [];
  const unsold: { plan: string; why: string }[] = [];
  for (const price of prices) {
    const own = (offers ?? []).filter((one) => idOf(one.price) === price.id);
    const mayBeOffer = offers === null && (price.recurring?.interval ?? '') in daysOf;
    if (own.length === 0 && !isPromotional(price) && !mayBeOffer) {
      const plan = readPlan(price);
      if (plan) sold.push(plan);
      continue;
    }
    if (!readPlan(price)) continue;
    const offer = own.find(({ active }) => active);
    const next = offer && prices.find((one) => one.id === nextOf(offer) && readPlan(one) !== null);
    const plan = offer && next ? readPromotion(price, next, offer) : null;
    const why = !offer
      ? offers === null
        ? 'Trial Offers can’t be read, and its price may be one'
        : 'no active Trial Offer has its price'
      : next
        ? 'its Trial Offer has to last for one interval of days or weeks'
        : 'the price that its Trial Offer leads to is not active, or has no zephrPlanId';
    if (plan) sold.push(plan);
    else unsold.push({ plan: price.metadata.zephrPlanId ?? price.id, why });
  }
  return { sold, unsold };
}

/** Whether the metadata of a price makes it a promotion, now or in releases without Trial Offers. */
const isPromotional = ({ metadata }: Stripe.Price): boolean =>
  metadata.pennyHeading !== undefined || metadata.promo_days !== undefined;

/** A plan with a promotion that covers all its days with one payment; `null` if it can't be sold that way. */
function readPromotion(first: Stripe.Price, next: Stripe.Price, offer: Offer): Price | null {
  const [plan, full] = [readPlan(first), readPlan({ ...next, metadata: first.metadata })];
  const days = (daysOf[first.recurring?.interval ?? ''] ?? 0) * (first.recurring?.interval_count ?? 0);
  if (!plan || !full || days === 0 || offer.duration.relative?.iterations !== 1) return null;
  return {
    ...full,
    id: plan.id,
    name: plan.name,
    print: plan.print || next.metadata.print === 'true',
    promotion: { offer: offer.id, next: next.id, days, amount: plan.unit_amount, ...currenciesOf(first) },
    product: plan.product,
  };
}

/** The price that follows a promotion; an ordinary price unchanged. */
export const fullPrice = (price: Price): Price =>
  price.promotion ? { ...price, id: price.promotion.next, promotion: null } : price;

/** `null`: not a plan of this site, or one that can't be billed. */
function readPlan(price: Stripe.Price): Price | null {
  const { product, recurring, metadata } = price;
  if (typeof product === 'string' || product.deleted || !recurring || price.unit_amount === null) return null;
  const zephrProduct = product.metadata.zephr_product_id;
  const plan = metadata.zephrPlanId;
  if (!zephrProduct || !plan) return null;
  return {
    id: price.id,
    name: price.nickname ?? product.name,
    unit_amount: price.unit_amount,
    currency: price.currency,
    ...currenciesOf(price),
    recurring: {
      interval: recurring.interval as Price['recurring']['interval'],
      interval_count: recurring.interval_count,
    },
    zephrPlanId: plan,
    pennyHeading: metadata.pennyHeading ?? null,
    pennySubheading: metadata.pennySubheading ?? null,
    promotion: null,
    print: metadata.print === 'true',
    product: { id: product.id, name: product.name, metadata: { zephr_product_id: zephrProduct } },
  };
}

/** Amounts in other currencies, without tiers and amounts that the customer chooses. */
function currenciesOf({ currency, currency_options: options = {} }: Stripe.Price): Pick<Price, 'currencies'> {
  const others = Object.entries(options).flatMap(([name, option]) =>
    name !== currency && option.unit_amount !== null ? [[name, option.unit_amount] as const] : [],
  );
  return others.length > 0 ? { currencies: Object.fromEntries(others) } : {};
}

const knownPrice = (price: Price): KnownPrice => ({
  id: price.id,
  plan: price.zephrPlanId,
  name: price.name,
  product: price.product.metadata.zephr_product_id,
  print: price.print,
  amount: price.unit_amount,
  currency: price.currency,
  ...(price.currencies && { currencies: price.currencies }),
  interval: price.recurring.interval,
  count: price.recurring.interval_count,
  productId: price.product.id,
});

/** By tier, then by price; promotions after the price that they lead to. */
function inOrder(a: Price, b: Price): number {
  const rank = ({ product, print }: Price): number => rankOf({ product: product.metadata.zephr_product_id, print });
  return (
    rank(a) - rank(b) ||
    a.unit_amount - b.unit_amount ||
    Number(a.promotion !== null) - Number(b.promotion !== null) ||
    a.id.localeCompare(b.id)
  );
}
