/**
 * Stripe's webhooks. An event says where to look and nothing else: its signature is checked, its number and what it is about are
 * written down, it is answered, and then Stripe is asked. So a doubled, late or shuffled event does no harm, and a lost one only
 * delays what the next, or the nightly comparison, finds.
 */
import type Stripe from 'stripe';
import type { Billing } from '../service.ts';
import type { Parts } from './parts.ts';
import { noteRefusal, refusedIntent } from './refusals.server.ts';

/** Seconds after which an event is a replay. */
const tolerance = 300;

interface EventObject {
  readonly id?: string;
  readonly object?: string;
  readonly customer?: string | { readonly id: string } | null;
  readonly subscription?: string | null;
  readonly charge?: string | { readonly id: string } | null;
  readonly parent?: {
    readonly subscription_details?: { readonly subscription?: string | { readonly id: string } } | null;
  } | null;
}

const named = (value: unknown, prefix: string): string | null => {
  const id = typeof value === 'string' ? value : (value as { id?: unknown } | null | undefined)?.id;
  return typeof id === 'string' && id.length < 256 && new RegExp(`^${prefix}_\\w+$`).test(id) ? id : null;
};

/** What of a customer changes the next bill. */
const billed = ['address', 'balance', 'shipping', 'tax', 'tax_exempt'];

/** What is to be asked because of an event; `null`: nothing. @param before what it has changed, as it was */
export function subjectOf(type: string, object: EventObject, before: object = {}): string | null {
  if (/^(?:product|price)\./.test(type)) return 'catalogue';
  if (type === 'customer.updated') {
    const id = named(object.id, 'cus');
    return id !== null && billed.some((field) => field in before) ? `customer:${id}` : null;
  }
  const subscription =
    object.object === 'subscription'
      ? named(object.id, 'sub')
      : (named(object.parent?.subscription_details?.subscription, 'sub') ?? named(object.subscription, 'sub'));
  if (subscription !== null) return `${type === 'invoice.upcoming' ? 'announced' : 'subscription'}:${subscription}`;
  // Payments and refunds name no subscription, disputes not even the customer.
  const customer = named(object.customer, 'cus');
  const mattersToAll = /^(?:charge|refund|payment_intent|setup_intent|invoice|subscription_schedule)\b/.test(type);
  if (!mattersToAll) return null;
  const charge = named(object.charge, '(?:ch|py)');
  return customer !== null ? `customer:${customer}` : charge !== null ? `charge:${charge}` : null;
}

/** @param secret `whsec_…` @param nudge says that there is something to ask */
export function createWebhooks(
  { stripe, database, questions, log, now }: Parts,
  secret: string,
  nudge: () => void,
): Billing['webhook'] {
  function check(raw: Buffer, signature: string): Stripe.Event | null {
    try {
      return stripe.webhooks.constructEvent(raw, signature, secret, tolerance, undefined, now());
    } catch {
      // Not every wrong header meets an error of the library's own.
      return null;
    }
  }

  return async (raw, signature) => {
    const event = signature === null ? null : check(raw, signature);
    if (!event || typeof event.id !== 'string' || typeof event.type !== 'string') {
      log.warn({}, 'A webhook was refused: its signature is not Stripe’s, or too old');
      return { status: 400, message: 'The signature does not fit.' };
    }
    const before = event.data?.previous_attributes;
    const subject = subjectOf(event.type, (event.data?.object ?? {}) as EventObject, before);
    const refused = refusedIntent(event.type, (event.data?.object ?? {}) as EventObject);
    try {
      const fresh = await database.transaction(async (tx) => {
        const row = await tx
          .insertInto('stripe_events')
          .values({ id: event.id, type: event.type, received: now() })
          .onConflict((conflict) => conflict.column('id').doNothing())
          .returning('id')
          .executeTakeFirst();
        if (row && subject !== null) await questions.ask(tx, subject);
        if (row && refused !== null) await noteRefusal({ questions, now }, tx, refused);
        return row !== undefined;
      });
      if (fresh && subject !== null) nudge();
      return { status: 200, message: fresh ? 'Received.' : 'Received before.' };
    } catch (error) {
      log.error({ err: error, type: event.type }, 'A webhook could not be kept; Stripe sends it again');
      return { status: 503, message: 'Please send it again later.' };
    }
  };
}
