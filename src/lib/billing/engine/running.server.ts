/** What a reader does with a subscription that runs: cancel, resume, another card, notes about where it came from. */
import Stripe from 'stripe';
import type { Session } from '../../accounts/service.ts';
import type { detailsOf } from '../leaving.ts';
import { idOf } from '../read-state.ts';
import type { Billed, Billing } from '../service.ts';
import { isEnding, isRunning, subscriptionOf } from '../state.ts';
import { isInGoodStanding } from '../status.ts';
import type { KeptCardAnswer, Subscription } from '../wire.ts';
import { end, goOn } from './dropping.server.ts';
import { billed, no, ok, refuse, said } from './errors.ts';
import { askerOf, tryingCard } from './guesses.ts';
import type { Kept } from './mirror.server.ts';
import type { Parts } from './parts.ts';
import { paymentIntentOf } from './paying.server.ts';
import { offerSetup } from './setups.server.ts';
import { checkoutSaid } from './subscribing.server.ts';
import { type Switching, switchSaid } from './switching.server.ts';
import type { InTurn } from './turns.ts';

export interface Running extends Pick<Billing, 'resume' | 'saveMetadata' | 'setupIntent' | 'usePaymentMethod'> {
  /** @param details what Stripe is to know of why */
  cancel(session: Session, details: CancellationDetails): Promise<Billed<Subscription>>;
}
const { StripeCardError, StripeInvalidRequestError } = Stripe.errors;
type CancellationDetails = ReturnType<typeof detailsOf>;

/** Notes of the screens (spec section 3, "Subscription metadata"); ours stay as they are. */
const noted = [
  'created_with',
  'query_url',
  'query_utm_campaign',
  'query_utm_content',
  'query_utm_medium',
  'query_utm_source',
  'device_type',
  'geo_city',
  'geo_country',
];

export function createRunning(
  parts: Parts,
  { unplan, replan, leaveOff }: Pick<Switching, 'unplan' | 'replan' | 'leaveOff'>,
  inTurn: InTurn,
): Running {
  const { stripe, limiter, customers, mirror, rules, siteUrl, now } = parts;

  async function mine(userId: string): Promise<Kept> {
    const one = (await mirror.ofUser(userId)).find(({ state }) => isRunning(state));
    const fresh = one && (await mirror.sync(one.state.id));
    return fresh && isRunning(fresh.state) ? fresh : refuse(404, switchSaid.none, { code: 'no_subscription' });
  }

  async function told(id: string): Promise<Billed<Subscription>> {
    const kept = await mirror.sync(id);
    return kept ? ok(subscriptionOf(kept.state, now(), rules.graceDays)) : no(404, checkoutSaid.unknown);
  }

  const turn = <T>({ userId }: Session, work: () => Promise<Billed<T>>): Promise<Billed<T>> =>
    inTurn(userId, () => billed(work));

  /**
   * Pays what is open of a running subscription with the card that is now the reader's.
   *
   * @returns the payment that waits for the reader's answer to the bank; the rest is asked for after it. `null`: nothing is left
   */
  async function payOpen(subscription: string, paymentMethod: string): Promise<Stripe.PaymentIntent | null> {
    const { data } = await stripe.invoices.list({ subscription, status: 'open', limit: 20 });
    for (const { id, billing_reason: reason } of data) {
      // The first bill of a purchase, or of a switch, is paid at the till.
      if (!id || reason !== 'subscription_cycle') continue;
      try {
        await stripe.invoices.pay(id, { payment_method: paymentMethod });
      } catch (error) {
        const waits = await asked(id, paymentMethod, error);
        if (waits) return waits;
      }
    }
    return null;
  }

  /**
   * What is left of a bill that could not be paid without asking: the bank wants to see its customer, who is there.
   *
   * @returns `null` when it was paid meanwhile
   * @throws what was given, where it is something else
   */
  async function asked(invoice: string, paymentMethod: string, error: unknown): Promise<Stripe.PaymentIntent | null> {
    if (!(error instanceof StripeCardError || error instanceof StripeInvalidRequestError)) throw error;
    const bill = await stripe.invoices.retrieve(invoice, { expand: ['confirmation_secret', 'payments'] });
    const id = paymentIntentOf(bill);
    if (bill.status === 'paid') return null;
    if (id === null) throw error;
    let intent = await stripe.paymentIntents.retrieve(id);
    if (error.code === 'authentication_required' && intent.status === 'requires_payment_method') {
      // It was refused because nobody was there to be asked: now somebody is.
      const how = { payment_method: paymentMethod, use_stripe_sdk: true, return_url: `${siteUrl}/account/card` };
      intent = await stripe.paymentIntents.confirm(id, how);
    }
    if (intent.status === 'succeeded' || intent.status === 'processing') return null;
    if (intent.status === 'requires_action') return intent;
    throw error;
  }

  async function takeCard(session: Session, paymentMethod: string): Promise<Billed<KeptCardAnswer>> {
    const customer = await customers.ensure(session);
    const given = await stripe.paymentMethods.retrieve(paymentMethod);
    const owner = idOf(given.customer);
    if (owner !== null && owner !== customer) return no(402, said.failed, { code: 'payment_method_invalid' });
    const { id: card } = owner === null ? await stripe.paymentMethods.attach(paymentMethod, { customer }) : given;
    await stripe.customers.update(customer, { invoice_settings: { default_payment_method: card } });
    for (const { state: known } of await mirror.ofUser(session.userId)) {
      // It may have ended since: then it takes no card, and nobody is to pay for it any more.
      const state = isRunning(known) ? (await mirror.sync(known.id))?.state : null;
      if (!state || !isRunning(state)) continue;
      try {
        await stripe.subscriptions.update(state.id, { default_payment_method: card });
        const waits = await payOpen(state.id, card);
        if (waits) return ok({ paymentIntentStatus: 'requires_action', clientSecret: waits.client_secret });
      } finally {
        await mirror.sync(state.id);
      }
    }
    return ok({ paymentIntentStatus: 'succeeded', clientSecret: null });
  }

  return {
    cancel: (session, details) =>
      turn(session, async () => {
        // What the bank is still asked about was decided before.
        await leaveOff(session.userId);
        const { state } = await mine(session.userId);
        const comment = Object.keys(details).length === 0 ? {} : { cancellation_details: details };
        // What is not paid has no end to wait for.
        if (isInGoodStanding(state)) {
          // Noted first: a schedule and a cancellation don't go together at Stripe, and resuming restores what was planned.
          const planned = state.next?.plan ?? (isEnding(state) ? state.planned : null) ?? '';
          if (planned !== (state.planned ?? '')) await stripe.subscriptions.update(state.id, { metadata: { planned } });
          await unplan(state);
          await stripe.subscriptions.update(state.id, { cancel_at_period_end: true, ...comment });
        } else {
          await unplan(state);
          await end(stripe, state.id, comment);
        }
        return told(state.id);
      }),
    resume: (session) =>
      turn(session, async () => {
        const { state } = await mine(session.userId);
        // A cancellation is taken back with all that it ended; else it is the planned switch that is taken back.
        const planned = state.next === null ? state.planned : null;
        if (!planned) await unplan(state);
        await goOn(stripe, state);
        if (planned) await replan(state, planned);
        return told(state.id);
      }),
    saveMetadata: (session, id, given) =>
      billed(async () => {
        if ((await mirror.get(id))?.userId !== session.userId) return no(404, checkoutSaid.unknown);
        const metadata = Object.fromEntries(noted.flatMap((name) => (given[name] ? [[name, given[name]]] : [])));
        // Not whatever address was typed: the reader's own.
        if (given.customer_email) metadata.customer_email = session.email;
        if (Object.keys(metadata).length > 0) await stripe.subscriptions.update(id, { metadata });
        return ok(null);
      }),
    setupIntent: (session, address = null) => {
      const who = askerOf(session, address);
      return turn(session, () =>
        // A secret lets its holder try cards: none for an account that has had too many refused.
        tryingCard(limiter, who, () => billed(async () => offerSetup(parts, await customers.ensure(session), who))),
      );
    },
    usePaymentMethod: (session, paymentMethod, address = null) =>
      turn(session, () =>
        tryingCard(limiter, askerOf(session, address), () => billed(() => takeCard(session, paymentMethod))),
      ),
  };
}
