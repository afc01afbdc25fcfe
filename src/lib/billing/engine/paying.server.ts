/**
 * From a subscription whose bill is open to one that is paid: the card is confirmed on the server, and what it takes of the reader
 * (3-D Secure) goes back to the browser. A payment intent succeeds once at most, whoever confirms it how often.
 */
import Stripe from 'stripe';
import { publication } from '../../../publication.ts';
import { idOf } from '../read-state.ts';
import type { Billed } from '../service.ts';
import { isSettled, type StripeState } from '../state.ts';
import { isOver } from '../status.ts';
import type { IntentStatus, SubscribeAnswer } from '../wire.ts';
import { cardRefusal, no, ok, said } from './errors.ts';
import { underKey } from './idempotency.ts';
import type { Kept } from './mirror.server.ts';
import type { Parts } from './parts.ts';

/** What is left to do about a subscription's bill. */
export interface Till {
  readonly subscription: Stripe.Subscription;
  /** Minor units still due. */
  readonly due: number;
  readonly intent:
    | { readonly kind: 'payment'; readonly value: Stripe.PaymentIntent }
    | { readonly kind: 'setup'; readonly value: Stripe.SetupIntent }
    /** Nothing is left to confirm. */
    | null;
}

export interface Paying {
  /**
   * Sets a card up before anything is bought with it, so that a refused one leaves nothing at Stripe and uses no coupon up.
   *
   * @returns the payment method as the customer has it; `null`: the bank wants to ask the reader first
   * @throws StripeError when the card is refused
   */
  setUp(customer: string, paymentMethod: string): Promise<string | null>;
  till(subscription: string): Promise<Till>;
  /**
   * Confirms what is open with a payment method.
   *
   * @param purchase part of the key under which Stripe is asked
   */
  pay(till: Till, paymentMethod: string, purchase: string): Promise<Billed<SubscribeAnswer>>;
  /** What a till that is paid, or waits for the reader, is answered with. */
  answer(till: Till): Promise<Billed<SubscribeAnswer>>;
}

/** Between a payment and the subscription's knowing of it Stripe takes a moment. */
const settleTries = 6;
const settleMs = 250;

export function createPaying({ stripe, mirror, siteUrl }: Pick<Parts, 'stripe' | 'mirror' | 'siteUrl'>): Paying {
  // Other ways to pay than cards lead away from the site and come back there.
  const confirmation = (paymentMethod: string) => ({
    payment_method: paymentMethod,
    use_stripe_sdk: true,
    return_url: `${siteUrl}/thankyou`,
  });

  async function setUp(customer: string, paymentMethod: string): Promise<string | null> {
    const {
      id,
      status,
      payment_method: kept,
    } = await stripe.setupIntents.create({
      customer,
      usage: 'off_session',
      confirm: true,
      allowed_payment_method_types: [...publication.billing.paymentMethodTypes],
      ...confirmation(paymentMethod),
    });
    if (status === 'succeeded') return idOf(kept);
    // The subscription has a setup of its own, which the reader is shown.
    await stripe.setupIntents.cancel(id).catch(() => {});
    return null;
  }

  async function till(id: string): Promise<Till> {
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

  async function confirmIntent({ intent }: Till, paymentMethod: string, key: string): Promise<Till['intent']> {
    if (!intent) return null;
    const { id } = intent.value;
    const how = confirmation(paymentMethod);
    return intent.kind === 'payment'
      ? { kind: 'payment', value: await underKey(key, (options) => stripe.paymentIntents.confirm(id, how, options)) }
      : { kind: 'setup', value: await underKey(key, (options) => stripe.setupIntents.confirm(id, how, options)) };
  }

  async function pay(before: Till, paymentMethod: string, purchase: string): Promise<Billed<SubscribeAnswer>> {
    const { intent } = before;
    if (!intent || !isOpen(intent.value.status)) return answer(before);
    const same = idOf(intent.value.payment_method) === paymentMethod;
    if (intent.value.status === 'requires_action' && same) return answer(before);
    try {
      // A payment method that failed once may be tried once more, after what failed then.
      const failure = lastError(intent)?.charge ?? lastError(intent)?.code ?? 'first';
      const key = `confirm:${purchase}:${intent.value.id}:${paymentMethod}:${failure}`;
      return await answer({ ...before, intent: await confirmIntent(before, paymentMethod, key) });
    } catch (error) {
      // In another tab it was confirmed meanwhile.
      if (!(error instanceof Stripe.errors.StripeInvalidRequestError) || !/unexpected_state/.test(error.code ?? '')) {
        throw error;
      }
      const now = await till(before.subscription.id);
      return now.intent?.value.status === 'requires_payment_method' ? no(402, said.failed) : answer(now);
    }
  }

  /** Stripe's own state, as soon as it knows of the payment. */
  async function settled({ subscription, intent }: Till): Promise<Kept | null> {
    for (let tries = 1; ; tries++) {
      const kept = await mirror.sync(subscription.id);
      const paid = intent === null || intent.value.status === 'succeeded';
      if (!kept || !paid || isSettled(kept.state) || isClosed(kept.state) || tries === settleTries) return kept;
      await new Promise((resolve) => setTimeout(resolve, settleMs));
    }
  }

  /** From what is charged at the next bill. */
  async function keepCard({ subscription, intent }: Till): Promise<void> {
    if (intent?.kind !== 'setup' || subscription.default_payment_method !== null) return;
    const card = idOf(intent.value.payment_method);
    if (card !== null) await stripe.subscriptions.update(subscription.id, { default_payment_method: card });
  }

  async function answer(at: Till): Promise<Billed<SubscribeAnswer>> {
    const { subscription, intent } = at;
    const status = (intent?.value.status ?? 'succeeded') as IntentStatus;
    if (intent && (status === 'requires_payment_method' || status === 'canceled')) {
      await mirror.sync(subscription.id);
      return cardRefusal(lastError(intent) ?? {});
    }
    if (status === 'succeeded') await keepCard(at);
    const kept = await settled(at);
    const done = status === 'succeeded' && kept !== null && isSettled(kept.state);
    return ok({
      subscriptionId: subscription.id,
      paymentIntentStatus: status,
      clientSecret: status === 'succeeded' ? null : (intent?.value.client_secret ?? null),
      paymentType: 'recurring',
      grant_id: done ? kept.grantId : null,
    });
  }

  return { setUp, till, pay, answer };
}

/** Whether no payment of it will be seen any more. */
const isClosed = (state: StripeState): boolean => isOver(state) || state.invoices.some(({ refunded }) => refunded);

const isOpen = (status: string): boolean =>
  ['requires_payment_method', 'requires_confirmation', 'requires_action'].includes(status);

const lastError = (intent: NonNullable<Till['intent']>) =>
  intent.kind === 'payment' ? intent.value.last_payment_error : intent.value.last_setup_error;

/** The payment of a bill, asked for with `payments` and `confirmation_secret`: its number is the beginning of the secret too. */
export function paymentIntentOf(invoice: Stripe.Invoice | null): string | null {
  const payments = invoice?.payments?.data ?? [];
  const own = payments.find(({ is_default: isDefault }) => isDefault) ?? payments[0];
  const secret = invoice?.confirmation_secret?.client_secret;
  return idOf(own?.payment.payment_intent) ?? secret?.split('_secret_')[0] ?? null;
}
