/** The cookie that says which currency prices are shown in. For browsers: nothing of the publication comes with it. */

/** Name of the cookie that says which currency prices are shown in. A hint and no proof: what is charged the checkout says. */
export const currencyCookie = 'currency';
/** Seconds for which it is believed. */
export const currencyLife = 7 * 24 * 60 * 60;

/** What a cookie says: the currency, and whether it is that of a subscription, which no other country changes. */
export interface CurrencyHint {
  readonly currency: string;
  readonly own: boolean;
}
export const currencyHint = ({ currency, own }: CurrencyHint): string => (own ? `${currency}.own` : currency);

/** The hint in a `document.cookie`; `null`: none. */
export function readCurrency(cookies: string): CurrencyHint | null {
  const found = /(?:^|; )currency=([a-z]{3})(\.own)?(?:;|$)/.exec(cookies);
  return found?.[1] ? { currency: found[1], own: found[2] !== undefined } : null;
}
