/**
 * Paying with a wallet, without the UI. The reader has agreed to a sum on the wallet's sheet: exactly that sum is charged, or nothing. If
 * tax depends on an unknown address, the wallet's billing address is used, and a changed sum is shown before it is charged.
 */
import type { ClickResolveDetails, LineItem, StripeExpressCheckoutElementConfirmEvent } from '@stripe/stripe-js';
import type { Price, QuoteAnswer, TaxAddress } from '../../lib/billing/schema.ts';
import { formatSum } from '../../lib/money.ts';
import { paywall as messages } from '../../lib/plans/messages.ts';
import { publication } from '../../publication.ts';
import { type Order, type OrderState, purchaseOf } from './order.ts';
import type { CardForm, CardResult, Payment, Purchase } from './payment.ts';

export type WalletEvent = Pick<StripeExpressCheckoutElementConfirmEvent, 'billingDetails' | 'paymentFailed'>;

export interface WalletPayment {
  /** The order that the sheet showed. */
  readonly agreed: Purchase;
  readonly order: Order;
  readonly payment: Payment;
  readonly form: CardForm;
  /** Whether tax depends on the buyer's address. */
  readonly taxed: boolean;
  /** The sum has changed: the reader is asked again. */
  onSum(due: number): void;
}

/** The part of the wallet's address that tax depends on. */
function placeOf(event: WalletEvent): TaxAddress | null {
  const { country, postal_code: code } = event.billingDetails?.address ?? {};
  if (!country) return null;
  return code ? { country, postal_code: code } : { country };
}

/** @returns whether the sheet is still open: it closes after it has given its card, else the reader closes it */
export async function payByWallet(event: WalletEvent, wallet: WalletPayment): Promise<boolean> {
  const { agreed, order, payment, form, taxed, onSum } = wallet;
  const fail = (message: string) => {
    event.paymentFailed({ reason: 'fail', message });
    return true;
  };
  const place = taxed && agreed.address === null ? placeOf(event) : null;
  if (place) await order.setPlace(place);
  const now = order.$state.get();
  const purchase = purchaseOf(now);
  if (!purchase) return fail(now.error ?? messages.wrong);
  if (!isSameSum(purchase, agreed)) {
    onSum(purchase.expected);
    return fail(messages.sumChanged(formatSum(purchase.expected, purchase.currency)));
  }
  const card: { result: CardResult<string> | null } = { result: null };
  await payment.buy(purchase, {
    ...form,
    async paymentMethod() {
      card.result = await form.paymentMethod();
      return card.result;
    },
  });
  const { result } = card;
  const { error } = payment.$state.get();
  if (error) fail(error.detail ?? error.text);
  // Without an answer the sheet would wait forever, even if the form shows the problem itself.
  else if (!result?.ok) fail(result?.message ?? messages.wrong);
  return !result?.ok;
}

const isSameSum = (one: Purchase, other: Purchase): boolean =>
  one.planId === other.planId && one.expected === other.expected && one.currency === other.currency;

type RecurringPayment = NonNullable<NonNullable<ClickResolveDetails['applePay']>['recurringPaymentRequest']>;

/** Stripe's lines, tax, and what a coupon or a credit takes off: together exactly what is due. */
export function lineItems({ dueToday, lines, tax }: QuoteAnswer, coupon: string | null): LineItem[] {
  // If nothing is due the card is only saved, and the sheet lists nothing.
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

/** Apple Pay has no weekly interval. */
function appleInterval({ interval, interval_count: count }: Price['recurring']) {
  return interval === 'week'
    ? { recurringPaymentIntervalUnit: 'day' as const, recurringPaymentIntervalCount: 7 * count }
    : { recurringPaymentIntervalUnit: interval, recurringPaymentIntervalCount: count };
}

/** What a wallet's sheet shows: the sum of the button, its parts, and the later payments. @param origin of the site */
export function walletDetails({ price, coupon }: OrderState, quote: QuoteAnswer, origin: string): ClickResolveDetails {
  const label = price.product.name;
  const renewal = new Date(quote.renewalDate);
  const isOtherLater = quote.dueToday !== quote.dueAfterRenewal;
  const regularBilling: RecurringPayment['regularBilling'] = {
    label,
    amount: quote.dueAfterRenewal,
    ...appleInterval(price.recurring),
  };
  // Apple's name for a first period at another price.
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
