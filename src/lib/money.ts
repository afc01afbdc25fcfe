/** Money as the paper prints it (spec section 9). */

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
