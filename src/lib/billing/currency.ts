/** Prices in a reader's currency, from the price's `currency_options` at Stripe. Pure functions. */
import { publication } from '../../publication.ts';
import { formatMoney, formatSum } from '../money.ts';
import type { Price, Promotion } from './schema.ts';
import type { KnownPrice } from './subscription-model.ts';

/** All currencies on sale, the standard one first. */
export const currencies: readonly string[] = [
  ...new Set([publication.billing.currencies.standard, ...Object.values(publication.billing.currencies.byCountry)]),
];

/** The currency of a country. @param country two capital letters; `null`: not known */
export function currencyOf(country: string | null): string {
  const { byCountry, standard } = publication.billing.currencies;
  return (country !== null && byCountry[country]) || standard;
}

/** A price in a currency; unchanged if it isn't sold in that currency. */
export function priceIn(price: Price, currency: string | undefined): Price {
  const amount = currency === undefined ? undefined : price.currencies?.[currency];
  if (amount === undefined || currency === undefined) return price;
  const currencies = { ...price.currencies, [price.currency]: price.unit_amount };
  const promotion = price.promotion && promotionIn(price.promotion, price.currency, currency);
  // If the promotion isn't sold in that currency, the whole price stays in its own.
  if (price.promotion && !promotion) return price;
  const other = { ...price, currency, unit_amount: amount, currencies, promotion };
  return { ...other, pennySubheading: termsIn(price, other) };
}

function promotionIn(promotion: Promotion, own: string, currency: string): Promotion | null {
  const amount = promotion.currencies?.[currency];
  if (amount === undefined) return null;
  return { ...promotion, amount, currencies: { ...promotion.currencies, [own]: promotion.amount } };
}

/** Amounts that a price's text may name. */
const sumsOf = ({ unit_amount: full, promotion }: Price): readonly number[] =>
  promotion ? [full, promotion.amount, promotion.amount / promotion.days] : [full];

/** "$120", "US$0.60", "CHF 120". */
const sumPattern = /(?:[A-Z]{0,3}\p{Sc}|[A-Z]{3}\s)\d[\d,]*(?:\.\d+)?/gu;

/** `Intl` puts a no-break space into amounts, where people type an ordinary one. */
const plainSpaces = (text: string): string => text.replace(/\s/gu, ' ');

/** The publisher's text on a promotion in another currency; `null` if it names an amount that isn't the price's. */
function termsIn(own: Price, other: Price): string | null {
  const sums = sumsOf(other);
  const known = new Map(
    sumsOf(own).flatMap((sum, at) => {
      const text = formatSum(sums[at] ?? 0, other.currency);
      return [formatSum(sum, own.currency), formatMoney(sum, { currency: own.currency, cents: true })].map(
        (each) => [plainSpaces(each), text] as const,
      );
    }),
  );
  let unknown = false;
  const text = own.pennySubheading?.replace(sumPattern, (written) => {
    const sum = plainSpaces(written);
    unknown ||= !known.has(sum);
    return known.get(sum) ?? sum;
  });
  return unknown ? null : (text ?? null);
}

/** {@link priceIn} for a stored price: a subscription keeps its currency. */
export function knownIn(price: KnownPrice, currency: string): KnownPrice {
  const amount = price.currencies?.[currency];
  return amount === undefined ? price : { ...price, currency, amount };
}

/**
 * Script of the document's head, as `visitorScript` of accounts/visitor.ts: marks `<html>` with a currency that is not the standard one
 * before the first paint. Empty if there is one currency only.
 */
export const currencyScript =
  currencies.length === 1
    ? ''
    : `{const d=document.documentElement.dataset,m=/(?:^|; )currency=(${currencies.slice(1).join('|')})(?:\\.own)?(?:;|$)/.exec(document.cookie);if(m)d.currency=m[1];else delete d.currency}`;

const shown = currencies.map((one, at) => {
  const own = `html[data-currency=${one}] [data-in~=${one}]`;
  return at === 0 ? `html:not([data-currency]) [data-in~=${one}],${own}` : own;
});

/** Styles of components/plans/InCurrency.astro, for the head of every page: they follow from the currencies of the publication. */
export const currencyStyle =
  currencies.length === 1
    ? ''
    : `.in-currency{display:inline-grid}.in-currency>*{grid-area:1/1;visibility:hidden}${shown.join()}{visibility:inherit}`;
