/**
 * Paying an invoice, and setting up a card. The card is confirmed on the server; what the bank needs from the reader (3-D Secure) goes back
 * to the browser. A payment intent succeeds at most once, even if it is confirmed several times.
 */
import Stripe from 'stripe';
import { publication } from '../../../publication.ts';
import type { LimitSubject } from '../../http/limiter.server.ts';
import { messages } from '../messages.ts';
import type { IntentStatus, SubscribeAnswer } from '../schema.ts';
import type { Billed } from '../service.ts';
import { isOver, isSettled, type StripeState } from '../subscription-model.ts';
import { setupKey } from './customers.server.ts';
import type { BillingDependencies } from './dependencies.ts';
import { idOf } from './fetch-subscription.server.ts';
import { findNote, storeNote } from './notes.server.ts';
import { cardRefusal, ifMissing, ok, overLimit, refusal, withIdempotencyKey } from './stripe.server.ts';
import type { StoredSubscription } from './subscriptions.server.ts';

type Dependencies = Pick<BillingDependencies, 'stripe' | 'subscriptions' | 'siteUrl'>;

/** The newest invoice of a subscription, and the open steps of its payment. */
export interface PaymentAttempt {
  readonly subscription: Stripe.Subscription;
  /** Minor units still due. */
  readonly due: number;
  readonly intent:
    | { readonly kind: 'payment'; readonly value: Stripe.PaymentIntent }
    | { readonly kind: 'setup'; readonly value: Stripe.SetupIntent }
    /** Nothing is left to confirm. */
    | null;
}

const paidCheckTries = 6;
const paidCheckMs = 250;
const waitingStatuses = ['requires_payment_method', 'requires_confirmation', 'requires_action'];

// Payment methods other than cards lead to another site and back.
const confirmation = ({ siteUrl }: Pick<Dependencies, 'siteUrl'>, paymentMethod: string) => ({
  payment_method: paymentMethod,
  use_stripe_sdk: true,
  return_url: `${siteUrl}/thankyou`,
});

/**
 * Sets up a card before anything is bought with it, so that a refused card leaves nothing at Stripe and doesn't use up a
 * coupon.
 *
 * @returns the customer's payment method, which the reader may still have to confirm with the bank; `null`: Stripe names none
 * @throws StripeError when the card is refused
 */
export async function setUpCard(
  dependencies: Dependencies,
  customer: string,
  paymentMethod: string,
): Promise<string | null> {
  const { setupIntents, paymentMethods } = dependencies.stripe;
  const intent = await setupIntents.create({
    customer,
    usage: 'off_session',
    confirm: true,
    allowed_payment_method_types: [...publication.billing.paymentMethodTypes],
    ...confirmation(dependencies, paymentMethod),
  });
  const card = idOf(intent.payment_method);
  if (intent.status === 'succeeded' || card === null) return card;
  // The subscription gets its own setup intent, which is shown to the reader. Only a card that is attached can be its default, without
  // which Stripe would use an older card of the customer and ask for nothing.
  await setupIntents.cancel(intent.id).catch(() => {});
  return (await paymentMethods.attach(card, { customer })).id;
}

export async function fetchAttempt({ stripe }: Pick<Dependencies, 'stripe'>, id: string): Promise<PaymentAttempt> {
  const subscription = await stripe.subscriptions.retrieve(id, {
    expand: ['latest_invoice.confirmation_secret', 'latest_invoice.payments', 'pending_setup_intent'],
  });
  const invoice = typeof subscription.latest_invoice === 'object' ? subscription.latest_invoice : null;
  const due = invoice?.status === 'open' ? invoice.amount_remaining : 0;
  const payment = due > 0 ? paymentIntentOf(invoice) : null;
  if (payment !== null) {
    const value = await stripe.paymentIntents.retrieve(payment);
    return { subscription, due, intent: { kind: 'payment', value } };
  }
  const setup = subscription.pending_setup_intent;
  if (setup === null) return { subscription, due, intent: null };
  const value = typeof setup === 'string' ? await stripe.setupIntents.retrieve(setup) : setup;
  return { subscription, due, intent: { kind: 'setup', value } };
}

/** Confirms what is open with a payment method. @param purchase part of the idempotency key */
export async function pay(
  dependencies: Dependencies,
  attempt: PaymentAttempt,
  paymentMethod: string,
  purchase: string,
): Promise<Billed<SubscribeAnswer>> {
  const { intent } = attempt;
  if (!intent || !waitingStatuses.includes(intent.value.status)) return finish(dependencies, attempt);
  const isSame = idOf(intent.value.payment_method) === paymentMethod;
  if (intent.value.status === 'requires_action' && isSame) return finish(dependencies, attempt);
  try {
    // The last failure is part of the key, so that a payment method that failed can be tried again.
    const failure = lastError(intent)?.charge ?? lastError(intent)?.code ?? 'first';
    const key = `confirm:${purchase}:${intent.value.id}:${paymentMethod}:${failure}`;
    const confirmed = await confirmIntent(dependencies, intent, paymentMethod, key);
    if (confirmed?.value.status === 'requires_action') await chargeLater(dependencies, attempt.subscription, confirmed);
    return await finish(dependencies, { ...attempt, intent: confirmed });
  } catch (error) {
    // It was confirmed in another tab in the meantime.
    if (!(error instanceof Stripe.errors.StripeInvalidRequestError) || !/unexpected_state/.test(error.code ?? '')) {
      throw error;
    }
    const now = await fetchAttempt(dependencies, attempt.subscription.id);
    return now.intent?.value.status === 'requires_payment_method'
      ? refusal(402, messages.failed)
      : finish(dependencies, now);
  }
}

async function confirmIntent(
  dependencies: Dependencies,
  { kind, value: { id } }: NonNullable<PaymentAttempt['intent']>,
  paymentMethod: string,
  key: string,
): Promise<PaymentAttempt['intent']> {
  const { paymentIntents, setupIntents } = dependencies.stripe;
  const params = confirmation(dependencies, paymentMethod);
  return kind === 'payment'
    ? { kind, value: await withIdempotencyKey(key, (options) => paymentIntents.confirm(id, params, options)) }
    : { kind, value: await withIdempotencyKey(key, (options) => setupIntents.confirm(id, params, options)) };
}

/** Stores the result of a payment attempt (paid, refused, or waiting for the reader) and returns it. */
export async function finish(dependencies: Dependencies, attempt: PaymentAttempt): Promise<Billed<SubscribeAnswer>> {
  const { subscription, intent } = attempt;
  const status = (intent?.value.status ?? 'succeeded') as IntentStatus;
  if (intent && (status === 'requires_payment_method' || status === 'canceled')) {
    await dependencies.subscriptions.reconcile(subscription.id);
    return cardRefusal(lastError(intent) ?? {});
  }
  if (intent && status === 'succeeded') await chargeLater(dependencies, subscription, intent);
  const stored = await reconcileUntilSettled(dependencies, attempt);
  const isDone = status === 'succeeded' && stored !== null && isSettled(stored.state);
  return ok({
    subscriptionId: subscription.id,
    paymentIntentStatus: status,
    clientSecret: status === 'succeeded' ? null : (intent?.value.client_secret ?? null),
    paymentType: 'recurring',
    grant_id: isDone ? stored.grantId : null,
  });
}

async function reconcileUntilSettled(
  { subscriptions }: Pick<Dependencies, 'subscriptions'>,
  { subscription, intent }: PaymentAttempt,
): Promise<StoredSubscription | null> {
  const isPaid = intent === null || intent.value.status === 'succeeded';
  return checkUntil(
    () => subscriptions.reconcile(subscription.id),
    (stored) => !stored || !isPaid || isSettled(stored.state) || isClosed(stored.state),
  );
}

/** Repeats a check for a moment, because Stripe takes one until a subscription shows that it was paid. @returns its last answer */
export async function checkUntil<T>(check: () => Promise<T>, isEnd: (answer: T) => boolean): Promise<T> {
  for (let tries = 1; ; tries++) {
    const answer = await check();
    if (isEnd(answer) || tries === paidCheckTries) return answer;
    await new Promise((resolve) => setTimeout(resolve, paidCheckMs));
  }
}

/**
 * Makes a card that is set up the subscription's default, which pays the next bill. One that the bank asks the reader about becomes it
 * before: Stripe doesn't make it the default itself, and the reader may not come back here.
 */
async function chargeLater(
  { stripe }: Dependencies,
  { id, customer, default_payment_method: before }: Stripe.Subscription,
  { kind, value }: NonNullable<PaymentAttempt['intent']>,
): Promise<void> {
  const card = idOf(value.payment_method);
  if (kind !== 'setup' || card === null || card === idOf(before)) return;
  if (value.status !== 'succeeded') await stripe.paymentMethods.attach(card, { customer: idOf(customer) ?? '' });
  await stripe.subscriptions.update(id, { default_payment_method: card });
}

/** Whether no further payment of the subscription is expected. */
const isClosed = (state: StripeState): boolean => isOver(state) || state.invoices.some(({ refunded }) => refunded);

const lastError = (intent: NonNullable<PaymentAttempt['intent']>) =>
  intent.kind === 'payment' ? intent.value.last_payment_error : intent.value.last_setup_error;

/**
 * The payment of an invoice, fetched with `payments` and `confirmation_secret`: the secret starts with the payment intent's id.
 */
export function paymentIntentOf(invoice: Stripe.Invoice | null): string | null {
  const payments = invoice?.payments?.data ?? [];
  const own = payments.find(({ is_default: isDefault }) => isDefault) ?? payments[0];
  const secret = invoice?.confirmation_secret?.client_secret;
  return idOf(own?.payment.payment_intent) ?? secret?.split('_secret_')[0] ?? null;
}

/** The client secret with which a customer sets up a card. Until it is used, the same one is returned. */
export async function offerCardSetup(
  { stripe, database: { db }, limiter, now }: BillingDependencies,
  customer: string,
  subject: LimitSubject,
): Promise<Billed<{ readonly clientSecret: string }>> {
  const key = setupKey(customer);
  const note = await findNote(db, key);
  const before = note && (await stripe.setupIntents.retrieve(note.value).catch(ifMissing(null)));
  if (before?.client_secret && waitingStatuses.includes(before.status)) {
    return ok({ clientSecret: before.client_secret });
  }
  const over = await limiter.count('setup', subject);
  if (over) return overLimit(over);
  const params: Stripe.SetupIntentCreateParams = {
    customer,
    usage: 'off_session',
    allowed_payment_method_types: [...publication.billing.paymentMethodTypes],
  };
  // Two processes that call at once get the same intent.
  const intent = await withIdempotencyKey(`setup:${customer}:${note?.value ?? 'first'}`, (options) =>
    stripe.setupIntents.create(params, options),
  );
  await storeNote(db, key, intent.id, now());
  return intent.client_secret === null ? refusal(503, messages.wrong) : ok({ clientSecret: intent.client_secret });
}
