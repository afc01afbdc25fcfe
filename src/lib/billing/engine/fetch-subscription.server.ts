/** Reads a subscription from Stripe with everything that its state is made of. Changes nothing, neither at Stripe nor here. */
import Stripe from 'stripe';
import type { Logger } from '../../logging.ts';
import { type FetchedSubscription, idOf } from '../read-state.ts';
import { mayRenew } from '../status.ts';
import { isMissing } from './errors.ts';

interface Source {
  readonly stripe: Stripe;
  readonly log: Logger;
}

/** Invoices and charges that are read: those of two years of monthly bills. */
const invoiceLimit = 24;
const chargeLimit = 100;
/** A charge hardly ever has a second dispute. */
const disputeLimit = 10;

const { StripeAPIError, StripeConnectionError, StripeError, StripePermissionError, StripeRateLimitError } =
  Stripe.errors;
/** Stripe's errors that go away by themselves. */
const temporary = [StripeAPIError, StripeConnectionError, StripeRateLimitError];

/**
 * @param needsAmount whether it fails where the amount of the next bill can't be read at the moment
 * @throws StripeError
 */
export async function fetchSubscription(source: Source, id: string, needsAmount = false): Promise<FetchedSubscription> {
  const { stripe } = source;
  const subscription = await stripe.subscriptions.retrieve(id, { expand: ['schedule'] });
  const customer = idOf(subscription.customer) ?? '';
  const [invoices, charges, next] = await Promise.all([
    stripe.invoices.list({ subscription: id, limit: invoiceLimit, expand: ['data.payments'] }),
    stripe.charges.list({ customer, limit: chargeLimit }),
    fetchNextInvoice(source, subscription, needsAmount),
  ]);
  const disputes = await fetchDisputes(source, charges.data);
  const isPaid = invoices.data.some(({ amount_paid: paid }) => paid > 0);
  return {
    subscription,
    invoices: invoices.data,
    charges: charges.data,
    disputes,
    card: isPaid || (await hasCard(stripe, subscription, customer)),
    upcoming: next === 'later' ? undefined : next,
    amountPending: next === 'later',
  };
}

/**
 * The next bill as Stripe will make it; `null`: there will be none. `later`: Stripe can't say at the moment; `undefined`: it can't
 * say at all.
 */
async function fetchNextInvoice(
  { stripe, log }: Source,
  subscription: Stripe.Subscription,
  isNeeded: boolean,
): Promise<Stripe.Invoice | null | 'later' | undefined> {
  const {
    id,
    schedule,
    status,
    cancel_at: ends,
    cancel_at_period_end: endsAtPeriod,
    pause_collection: pause,
  } = subscription;
  if (!mayRenew({ status }) || ends !== null || endsAtPeriod || pause !== null) return null;
  const planned = typeof schedule === 'object' && schedule?.status === 'active' ? schedule.id : null;
  try {
    return await stripe.invoices.createPreview(planned === null ? { subscription: id } : { schedule: planned });
  } catch (error) {
    if (!(error instanceof StripeError)) throw error;
    // It isn't billed again.
    if (error.code === 'invoice_upcoming_none') return null;
    const isTemporary = temporary.some((kind) => error instanceof kind);
    if (isNeeded && isTemporary) throw error;
    // Access and receipts don't wait for a preview.
    log.warn({ err: error, subscription: id }, 'The next bill of a subscription could not be previewed');
    return isTemporary ? 'later' : undefined;
  }
}

/** The disputes of these charges; none where the key may not read them. */
async function fetchDisputes(
  { stripe, log }: Source,
  charges: readonly Stripe.Charge[],
): Promise<readonly Stripe.Dispute[]> {
  const disputed = charges.filter(({ disputed: is }) => is);
  try {
    const pages = await Promise.all(
      disputed.map(({ id }) => stripe.disputes.list({ charge: id, limit: disputeLimit })),
    );
    return pages.flatMap(({ data }) => data);
  } catch (error) {
    if (!(error instanceof StripePermissionError)) throw error;
    log.error(
      {},
      'STRIPE_SECRET_KEY may not read disputes: access paid with a disputed payment ends only with a refund by hand',
    );
    return [];
  }
}

/** Whether Stripe keeps a card for the bills to come. What operators sell in the dashboard needs none. */
async function hasCard(stripe: Stripe, subscription: Stripe.Subscription, customer: string): Promise<boolean> {
  const { default_payment_method: own, collection_method: collection, metadata } = subscription;
  if (own !== null || collection !== 'charge_automatically' || metadata.purchase === undefined) return true;
  try {
    return (await stripe.paymentMethods.list({ customer, limit: 1 })).data.length > 0;
  } catch (error) {
    // A customer who was deleted has none.
    if (isMissing(error)) return false;
    throw error;
  }
}
