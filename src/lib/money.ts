/** Money as the site prints it (spec section 9). */
import { publication } from '../publication.ts';

/** Tax within a sum, on top of the price or included in it, as `Tax` of billing/schema.ts. */
export interface TaxPart {
  readonly amount: number;
  readonly included: boolean;
}

/** Currencies without minor units at Stripe, and those with thousandths (docs.stripe.com/currencies); all others have hundredths. */
const withoutDecimals = 'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF';
const withThousandths = 'BHD JOD KWD OMR TND';

/**
 * How many decimals Stripe counts in a currency: 2 for dollars, 0 for yen. `Intl` has the number that people write, which is smaller
 * for some currencies, such as forints, and differs between browsers.
 *
 * @param currency ISO 4217 code, in either case
 */
export function decimalsOf(currency: string): number {
  const code = currency.toUpperCase();
  if (withoutDecimals.includes(code)) return 0;
  return withThousandths.includes(code) ? 3 : 2;
}

const formats = new Map<string, Intl.NumberFormat>();

/**
 * "$120", or "$0.01" with `cents`: an amount in minor units as text in the paper's language, without decimals, or with all decimals of the
 * currency if `cents` is set.
 *
 * @param minor amount in minor units, e.g. 12000 for $120
 * @param currency ISO 4217 code, in either case as payment providers send it
 * @throws RangeError if `minor` isn't a finite number or `currency` isn't a currency code
 */
export function formatMoney(
  minor: number,
  options: { readonly currency?: string; readonly cents?: boolean } = {},
): string {
  if (!Number.isFinite(minor)) throw new RangeError(`formatMoney: ${minor} isn't an amount`);
  const currency = (options.currency ?? 'usd').toUpperCase();
  const most = decimalsOf(currency);
  const digits = options.cents ? most : 0;
  const key = `${currency} ${digits}`;
  let format = formats.get(key);
  if (!format) {
    format = new Intl.NumberFormat(publication.language, {
      style: 'currency',
      currency,
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    });
    formats.set(key, format);
  }
  return format.format(minor / 10 ** most);
}

/** "$120", and "$0.60" where there are cents. */
export const formatSum = (minor: number, currency: string): string =>
  formatMoney(minor, { currency, cents: minor % 10 ** decimalsOf(currency) !== 0 });

/** "$12.99 ($12.00 + $0.99 tax)", and "$12.00" without tax, for receipts and invoices. */
export function formatReceipt(total: number, tax: TaxPart | null | undefined, currency: string): string {
  const sum = formatMoney(total, { currency, cents: true });
  return tax && tax.amount !== 0 ? `${sum} (${formatTaxed(total, tax, currency)})` : sum;
}

/** "$12.00 + $0.99 tax", "£10 including £1.67 tax", and "$12" without tax. @param total minor units, including tax */
export function formatTaxed(total: number, tax: TaxPart | null | undefined, currency: string): string {
  if (!tax || tax.amount === 0) return formatSum(total, currency);
  const exact = (minor: number): string => formatMoney(minor, { currency, cents: true });
  if (tax.included) return `${formatSum(total, currency)} including ${exact(tax.amount)} tax`;
  return `${exact(total - tax.amount)} + ${exact(tax.amount)} tax`;
}
