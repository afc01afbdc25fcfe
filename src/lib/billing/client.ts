/**
 * The checkout calls that the browser makes (spec section 7, "Checkout"). Every function answers with a value and never throws;
 * see {@link Answer}. What a refusal says beside its sentence is read by {@link refusalOf}.
 */
import { type Answer, ask, type Refused } from '../http/ask.ts';
import type {
  BillsAnswer,
  CheckoutError,
  ConfirmationAnswer,
  CouponAnswer,
  KeptCardAnswer,
  PlansAnswer,
  QuoteAnswer,
  SetupIntentAnswer,
  Shipping,
  ShippingAnswer,
  SubscribeAnswer,
  SubscribeBody,
  SubscriptionAnswer,
  SwitchAnswer,
  TaxAddress,
} from './wire.ts';

/** Money moves: such an answer may take as long as a bank does. Milliseconds. */
const patience = 30_000;

/** What can be bought, the key and the script of the card fields. */
export const plans = (): Promise<Answer<PlansAnswer>> => ask('/api/v1/checkout/plans');

/** In which currency, and where the buyer lives. */
export interface Terms {
  readonly currency: string;
  readonly address: TaxAddress | null;
}

/** What Stripe would charge for a plan, now and at the renewal. */
export const quote = (
  planId: string,
  couponCode: string | undefined,
  { currency, address }: Terms,
): Promise<Answer<QuoteAnswer>> =>
  ask('/api/v1/checkout/quote', {
    body: { plan_id: planId, currency, ...(couponCode && { couponCode }), ...(address && { address }) },
  });

/** Whether a coupon is good for a plan. */
export const coupon = (couponCode: string, planId: string): Promise<Answer<CouponAnswer>> =>
  ask('/api/v1/checkout/get-coupon', { body: { couponCode, plan_id: planId } });

/** Buys. The same `attempt` again is the same purchase. */
export const subscribe = (body: SubscribeBody): Promise<Answer<SubscribeAnswer>> =>
  ask('/blaize/payment/stripe/subscribe', { body, patience });

/** After the browser has confirmed the card. */
export const confirmation = (subscriptionId: string): Promise<Answer<ConfirmationAnswer>> =>
  ask('/blaize/payment/stripe/subscription/confirmation', { body: { subscriptionId }, patience });

export interface Switch {
  readonly planId: string;
  readonly prorationDate: number | null;
  readonly expected: number;
  readonly attempt: string;
}

/** Changes the plan of a running subscription. */
export const switchPlan = ({ planId, prorationDate, ...rest }: Switch): Promise<Answer<SwitchAnswer>> =>
  ask('/api/v1/me/subscription/switch', {
    body: { plan_id: planId, ...(prorationDate !== null && { prorationDate }), ...rest },
    patience,
  });

/** The reader's subscription; 401 without a session. */
export const subscription = (): Promise<Answer<SubscriptionAnswer>> => ask('/api/v1/me/subscription');

/** Goes on after a cancellation, or with the present plan where another is planned. */
export const resume = (): Promise<Answer<SubscriptionAnswer>> =>
  ask('/api/v1/me/subscription/resume', { body: {}, patience });

/** Cancels at the end of what is paid. @param reason what the reader says */
export const cancel = (reason: string): Promise<Answer<SubscriptionAnswer>> =>
  ask('/api/v1/me/subscription/cancel', { body: { reason: reason.slice(0, 500) }, patience });

/** Bills, newest first. @param after the last that is known */
export const bills = (after: string | null): Promise<Answer<BillsAnswer>> =>
  ask(`/api/v1/me/invoices${after === null ? '' : `?${new URLSearchParams({ after })}`}`);

/** Notes where a subscription came from (spec section 3). Goes on when the page is left. */
export const saveMetadata = (
  subscriptionId: string,
  metadata: Readonly<Record<string, string>>,
): Promise<Answer<unknown>> =>
  ask('/api/v1/me/subscription/metadata', { method: 'PUT', body: { subscriptionId, metadata }, keepalive: true });

export const shipping = (): Promise<Answer<ShippingAnswer>> => ask('/api/v1/me/shipping');

export const saveShipping = (address: Shipping): Promise<Answer<ShippingAnswer>> =>
  ask('/api/v1/me/shipping', { body: address });

/** Secret of a setup intent, with which a card is kept for later. */
export const setupIntent = (): Promise<Answer<SetupIntentAnswer>> =>
  ask('/zephr/payment/stripe/setupIntentSecret', { body: {}, patience });

/** Makes a card the one that is charged, and tries what is open once more; the bank may ask about that. */
export const chargePaymentMethod = (paymentMethod: string): Promise<Answer<KeptCardAnswer>> =>
  ask('/api/v1/me/payment-method', { body: { payment_method: paymentMethod }, patience });

/** What a checkout call says no with; only fields of the right kind. */
export function refusalOf({ body, message }: Refused): Partial<CheckoutError> & { readonly error?: string } {
  const given: Record<string, unknown> = typeof body === 'object' && body !== null ? { ...body } : {};
  const text = (field: string) => (typeof given[field] === 'string' ? { [field]: given[field] as string } : {});
  const due = Number.isInteger(given.due) ? { due: given.due as number } : {};
  return { ...(message !== null && { message }), ...text('code'), ...text('declineCode'), ...text('error'), ...due };
}
