/**
 * The browser's checkout calls (spec section 7, "Checkout"). They return {@link Reply} and never throw; {@link refusalOf} reads the
 * details of a refusal.
 */
import { ask, type Refused, type Reply } from '../http/ask.ts';
import type {
  CheckoutError,
  ChurnAnswer,
  ConfirmationAnswer,
  CouponAnswer,
  InvoicesAnswer,
  PlansAnswer,
  QuoteAnswer,
  SavedCardAnswer,
  SetupIntentAnswer,
  Shipping,
  ShippingAnswer,
  SubscribeAnswer,
  SubscribeBody,
  SubscriptionAnswer,
  SwitchAnswer,
  SwitchAsk,
  TaxAddress,
} from './schema.ts';

/** Timeout of calls that wait for a bank, milliseconds. */
const timeoutMs = 30_000;

/** The plans on sale, with Stripe's publishable key and script. */
export const plans = (): Promise<Reply<PlansAnswer>> => ask('/api/v1/checkout/plans');

/** The currency, and the address that tax depends on. */
export interface Terms {
  readonly currency: string;
  readonly address: TaxAddress | null;
}

/** What Stripe would charge for a plan, now and at the renewal. */
export const quote = (
  planId: string,
  couponCode: string | undefined,
  { currency, address }: Terms,
): Promise<Reply<QuoteAnswer>> =>
  ask('/api/v1/checkout/quote', {
    body: { plan_id: planId, currency, ...(couponCode && { couponCode }), ...(address && { address }) },
  });

/** Whether a coupon is valid for a plan in a currency. */
export const coupon = (couponCode: string, planId: string, currency: string): Promise<Reply<CouponAnswer>> =>
  ask('/api/v1/checkout/get-coupon', { body: { couponCode, plan_id: planId, currency } });

/** Buys. The same `attempt` again is the same purchase. */
export const subscribe = (body: SubscribeBody): Promise<Reply<SubscribeAnswer>> =>
  ask('/blaize/payment/stripe/subscribe', { body, timeoutMs });

/** After the browser has confirmed the card. */
export const confirmation = (subscriptionId: string): Promise<Reply<ConfirmationAnswer>> =>
  ask('/blaize/payment/stripe/subscription/confirmation', { body: { subscriptionId }, timeoutMs });

/** Changes the plan of a running subscription. */
export const switchPlan = ({ planId, ...rest }: SwitchAsk): Promise<Reply<SwitchAnswer>> =>
  ask('/api/v1/me/subscription/switch', { body: { plan_id: planId, ...rest }, timeoutMs });

/** The reader's subscription; 401 without a session. */
export const subscription = (): Promise<Reply<SubscriptionAnswer>> => ask('/api/v1/me/subscription');

/** Reverts a cancellation or a planned change. */
export const resume = (subscriptionId: string | undefined): Promise<Reply<SubscriptionAnswer>> =>
  ask('/api/v1/me/subscription/resume', { body: { subscriptionId }, timeoutMs });

/** Cancels at the end of the paid time. @param reason the reader's words, at most `limits.reason` characters */
export const cancel = (reason: string, subscriptionId: string | undefined): Promise<Reply<SubscriptionAnswer>> =>
  ask('/api/v1/me/subscription/cancel', { body: { reason, subscriptionId }, timeoutMs });

/** The retention widget's signature for the reader's customer. */
export const churnHash = (email: string): Promise<Reply<ChurnAnswer>> => ask('/api/churnkey', { body: { email } });

/** Invoices, newest first. @param after id of the last invoice of the previous page */
export const fetchInvoices = (after: string | null): Promise<Reply<InvoicesAnswer>> =>
  ask(`/api/v1/me/invoices${after === null ? '' : `?${new URLSearchParams({ after })}`}`);

/** Stores the origin of a subscription (spec section 3), even if the reader leaves the page. */
export const saveMetadata = (
  subscriptionId: string,
  metadata: Readonly<Record<string, string>>,
): Promise<Reply<unknown>> =>
  ask('/api/v1/me/subscription/metadata', { method: 'PUT', body: { subscriptionId, metadata }, keepalive: true });

export const shipping = (): Promise<Reply<ShippingAnswer>> => ask('/api/v1/me/shipping');

export const saveShipping = (address: Shipping): Promise<Reply<ShippingAnswer>> =>
  ask('/api/v1/me/shipping', { body: address });

/** The secret of a setup intent, to save a card. */
export const setupIntent = (): Promise<Reply<SetupIntentAnswer>> =>
  ask('/zephr/payment/stripe/setupIntentSecret', { body: {}, timeoutMs });

/** Makes a card the subscription's payment method, and pays open invoices with it; the bank may have to confirm. */
export const chargePaymentMethod = (paymentMethod: string): Promise<Reply<SavedCardAnswer>> =>
  ask('/api/v1/me/payment-method', { body: { payment_method: paymentMethod }, timeoutMs });

/** The details of a refused call; fields of another type are ignored. */
export function refusalOf({ body, message }: Refused): Partial<CheckoutError> & { readonly error?: string } {
  const given: Record<string, unknown> = typeof body === 'object' && body !== null ? { ...body } : {};
  const text = (field: string) => (typeof given[field] === 'string' ? { [field]: given[field] as string } : {});
  const due = Number.isInteger(given.due) ? { due: given.due as number } : {};
  return { ...(message !== null && { message }), ...text('code'), ...text('declineCode'), ...text('error'), ...due };
}
