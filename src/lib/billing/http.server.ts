/** What the calls of the checkout have in common: the reader, the service, its refusals as answers, fresh access after a payment. */
import type { APIContext, APIRoute } from 'astro';
import type { z } from 'zod';
import type { Accounts, Session } from '../accounts/service.ts';
import { type Answer, refuse } from '../http/answer.ts';
import { accountRoute, type Call, getRoute, signedInRoute } from '../http/routes.server.ts';
import { messages } from './messages.ts';
import type { Billed, Billing } from './service.ts';

const retryWhenOff = 600;
const whenOff = (): Answer => refuse(503, messages.off, { retryAfter: retryWhenOff });

type Payments<Body> = Call<Body> & { readonly billing: Billing };

interface Rules<Schema extends z.ZodType> {
  readonly body?: Schema;
}

const billingOf = ({ locals }: Pick<APIContext, 'locals'>): Billing | null => locals.services.billing;

/** A call for readers who are signed in; others get 401. 503 where billing is off. */
export const payingCall = <Schema extends z.ZodType = z.ZodUnknown>(
  rules: Rules<Schema>,
  handle: (call: Payments<z.output<Schema>> & { readonly session: Session }) => Promise<Answer>,
): APIRoute =>
  signedInRoute(rules, async (call) => {
    const billing = billingOf(call.context);
    return billing ? handle({ ...call, billing }) : whenOff();
  });

/** A call for everybody; the session is looked up. */
export const shopCall = <Schema extends z.ZodType = z.ZodUnknown>(
  rules: Rules<Schema>,
  handle: (call: Payments<z.output<Schema>>) => Promise<Answer>,
): APIRoute =>
  accountRoute({ ...rules, session: 'optional', whenOff }, async (call) => {
    const billing = billingOf(call.context);
    return billing ? handle({ ...call, billing }) : whenOff();
  });

/** A GET for everybody, without a session. */
export const shopRead = (handle: (billing: Billing, context: APIContext) => Answer): APIRoute =>
  getRoute(async (context) => {
    const billing = billingOf(context);
    return billing ? handle(billing, context) : whenOff();
  });

/** A result as it goes over the wire. */
export function answerOf<T>(result: Billed<T>, body: (value: T) => unknown = (value) => value): Answer {
  if (result.ok) return { status: 200, body: body(result.value) };
  const { status, error } = result;
  return {
    status,
    body: error,
    ...(error.retryAfter !== undefined && { headers: { 'Retry-After': String(error.retryAfter) } }),
  };
}

/** With the cookies of what the reader may read now: a reader who has paid reads on without signing in again. */
export async function withAccess(answer: Answer, accounts: Accounts, session: Session): Promise<Answer> {
  if (answer.status !== 200) return answer;
  return { ...answer, cookies: [...(answer.cookies ?? []), ...(await accounts.accessCookies(session))] };
}

/** Stripe's webhook; it signs the bytes, so nothing is parsed before. */
export const webhookCall: APIRoute = async ({ request, locals }) => {
  const { billing } = locals.services;
  const raw = Buffer.from(await request.arrayBuffer());
  const { status, message } = billing
    ? await billing.webhook(raw, request.headers.get('stripe-signature'))
    : { status: 503, message: messages.off };
  return new Response(JSON.stringify({ message }), {
    status,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
  });
};
