/** Prices in the currency of where a reader is. Stripe keeps the amounts beside the price (`currency_options`). Pure. */
import { publication } from '../../publication.ts';
import type { KnownPrice } from './state.ts';
import type { Price, Promotion } from './wire.ts';

/** What is charged in a country. @param country two capital letters; `null`: not known */
export function currencyOf(country: string | null): string {
  const { byCountry, standard } = publication.billing.currencies;
  return (country !== null && byCountry[country]) || standard;
}

/** A price as it is sold in a currency; where it is not, as it is. */
export function priceIn(price: Price, currency: string | undefined): Price {
  const amount = currency === undefined ? undefined : price.currencies?.[currency];
  if (amount === undefined || currency === undefined) return price;
  const currencies = { ...price.currencies, [price.currency]: price.unit_amount };
  const promotion = price.promotion && promotionIn(price.promotion, price.currency, currency);
  // A first time that is not sold in it keeps the whole price in its own.
  if (price.promotion && !promotion) return price;
  return { ...price, currency, unit_amount: amount, currencies, promotion };
}

function promotionIn(promotion: Promotion, own: string, currency: string): Promotion | null {
  const amount = promotion.currencies?.[currency];
  if (amount === undefined) return null;
  return { ...promotion, amount, currencies: { ...promotion.currencies, [own]: promotion.amount } };
}

/** As {@link priceIn}, of what was bought: a subscription keeps the currency that it was begun in. */
export function knownIn(price: KnownPrice, currency: string): KnownPrice {
  const amount = price.currencies?.[currency];
  return amount === undefined ? price : { ...price, currency, amount };
}
