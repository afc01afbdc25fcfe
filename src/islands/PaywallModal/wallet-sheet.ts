/** What a wallet's sheet shows before the reader agrees to it: the sum of the button, what it is made of, and what comes later. Pure. */
import type { ClickResolveDetails, LineItem } from '@stripe/stripe-js';
import type { Price, QuoteAnswer } from '../../lib/billing/wire.ts';
import { publication } from '../../publication.ts';
import type { OrderState } from './order.ts';

type RecurringPayment = NonNullable<NonNullable<ClickResolveDetails['applePay']>['recurringPaymentRequest']>;

/** Stripe's lines, tax, and what a coupon or a credit takes off: together exactly what is due. */
export function lineItems({ dueToday, lines, tax }: QuoteAnswer, coupon: string | null): LineItem[] {
  // Where nothing is due the card is only kept, and a sheet without a sum lists nothing.
  if (dueToday === 0) return [];
  const items = lines
    .filter(({ amount }) => amount !== 0)
    .map(({ description, amount }) => ({ name: description, amount }));
  const today = tax?.today;
  if (today && !today.included && today.amount > 0) items.push({ name: 'Tax', amount: today.amount });
  const rest = dueToday - items.reduce((sum, { amount }) => sum + amount, 0);
  if (rest < 0) items.push({ name: coupon === null ? 'Discount' : `Discount (${coupon})`, amount: rest });
  if (rest > 0) items.push({ name: 'Balance', amount: rest });
  return items;
}

/** Apple Pay knows no weeks. */
function appleInterval({ interval, interval_count: count }: Price['recurring']) {
  return interval === 'week'
    ? { recurringPaymentIntervalUnit: 'day' as const, recurringPaymentIntervalCount: 7 * count }
    : { recurringPaymentIntervalUnit: interval, recurringPaymentIntervalCount: count };
}

/** @param origin of the site */
export function walletDetails({ price, coupon }: OrderState, quote: QuoteAnswer, origin: string): ClickResolveDetails {
  const label = price.product.name;
  const renewal = new Date(quote.renewalDate);
  const isOtherLater = quote.dueToday !== quote.dueAfterRenewal;
  const regularBilling: RecurringPayment['regularBilling'] = {
    label,
    amount: quote.dueAfterRenewal,
    ...appleInterval(price.recurring),
  };
  // Apple's word for a first time at another price.
  const trialBilling: RecurringPayment['trialBilling'] = {
    label,
    amount: quote.dueToday,
    recurringPaymentEndDate: renewal,
  };
  if (isOtherLater) regularBilling.recurringPaymentStartDate = renewal;
  const recurringPaymentRequest: RecurringPayment = {
    paymentDescription: `${publication.name}: ${label}`,
    managementURL: new URL('/dashboard/account', origin).href,
    regularBilling,
  };
  if (isOtherLater) recurringPaymentRequest.trialBilling = trialBilling;
  return {
    lineItems: lineItems(quote, coupon.kind === 'applied' ? coupon.code : null),
    applePay: { recurringPaymentRequest },
  };
}
