/** Changes of a running subscription by its reader: cancel, resume, another card, metadata. */
import Stripe from 'stripe';
import type { Session } from '../../accounts/service.ts';
import { messages } from '../messages.ts';
import { metadataFields, type SavedCardAnswer, type Subscription } from '../schema.ts';
import type { Billed } from '../service.ts';
import { isInGoodStanding, isLive, isOverdue, isRenewalDue, isRunning, subscriptionOf } from '../subscription-model.ts';
import { cancelNow, keepNewestBill, resume } from './cancel.server.ts';
import type { BillingDependencies } from './dependencies.ts';
import { findEarlier, refuseEarlierCard, replaceEarlier } from './earlier-owner.server.ts';
import { idOf } from './fetch-subscription.server.ts';
import { paymentIntentOf } from './payments.server.ts';
import { abandonOpenSwitch, forgetCancelledBefore, restoreLater, takeBackChoice } from './plan-switches.server.ts';
import {
  notePlannedSwitch,
  releaseSchedule,
  restorePlannedSwitch,
  useCardForPlanned,
} from './planned-switches.server.ts';
import { ok, refusal } from './stripe.server.ts';

const { StripeCardError, StripeInvalidRequestError } = Stripe.errors;

/**
 * Cancels at the end of the paid time. Runs within the lock of the reader.
 *
 * @param details the reason, for Stripe
 * @param id of the subscription; without it, the one that is shown
 */
export async function cancelSubscription(
  dependencies: BillingDependencies,
  { userId }: Session,
  details: Stripe.SubscriptionUpdateParams.CancellationDetails,
  id?: string,
): Promise<Billed<Subscription>> {
  const { stripe, subscriptions } = dependencies;
  // An upgrade that waits for the bank was decided earlier, so it is abandoned.
  await abandonOpenSwitch(dependencies, userId);
  const { state } = await subscriptions.reconcileRunning(userId, id);
  const params = Object.keys(details).length === 0 ? {} : { cancellation_details: details };
  const planned = state.next?.plan ?? state.planned ?? '';
  // Plans it again where this cancellation fails or is cut off.
  if (planned !== '') await restoreLater(dependencies, state.id);
  // Noted first: Stripe can't cancel what has a schedule, and resuming restores what was planned.
  await notePlannedSwitch(stripe, state, planned);
  await releaseSchedule(stripe, state);
  if (isInGoodStanding(state) && !isRenewalDue(state)) {
    await stripe.subscriptions.update(state.id, { cancel_at_period_end: true, ...params });
  } else {
    // An unpaid subscription has no paid time to wait for. A bill that is still a draft would be charged within the hour.
    await cancelNow(stripe, state.id, params);
  }
  return reconcileAndAnswer(dependencies, state.id);
}

/**
 * Reverts a cancellation, and plans the change again that it ended; without a cancellation, cancels a change that the reader has planned.
 * Within the reader's lock.
 *
 * @param id of the subscription; without it, the one that is shown
 */
export async function resumeSubscription(
  dependencies: BillingDependencies,
  { userId }: Session,
  id?: string,
): Promise<Billed<Subscription>> {
  const { stripe, database, subscriptions } = dependencies;
  const { state } = await subscriptions.reconcileRunning(userId, id);
  if (!state.byInvoice) await refuseEarlierCard(database.db, userId);
  await forgetCancelledBefore(dependencies, userId);
  const planned = state.next === null ? state.planned : null;
  if (planned) await restoreLater(dependencies, state.id);
  else await takeBackChoice(dependencies, state);
  await resume(stripe, state);
  if (planned) await restorePlannedSwitch(dependencies, state, planned);
  return reconcileAndAnswer(dependencies, state.id);
}

export async function saveMetadata(
  { stripe, subscriptions }: BillingDependencies,
  session: Session,
  id: string,
  given: Readonly<Record<string, string>>,
): Promise<Billed<null>> {
  if ((await subscriptions.get(id))?.userId !== session.userId) return refusal(404, messages.unknownSubscription);
  const metadata = Object.fromEntries(metadataFields.flatMap((name) => (given[name] ? [[name, given[name]]] : [])));
  // The account's address, not the one that was typed.
  if (metadata.customer_email) metadata.customer_email = session.email;
  if (Object.keys(metadata).length > 0) await stripe.subscriptions.update(id, { metadata });
  return ok(null);
}

/** Makes a card the subscription's payment method, and pays open invoices with it. Runs within the reader's lock. */
export async function changeCard(
  dependencies: BillingDependencies,
  session: Session,
  paymentMethod: string,
): Promise<Billed<SavedCardAnswer>> {
  const { stripe, database, customers, subscriptions, now } = dependencies;
  // Asked first: a call of the earlier owner's that is under way must not make that owner's card this reader's.
  const earlier = await findEarlier(database.db, session.userId);
  const customer = await customers.ensure(session);
  const method = await stripe.paymentMethods.retrieve(paymentMethod);
  const owner = idOf(method.customer);
  if (owner !== null && owner !== customer) return refusal(402, messages.failed, { code: 'payment_method_invalid' });
  const { id: card } = owner === null ? await stripe.paymentMethods.attach(paymentMethod, { customer }) : method;
  await stripe.customers.update(customer, { invoice_settings: { default_payment_method: card } });
  let waiting: Stripe.PaymentIntent | null = null;
  const all = await subscriptions.statesOf(session.userId);
  // Where the card is refused for an unpaid one, the others keep the card that works.
  for (const known of all.toSorted((a, b) => Number(isOverdue(b)) - Number(isOverdue(a)))) {
    // The card of a subscription that has ended can't be changed.
    const state = isLive(known) ? (await subscriptions.reconcile(known.id))?.state : null;
    if (!state || !isRunning(state)) continue;
    try {
      const running = await stripe.subscriptions.update(state.id, { default_payment_method: card });
      await useCardForPlanned(dependencies, state);
      // The reader pays such bills as Stripe's mails say, perhaps by bank transfer.
      if (state.byInvoice) continue;
      if (running.status === 'unpaid') await keepNewestBill(stripe, running.id);
      // The others get the card, too, even if the bank's confirmation never comes.
      waiting ??= await payOpenInvoices(dependencies, running, card);
    } finally {
      await subscriptions.reconcile(state.id);
    }
  }
  if (earlier.card) await replaceEarlier(database.db, session.userId, 'card', now());
  return waiting
    ? ok({ paymentIntentStatus: 'requires_action', clientSecret: waiting.client_secret })
    : ok({ paymentIntentStatus: 'succeeded', clientSecret: null });
}

async function reconcileAndAnswer(
  { subscriptions, rules, now }: BillingDependencies,
  id: string,
): Promise<Billed<Subscription>> {
  const stored = await subscriptions.reconcile(id);
  if (!stored) return refusal(404, messages.unknownSubscription);
  return ok(subscriptionOf(stored.state, now(), rules.graceDays));
}

/**
 * Pays the open invoices of a running subscription: renewals, and changes that the publisher made in the dashboard. The first invoice of a
 * purchase, and the invoice of an upgrade that waits for its payment, are paid at checkout.
 *
 * @returns the payment that the reader has to confirm with the bank; `null`: all are paid
 */
async function payOpenInvoices(
  dependencies: BillingDependencies,
  { id: subscription, pending_update: waiting }: Stripe.Subscription,
  paymentMethod: string,
): Promise<Stripe.PaymentIntent | null> {
  const { stripe } = dependencies;
  const { data } = await stripe.invoices.list({ subscription, status: 'open', limit: 20 });
  for (const { id, billing_reason: reason } of data) {
    const isOwed = reason === 'subscription_cycle' || (reason === 'subscription_update' && waiting === null);
    if (!id || !isOwed) continue;
    try {
      await stripe.invoices.pay(id, { payment_method: paymentMethod });
    } catch (error) {
      const intent = await confirmByReader(dependencies, id, paymentMethod, error);
      if (intent) return intent;
    }
  }
  return null;
}

/**
 * Confirms the payment of an invoice that could not be paid off session, now that the reader is here.
 *
 * @returns the payment that waits for the reader; `null` if it was paid in the meantime
 * @throws `error` if it has another cause
 */
async function confirmByReader(
  { stripe, siteUrl }: BillingDependencies,
  invoiceId: string,
  paymentMethod: string,
  error: unknown,
): Promise<Stripe.PaymentIntent | null> {
  if (!(error instanceof StripeCardError || error instanceof StripeInvalidRequestError)) throw error;
  const invoice = await stripe.invoices.retrieve(invoiceId, { expand: ['confirmation_secret', 'payments'] });
  const id = paymentIntentOf(invoice);
  if (invoice.status === 'paid') return null;
  if (id === null) throw error;
  let intent = await stripe.paymentIntents.retrieve(id);
  if (error.code === 'authentication_required' && intent.status === 'requires_payment_method') {
    const params = { payment_method: paymentMethod, use_stripe_sdk: true, return_url: `${siteUrl}/account/card` };
    intent = await stripe.paymentIntents.confirm(id, params);
  }
  if (intent.status === 'succeeded' || intent.status === 'processing') return null;
  if (intent.status === 'requires_action') return intent;
  throw error;
}
