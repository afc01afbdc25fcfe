/** Cancels, voids, resumes and refunds at Stripe, so that an abandoned purchase can't be paid later and gives no free access. */
import Stripe from 'stripe';
import type { Logger } from '../../logging.ts';
import { isEnding, isLive, isOver, type StripeState } from '../subscription-model.ts';
import { ifInvalid, ifMissing, withIdempotencyKey } from './stripe.server.ts';

async function retrieve(stripe: Stripe, id: string) {
  const subscription = await stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] });
  const { latest_invoice: invoice } = subscription;
  return { subscription, invoice: typeof invoice === 'object' ? invoice : null };
}

/** @returns `false` when it was paid at the last moment, or is being paid */
async function voidInvoice(stripe: Stripe, { id = '' }: Pick<Stripe.Invoice, 'id'>): Promise<boolean> {
  const voided = await stripe.invoices.voidInvoice(id).catch(ifInvalid(null));
  // Only Stripe knows whether it was paid first, or voided by another process.
  return voided !== null || (await stripe.invoices.retrieve(id)).status === 'void';
}

/** Cancels at once. For a subscription that has ended, Stripe reports that it doesn't exist. */
export async function cancelNow(
  stripe: Stripe,
  id: string,
  params: Stripe.SubscriptionCancelParams = {},
): Promise<void> {
  await stripe.subscriptions.cancel(id, params).catch(ifMissing(null));
}

/**
 * Reverts a cancellation. A later date on which the publisher ends the subscription stays. An end that its schedule has set is removed with
 * the schedule; Stripe refuses to remove it here.
 */
export async function resume(stripe: Stripe, state: StripeState): Promise<void> {
  const { id, cancelAtPeriodEnd, schedule } = state;
  if (schedule !== null) return;
  if (cancelAtPeriodEnd) await stripe.subscriptions.update(id, { cancel_at_period_end: false });
  else if (isEnding(state)) await stripe.subscriptions.update(id, { cancel_at: '' });
}

/**
 * Cancels an unpaid new subscription. Its invoice is voided first, because only Stripe can tell whether it was paid in the
 * meantime.
 *
 * @returns whether it has ended; `false` when it was paid or is being paid, even if the subscription doesn't show that yet
 */
export async function cancelUnpaid(stripe: Stripe, id: string): Promise<boolean> {
  const { subscription, invoice } = await retrieve(stripe, id);
  if (invoice && invoice.amount_paid > 0) return isOver(subscription);
  if (invoice?.status === 'open' && !(await voidInvoice(stripe, invoice))) return false;
  const { status } = await stripe.subscriptions.retrieve(subscription.id);
  if (status === 'incomplete' || isLive({ status })) await cancelNow(stripe, id);
  return true;
}

/**
 * Voids the invoice of an unpaid upgrade, which also ends the pending change.
 *
 * @returns whether no payment of it can follow; `false` when it was paid or is being paid, even if the plan doesn't show that yet
 */
export async function voidSwitch(stripe: Stripe, id: string): Promise<boolean> {
  const { subscription, invoice } = await retrieve(stripe, id);
  if (subscription.pending_update === null || invoice?.billing_reason !== 'subscription_update') return true;
  return invoice.status === 'open' ? voidInvoice(stripe, invoice) : invoice.status !== 'paid';
}

/**
 * Keeps only the newest bill of an unpaid subscription payable. Bills of earlier periods, which gave no access, are voided: Stripe keeps
 * creating bills, as drafts that it never charges.
 */
export async function keepNewestBill(stripe: Stripe, subscription: string): Promise<void> {
  const { data } = await stripe.invoices.list({ subscription, limit: 100 });
  const renewals = data.filter(({ billing_reason: reason }) => reason === 'subscription_cycle');
  // The newest is made payable first: without any open bill Stripe would call the subscription active.
  for (const [at, invoice] of renewals.entries()) {
    const { id, status } = invoice;
    if (status === 'draft')
      // Without charging it. By now it may no longer be a draft.
      await stripe.invoices.finalizeInvoice(id ?? '', { auto_advance: false }).catch(ifInvalid(null));
    if (at > 0 && (status === 'draft' || status === 'open')) await voidInvoice(stripe, invoice);
  }
}

/**
 * Refunds what a deleted reader was charged while the account was being deleted, or later.
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
      await withIdempotencyKey(`left:${id}`, (options) => stripe.refunds.create({ charge: id, reason }, options));
      log.warn({ charge: id }, 'An account was deleted while it paid; the payment is refunded');
      count++;
    } catch (error) {
      if (error instanceof Stripe.errors.StripePermissionError) {
        log.error(
          { charge: id },
          'An account was deleted while it paid; refund it by hand: STRIPE_SECRET_KEY may not write refunds',
        );
        continue;
      }
      // Another process has already refunded it, or the bank has charged it back.
      if (!(error instanceof Stripe.errors.StripeInvalidRequestError) || !/^charge_/.test(error.code ?? ''))
        throw error;
    }
  }
  return count;
}
