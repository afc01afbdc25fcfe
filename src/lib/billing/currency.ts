/** Prices in the currency of where a reader is. Stripe keeps the amounts beside the price (`currency_options`). Pure. */
import { publication } from '../../publication.ts';
import type { KnownPrice } from './state.ts';
import type { Price } from './wire.ts';

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
  return { ...price, currency, unit_amount: amount, currencies };
}

/** As {@link priceIn}, of what was bought: a subscription keeps the currency that it was begun in. */
export function knownIn(price: KnownPrice, currency: string): KnownPrice {
  const amount = price.currencies?.[currency];
  return amount === undefined ? price : { ...price, currency, amount };
}
