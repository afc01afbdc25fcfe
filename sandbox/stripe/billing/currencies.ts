/** Prices in more than one currency (`currency_options`). */
import { invalid } from '../core/errors.ts';
import type { Price, Subscription } from '../core/model.ts';

/** @throws {ApiError} 400 when the price is not sold in the currency */
export function amountIn(price: Price, currency: string): number {
  if (currency === price.currency) return price.unit_amount;
  const amount = price._amounts?.[currency];
  if (amount !== undefined) return amount;
  throw invalid(
    `The price specified only supports \`${price.currency}\`. This doesn't match the expected currency: \`${currency}\`.`,
    'items[0][price]',
  );
}

/** A subscription is billed in one currency, and so is all that is added to its invoices. @throws {ApiError} 400 */
export function mustBeBilledIn(subscription: Subscription, currency: string, param: string): void {
  if (subscription.currency === currency) return;
  throw invalid(
    `You cannot combine currencies on a single subscription. This subscription's currency is \`${subscription.currency}\`, and the item's is \`${currency}\`.`,
    param,
  );
}
