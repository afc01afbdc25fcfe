/**
 * Takes back at Stripe what is not paid and nobody waits for, so that it can neither be paid later nor kept for nothing; and what a
 * reader thinks better of.
 */
import Stripe from 'stripe';
import type { Logger } from '../../logging.ts';
import type { StripeState } from '../state.ts';
import { isLive } from '../status.ts';
import { isMissing } from './errors.ts';
import { underKey } from './idempotency.ts';

const retrieve = async (stripe: Stripe, id: string) => {
  const subscription = await stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] });
  const { latest_invoice: invoice } = subscription;
  return { subscription, invoice: typeof invoice === 'object' ? invoice : null };
};

/** @returns `false` when it was paid at the last moment */
async function voided(stripe: Stripe, invoice: Stripe.Invoice): Promise<boolean> {
  try {
    await stripe.invoices.voidInvoice(invoice.id ?? '');
    return true;
  } catch (error) {
    // Stripe alone knows which of the two came first.
    if (error instanceof Stripe.errors.StripeInvalidRequestError) return false;
    throw error;
  }
}

/** Cancels at once. One that has ended, also by a first try whose answer was lost, is none to Stripe any more. */
export async function end(stripe: Stripe, id: string, params: Stripe.SubscriptionCancelParams = {}): Promise<void> {
  try {
    await stripe.subscriptions.cancel(id, params);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

/** Takes a cancellation back, however it was made. */
export async function goOn(
  stripe: Stripe,
  { id, cancelAtPeriodEnd, cancelAt }: Pick<StripeState, 'id' | 'cancelAtPeriodEnd' | 'cancelAt'>,
): Promise<void> {
  if (cancelAtPeriodEnd) await stripe.subscriptions.update(id, { cancel_at_period_end: false });
  else if (cancelAt !== null) await stripe.subscriptions.update(id, { cancel_at: '' });
}

/**
 * Refunds what a reader who has left was charged while the account was deleted, or afterwards.
 *
 * @param since epoch milliseconds
 * @returns how many payments were refunded
 */
export async function refundSince(
  { stripe, log }: { readonly stripe: Stripe; readonly log: Logger },
  charges: readonly Stripe.Charge[],
  since: number,
): Promise<number> {
  let count = 0;
  for (const { id, paid, refunded, disputed, created } of charges) {
    if (!paid || refunded || disputed || created * 1000 < since) continue;
    try {
      const reason = 'requested_by_customer';
      await underKey(`left:${id}`, (options) => stripe.refunds.create({ charge: id, reason }, options));
      log.warn({ charge: id }, 'An account was deleted while it paid; the payment is refunded');
      count++;
    } catch (error) {
      if (error instanceof Stripe.errors.StripePermissionError) {
        log.error(
          { charge: id },
          'An account was deleted while it paid; refund it by hand: the key may not write refunds',
        );
        continue;
      }
      // Another process was quicker, or the bank has taken it back.
      if (!(error instanceof Stripe.errors.StripeInvalidRequestError) || !/^charge_/.test(error.code ?? ''))
        throw error;
    }
  }
  return count;
}

/** A new subscription: its bill first, which only Stripe can decide against its payment; what was paid stays. */
export async function dropSubscription(stripe: Stripe, id: string): Promise<void> {
  const { subscription, invoice } = await retrieve(stripe, id);
  if (invoice && invoice.amount_paid > 0) return;
  if (invoice?.status === 'open' && !(await voided(stripe, invoice))) return;
  const { status } = await stripe.subscriptions.retrieve(subscription.id);
  if (status === 'incomplete' || isLive({ status })) await end(stripe, id);
}

/** An upgrade: with its bill its waiting change goes too. */
export async function dropSwitch(stripe: Stripe, id: string): Promise<void> {
  const { subscription, invoice } = await retrieve(stripe, id);
  if (subscription.pending_update === null || invoice?.status !== 'open') return;
  if (invoice.billing_reason === 'subscription_update') await voided(stripe, invoice);
}
