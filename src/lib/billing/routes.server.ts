/**
 * Request bodies of billing's calls, and code that its routes share: the service, its results as responses, and new access after a
 * payment.
 */
import { createHmac } from 'node:crypto';
import type { APIContext, APIRoute } from 'astro';
import { z } from 'zod';
import type { Accounts, Session } from '../accounts/service.ts';
import { type Answer, refuse } from '../http/answer.ts';
import { accountRoute, type Call, getRoute, jsonResponse, signedInRoute } from '../http/routes.server.ts';
import { messages } from './messages.ts';
import {
  limits,
  metadataFields,
  type Shipping,
  type SubscribeBody,
  type Subscription,
  type TaxAddress,
} from './schema.ts';
import type { Billed, Billing } from './service.ts';

const id = z.string().min(1).max(limits.id);
const code = z.string().trim().min(1).max(limits.coupon);
const currency = z.string().regex(/^[a-z]{3}$/);
const taxAddress = z.looseObject({
  country: z.string().regex(/^[A-Z]{2}$/),
  postal_code: z.string().trim().max(limits.postalCode).optional(),
}) satisfies z.ZodType<TaxAddress>;

export const subscribeBody = z.looseObject({
  payment_method: id,
  product_id: id,
  plan_id: id,
  discount_code: code.optional(),
  attempt: z.uuid().optional(),
  expected: z.int().min(0).optional(),
  currency: currency.optional(),
  address: taxAddress.optional(),
}) satisfies z.ZodType<SubscribeBody>;

export const confirmationBody = z.looseObject({ subscriptionId: id });

export const couponBody = z.looseObject({ couponCode: code, plan_id: id.optional(), currency: currency.optional() });

export const quoteBody = z.looseObject({
  plan_id: id,
  couponCode: code.optional(),
  currency: currency.optional(),
  address: taxAddress.optional(),
});

export const switchBody = z.looseObject({
  plan_id: id,
  prorationDate: z.int().positive().optional(),
  subscriptionId: id.optional(),
  expected: z.int().min(0).optional(),
  attempt: z.uuid().optional(),
});

export const cancelBody = z.looseObject({
  reason: z.string().max(limits.reason).optional(),
  subscriptionId: id.optional(),
});

export const resumeBody = z.looseObject({ subscriptionId: id.optional() });

const metadataValue = z.string().max(limits.metadata).optional();
export const metadataBody = z.looseObject({
  subscriptionId: id,
  metadata: z.looseObject(Object.fromEntries(metadataFields.map((name) => [name, metadataValue]))),
});

const text = (longest: number) => z.string().trim().max(longest);
const needed = (longest: number) => text(longest).min(1);
/** Any address that Stripe takes; the form of the print edition is stricter (lib/plans/schema.ts). */
export const shippingBody = z.looseObject({
  name: needed(limits.line),
  address: z.looseObject({
    line1: needed(limits.line),
    line2: text(limits.line).nullish(),
    city: needed(limits.line),
    state: needed(limits.region),
    postal_code: needed(limits.postalCode),
    country: z.string().trim().length(limits.country),
  }),
  phone: text(limits.phone).nullish(),
}) satisfies z.ZodType<Shipping>;

export const paymentMethodBody = z.looseObject({ payment_method: id });

/** The posted address is ignored: the hash is always for the session's user. */
export const churnBody = z.looseObject({ email: z.string().max(320).optional() });

const whenOff = (): Answer => refuse(503, messages.off, { retryAfter: 600 });

type BillingCall<Body> = Call<Body> & { readonly billing: Billing };

const billingOf = ({ locals }: Pick<APIContext, 'locals'>): Billing | null => locals.services.billing;

/** A JSON route for signed-in readers; others get 401. 503 if billing is off. */
export const signedInBillingRoute = <Schema extends z.ZodType = z.ZodUnknown>(
  rules: { readonly body?: Schema },
  handle: (call: BillingCall<z.output<Schema>> & { readonly session: Session }) => Promise<Answer>,
): APIRoute =>
  signedInRoute(rules, async (call) => {
    const billing = billingOf(call.context);
    return billing ? handle({ ...call, billing }) : whenOff();
  });

/** A JSON route for all readers, with their session if they have one. */
export const billingRoute = <Schema extends z.ZodType = z.ZodUnknown>(
  rules: { readonly body?: Schema },
  handle: (call: BillingCall<z.output<Schema>>) => Promise<Answer>,
): APIRoute =>
  accountRoute({ ...rules, session: 'optional', whenOff }, async (call) => {
    const billing = billingOf(call.context);
    return billing ? handle({ ...call, billing }) : whenOff();
  });

/** A GET for all readers, without a session. */
export const billingGetRoute = (handle: (billing: Billing, context: APIContext) => Answer): APIRoute =>
  getRoute(async (context) => {
    const billing = billingOf(context);
    return billing ? handle(billing, context) : whenOff();
  });

/** The HTTP answer for a result of the service. */
export function answerOf<T>(result: Billed<T>, body: (value: T) => unknown = (value) => value): Answer {
  if (result.ok) return { status: 200, body: body(result.value) };
  const { status, error } = result;
  return {
    status,
    body: error,
    ...(error.retryAfter !== undefined && { headers: { 'Retry-After': String(error.retryAfter) } }),
  };
}

/** Adds the reader's new access cookies to an answer, so that a reader who has just paid can read without signing in again. */
export async function withAccess(answer: Answer, accounts: Accounts, session: Session): Promise<Answer> {
  if (answer.status !== 200) return answer;
  return { ...answer, cookies: [...(answer.cookies ?? []), ...(await accounts.accessCookies(session))] };
}

/** Stripe's webhook. Stripe signs the raw bytes, so they are not parsed before the check. */
export const webhookRoute: APIRoute = async ({ request, locals }) => {
  const { billing } = locals.services;
  const raw = Buffer.from(await request.arrayBuffer());
  const { status, message } = billing
    ? await billing.webhook(raw, request.headers.get('stripe-signature'))
    : { status: 503, message: messages.off };
  return jsonResponse({ status, body: { message } });
};

/** A subscription as Zephr's API describes it (docs/services/zephr.md). */
export function zephrSubscription(one: Subscription): Readonly<Record<string, unknown>> {
  const { productId } = one;
  return {
    externalId: one.id,
    managedBy: 'STRIPE',
    billingFrequency: one.intervalCount ?? 1,
    billingFrequencyUnit: one.interval.toUpperCase(),
    blaizeProduct: { id: productId, label: one.planName, description: '', tenantId: '', subTenantId: '' },
    currencyCode: one.currency.toUpperCase(),
    discountsApplied: one.price < one.preDiscountPrice,
    ended: one.status === 'canceled',
    ends: one.cancelAtPeriodEnd || one.status === 'canceled' ? one.paidUntil : null,
    multiphasePlan: false,
    nextBillingTime: one.nextBillingDate,
    paidThroughDate: one.paidUntil,
    planId: one.planId,
    planName: one.planName,
    preDiscountPrice: one.preDiscountPrice,
    state: one.status.toUpperCase(),
    taxRates: [],
    transactionRecords: [],
  };
}

/** Signs a customer for the retention widget (docs/services/churnkey.md): hex HMAC-SHA256 of the id under the vendor's API key. */
export const userHash = (apiKey: string, customerId: string): string =>
  createHmac('sha256', apiKey).update(customerId).digest('hex');
