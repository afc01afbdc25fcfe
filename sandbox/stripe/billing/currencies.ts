/** Prices in more than one currency (`currency_options`). */

import type { StripeAccount } from '../core/account.ts';
import { invalid } from '../core/errors.ts';
import type { Customer, Price, Subscription } from '../core/model.ts';

/**
 * Amount of a price in a currency.
 * @param param the parameter that names the price
 * @throws {ApiError} 400 when the price is not sold in the currency
 */
export function amountIn(price: Price, currency: string, param = 'items[0][price]'): number {
  if (currency === price.currency) return price.unit_amount;
  const amount = price._amounts?.[currency];
  if (amount !== undefined) return amount;
  throw invalid(
    `The price specified only supports \`${price.currency}\`. This doesn't match the expected currency: \`${currency}\`.`,
    param,
  );
}

/**
 * The smallest amounts that Stripe charges, in minor units; smaller amounts are added to the customer's balance
 * (docs.stripe.com/currencies#minimum-and-maximum-charge-amounts). In other currencies the minimum is 50.
 */
const smallestCharges: readonly (readonly [minimum: number, currencies: readonly string[]])[] = [
  [30, ['gbp']],
  [200, ['aed', 'myr', 'pln', 'ron']],
  [250, ['dkk']],
  [300, ['nok', 'sek']],
  [400, ['hkd']],
  [1000, ['mxn', 'thb']],
  [1500, ['czk']],
  [17_500, ['huf']],
];

export const smallestCharge = (currency: string): number =>
  smallestCharges.find(([, currencies]) => currencies.includes(currency))?.[0] ?? 50;

const runningStatuses: readonly string[] = ['trialing', 'active', 'past_due', 'unpaid', 'paused'];

/**
 * A customer pays in one currency at a time (docs.stripe.com/billing/customer#currency).
 * @throws {ApiError} 400 while anything of the customer is billed in another currency
 */
export function checkCustomerCurrency(account: StripeAccount, customer: Customer, currency: string): void {
  const own = [
    ...[...account.store.all('subscription')].filter(({ status }) => runningStatuses.includes(status)),
    ...[...account.store.all('invoiceitem')].filter(({ invoice }) => invoice === null),
  ];
  const other = own.find((one) => one.customer === customer.id && one.currency !== currency);
  if (!other) return;
  throw invalid(
    `You cannot combine currencies on a single customer. This customer has an active subscription, subscription schedule, discount, quote, or invoice item with currency ${other.currency}.`,
  );
}

/** A subscription and everything that is added to its invoices is billed in one currency. @throws {ApiError} 400 */
export function checkSubscriptionCurrency(subscription: Subscription, currency: string, param: string): void {
  if (subscription.currency === currency) return;
  throw invalid(
    `You cannot combine currencies on a single subscription. This subscription's currency is \`${subscription.currency}\`, and the item's is \`${currency}\`.`,
    param,
  );
}
