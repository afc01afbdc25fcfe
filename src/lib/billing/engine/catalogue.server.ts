/**
 * What can be bought, from Stripe's catalogue (spec section 3, "Price"). The last known one is kept in the database: a start without
 * Stripe has it, and so has every other process.
 */
import type Stripe from 'stripe';
import type { Database } from '../../database.ts';
import type { Logger } from '../../logging.ts';
import { type KnownPrice, rankOf } from '../state.ts';
import type { Price } from '../wire.ts';
import { isMissing } from './errors.ts';

export interface Catalogue {
  prices(): readonly Price[];
  /** A price that is sold now. @param plan `zephrPlanId` */
  plan(plan: string): Price | null;
  /** Any price that was ever looked up; `null`: no plan of ours, or not looked up yet. */
  known(id: string): KnownPrice | null;
  /** Looks up prices that have left the catalogue. */
  learn(ids: readonly string[]): Promise<void>;
  /** Takes over what the database has; another process may have fetched it. */
  load(): Promise<void>;
  /** Fetches it. @throws StripeError */
  refresh(): Promise<void>;
  /** When it was fetched last, by any process; epoch milliseconds, `null`: never. */
  fetchedAt(): number | null;
}

export interface CatalogueOptions {
  readonly stripe: Stripe;
  readonly database: Database;
  /** Told when what the pages show has changed. */
  readonly onPrices: () => void;
  readonly log: Logger;
  readonly now: () => number;
}

const noteKey = 'catalogue';

export function createCatalogue({ stripe, database, onPrices, log, now }: CatalogueOptions): Catalogue {
  const { db } = database;
  let prices: readonly Price[] = [];
  let shown = '[]';
  let fetchedAt: number | null = null;
  const known = new Map<string, KnownPrice | null>();

  function take(value: string, at: number): void {
    fetchedAt = at;
    if (value === shown) return;
    shown = value;
    prices = JSON.parse(value) as Price[];
    for (const price of prices) known.set(price.id, knownPrice(price));
    onPrices();
  }

  return {
    prices: () => prices,
    plan: (plan) => prices.find(({ zephrPlanId }) => zephrPlanId === plan) ?? null,
    known: (id) => known.get(id) ?? null,
    fetchedAt: () => fetchedAt,
    async learn(ids) {
      for (const id of ids) {
        if (known.has(id)) continue;
        try {
          const price = readPrice(await stripe.prices.retrieve(id, { expand: ['product', 'currency_options'] }));
          known.set(id, price && knownPrice(price));
        } catch (error) {
          if (!isMissing(error)) throw error;
          known.set(id, null);
        }
      }
    },
    async load() {
      const row = await db.selectFrom('billing_notes').selectAll().where('key', '=', noteKey).executeTakeFirst();
      if (row && row.at !== fetchedAt) take(row.value, row.at);
    },
    async refresh() {
      const found: Price[] = [];
      for await (const price of stripe.prices.list({
        active: true,
        limit: 100,
        expand: ['data.product', 'data.currency_options'],
      })) {
        const read = readPrice(price);
        if (read) found.push(read);
      }
      const value = JSON.stringify(found.toSorted(inOrder));
      const at = now();
      if (value !== shown) log.info({ prices: found.length }, 'The catalogue of prices has changed');
      await db
        .insertInto('billing_notes')
        .values({ key: noteKey, value, at })
        .onConflict((conflict) => conflict.column('key').doUpdateSet({ value, at }))
        .execute();
      take(value, at);
    },
  };
}

/** `null`: not sold by the paper, or in no way that it can bill. */
function readPrice(price: Stripe.Price): Price | null {
  const { product, recurring, metadata } = price;
  if (typeof product === 'string' || product.deleted || !recurring || price.unit_amount === null) return null;
  const zephrProduct = product.metadata.zephr_product_id;
  const plan = metadata.zephrPlanId;
  if (!zephrProduct || !plan) return null;
  const days = Number(metadata.promo_days);
  const perDay = Number(metadata.promo_amount_per_day);
  const promoted = Number.isInteger(days) && days > 0 && Number.isInteger(perDay) && perDay >= 0;
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
    promotion: promoted ? { days, perDay } : null,
    print: metadata.print === 'true',
    product: { id: product.id, name: product.name, metadata: { zephr_product_id: zephrProduct } },
  };
}

/** Amounts in other currencies; tiers and amounts of the customer's choice are none. */
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

/** By tier, then by what it costs; promotions behind the price that they lead to. */
function inOrder(a: Price, b: Price): number {
  const rank = ({ product, print }: Price): number => rankOf({ product: product.metadata.zephr_product_id, print });
  return (
    rank(a) - rank(b) ||
    a.unit_amount - b.unit_amount ||
    Number(a.promotion !== null) - Number(b.promotion !== null) ||
    a.id.localeCompare(b.id)
  );
}
