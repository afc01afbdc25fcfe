/**
 * Paying with a wallet, without a screen. The reader has agreed to a sum on the wallet's sheet; it is charged, or nothing is. Where
 * tax depends on an address that is not known yet, the wallet's billing address says it, and a sum that has changed by it is shown
 * before it is charged.
 */
import type { StripeExpressCheckoutElementConfirmEvent } from '@stripe/stripe-js';
import type { TaxAddress } from '../../lib/billing/wire.ts';
import { messages } from './messages.ts';
import { sum } from './money.ts';
import { type Order, purchaseOf } from './order.ts';
import type { CardForm, Made, Payment, Purchase } from './payment.ts';

export type WalletEvent = Pick<StripeExpressCheckoutElementConfirmEvent, 'billingDetails' | 'paymentFailed'>;

export interface WalletPayment {
  /** What the sheet showed. */
  readonly agreed: Purchase;
  readonly order: Order;
  readonly payment: Payment;
  readonly form: CardForm;
  /** Whether tax depends on where the buyer lives. */
  readonly taxed: boolean;
  /** The sum is another one now: the reader is asked again. */
  onSum(due: number): void;
}

/** As much of a wallet's address as tax depends on. */
export function placeOf(event: WalletEvent): TaxAddress | null {
  const { country, postal_code: code } = event.billingDetails?.address ?? {};
  if (!country) return null;
  return code ? { country, postal_code: code } : { country };
}

/** @returns whether the sheet still stands: it ends when it has given its card, else the reader dismisses it */
export async function payByWallet(event: WalletEvent, wallet: WalletPayment): Promise<boolean> {
  const { agreed, order, payment, form, taxed, onSum } = wallet;
  const fail = (message: string) => {
    event.paymentFailed({ reason: 'fail', message });
    return true;
  };
  const place = taxed && agreed.address === null ? placeOf(event) : null;
  if (place) await order.live(place);
  const now = order.$state.get();
  const purchase = purchaseOf(now);
  if (!purchase) return fail(now.error ?? messages.wrong);
  if (!isSameSum(purchase, agreed)) {
    onSum(purchase.expected);
    return fail(messages.sumChanged(sum(purchase.expected, purchase.currency)));
  }
  const card: { made: Made<string> | null } = { made: null };
  await payment.buy(purchase, {
    ...form,
    async paymentMethod() {
      card.made = await form.paymentMethod();
      return card.made;
    },
  });
  const { made } = card;
  const { error } = payment.$state.get();
  if (error) fail(error.detail ?? error.text);
  // The form shows this problem beside its fields, or nothing was begun: without an answer the sheet would wait forever.
  else if (!made?.ok) fail(made?.message ?? messages.wrong);
  return !made?.ok;
}

const isSameSum = (one: Purchase, other: Purchase): boolean =>
  one.planId === other.planId && one.expected === other.expected && one.currency === other.currency;
