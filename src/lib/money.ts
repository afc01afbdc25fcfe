/** Money as the paper prints it (spec section 9). */

/** Tax within a sum, as `Tax` of billing/wire.ts. */
interface TaxPart {
  readonly amount: number;
  readonly included: boolean;
}

const formats = new Map<string, Intl.NumberFormat>();

/**
 * "$120", or "$0.01" when cents are asked for: minor units divided by 100, en-US, no decimals unless `cents`, then two.
 *
 * @param minor amount in minor units, e.g. 12000 for $120
 * @param currency ISO 4217 code, in either case as payment providers send it
 * @throws RangeError when `minor` is no finite number or `currency` no currency code
 */
export function formatMoney(
  minor: number,
  options: { readonly currency?: string; readonly cents?: boolean } = {},
): string {
  if (!Number.isFinite(minor)) throw new RangeError(`formatMoney: ${minor} is no amount`);
  const currency = (options.currency ?? 'usd').toUpperCase();
  const digits = options.cents ? 2 : 0;
  const key = `${currency} ${digits}`;
  let format = formats.get(key);
  if (!format) {
    format = new Intl.NumberFormat('en-US', {
      style: 'currency',
      currency,
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    });
    formats.set(key, format);
  }
  return format.format(minor / 100);
}

/** "$120", and "$0.60" where there are cents. */
export const formatSum = (minor: number, currency: string): string =>
  formatMoney(minor, { currency, cents: minor % 100 !== 0 });

/** "$12.00 + $0.99 tax", "£10 including £1.67 tax", and "$12" where there is none. @param total minor units, tax and all */
export function formatTaxed(total: number, tax: TaxPart | null | undefined, currency: string): string {
  if (!tax || tax.amount === 0) return formatSum(total, currency);
  const exact = (minor: number): string => formatMoney(minor, { currency, cents: true });
  if (tax.included) return `${formatSum(total, currency)} including ${exact(tax.amount)} tax`;
  return `${exact(total - tax.amount)} + ${exact(tax.amount)} tax`;
}
