/**
 * Stripe's webhooks. An event only says what to fetch: its signature is checked, its id and a job are stored, and the job fetches from
 * Stripe. So a repeated, late or out-of-order event does no harm, and a lost one only delays the update until the next event or the
 * nightly comparison.
 */
import type Stripe from 'stripe';
import type { AccountsTransaction } from '../../database.ts';
import type { Billing } from '../service.ts';
import { noteRefusedCard, refusedIntent } from './card-attempts.server.ts';
import type { BillingDependencies, BillingJob } from './dependencies.ts';

/** Seconds after which an event is a replay. */
const tolerance = 300;
/** Milliseconds between two log lines about refused events, because anyone can send them. */
const logEveryMs = 60_000;

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

/** The id of a Stripe object, or an id that isn't expanded; `null` unless it has the prefix of its kind. */
const idOfKind = (value: unknown, prefix: string): string | null => {
  const id = typeof value === 'string' ? value : (value as { id?: unknown } | null | undefined)?.id;
  return typeof id === 'string' && id.length < 256 && new RegExp(`^${prefix}_\\w+$`).test(id) ? id : null;
};

/** Fields of a customer that change the next bill. */
const billedFields = ['address', 'balance', 'discount', 'shipping', 'tax', 'tax_exempt'];

/** The job that an event causes; `null`: none. @param before previous values of the changed fields */
export function jobOf(type: string, object: EventObject, before: object = {}): BillingJob | null {
  if (/^(?:product|price)\./.test(type)) return { kind: 'catalogue', subject: 'all' };
  if (type === 'customer.updated') {
    const id = idOfKind(object.id, 'cus');
    return id !== null && billedFields.some((field) => field in before) ? { kind: 'customer', subject: id } : null;
  }
  const subscription =
    object.object === 'subscription'
      ? idOfKind(object.id, 'sub')
      : (idOfKind(object.parent?.subscription_details?.subscription, 'sub') ?? idOfKind(object.subscription, 'sub'));
  if (subscription !== null)
    return { kind: type === 'invoice.upcoming' ? 'announced' : 'subscription', subject: subscription };
  // Payments, refunds and discounts of a customer name no subscription, disputes only the charge.
  const customer = idOfKind(object.customer, 'cus');
  const mattersToAll =
    /^(?:charge|customer\.discount|refund|payment_intent|setup_intent|invoice|subscription_schedule)\b/.test(type);
  if (!mattersToAll) return null;
  const charge = idOfKind(object.charge, '(?:ch|py)');
  if (customer !== null) return { kind: 'customer', subject: customer };
  return charge === null ? null : { kind: 'charge', subject: charge };
}

/** Stores an event's id and its job. @returns whether the event is new */
export async function storeEvent(
  { jobs, now }: Pick<BillingDependencies, 'jobs' | 'now'>,
  tx: AccountsTransaction,
  { id, type }: Pick<Stripe.Event, 'id' | 'type'>,
  job: BillingJob | null,
): Promise<boolean> {
  const row = await tx
    .insertInto('stripe_events')
    .values({ id, type, received: now() })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (row && job) await jobs.add(tx, { ...job, once: true });
  return row !== undefined;
}

/** @param secret `whsec_…` @param nudge called when there is a job */
export function createWebhooks(
  { stripe, database, jobs, log, now }: BillingDependencies,
  secret: string,
  nudge: () => void,
): Billing['webhook'] {
  function check(raw: Buffer, signature: string): Stripe.Event | null {
    try {
      return stripe.webhooks.constructEvent(raw, signature, secret, tolerance, undefined, now());
    } catch {
      // The library throws several kinds of errors for a wrong header.
      return null;
    }
  }

  let refusedSince = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  function noteRefusal(): void {
    refusedSince++;
    if (Math.abs(now() - loggedAt) < logEveryMs) return;
    log.warn({ refused: refusedSince }, 'Stripe webhooks were refused: their signature is wrong or too old');
    loggedAt = now();
    refusedSince = 0;
  }

  return async (raw, signature) => {
    const event = signature === null ? null : check(raw, signature);
    if (!event || typeof event.id !== 'string' || typeof event.type !== 'string') {
      noteRefusal();
      return { status: 400, message: 'The signature is wrong or too old.' };
    }
    const before = event.data?.previous_attributes;
    const job = jobOf(event.type, (event.data?.object ?? {}) as EventObject, before);
    const refused = refusedIntent(event.type, (event.data?.object ?? {}) as EventObject);
    try {
      const fresh = await database.transaction(async (tx) => {
        const isNew = await storeEvent({ jobs, now }, tx, event, job);
        if (isNew && refused !== null) await noteRefusedCard({ jobs, now }, tx, refused);
        return isNew;
      });
      if (fresh && (job || refused !== null)) nudge();
      return { status: 200, message: fresh ? 'Received.' : 'Received before.' };
    } catch (error) {
      log.error({ err: error, type: event.type }, 'A Stripe webhook could not be stored; Stripe sends it again');
      return { status: 503, message: 'Please send it again later.' };
    }
  };
}
