/**
 * Buying a subscription (spec section 7, "Checkout"). Everything can be cut off after every line: the intent is written down first,
 * Stripe is asked under a key made from it, and whoever comes next, the reader again, a webhook or the worker, looks at Stripe and
 * goes on from there.
 */
import type Stripe from 'stripe';
import { publication } from '../../../publication.ts';
import type { Session } from '../../accounts/service.ts';
import { priceIn } from '../currency.ts';
import type { Billed } from '../service.ts';
import { isLive, isOver } from '../status.ts';
import type { ConfirmationAnswer, Price, SubscribeAnswer, SubscribeBody } from '../wire.ts';
import type { FindCoupon, FoundCoupon } from './coupons.server.ts';
import { dropSubscription, dropSwitch } from './dropping.server.ts';
import { billed, cardRefusal, isUncertain, no, ok, refuse, said } from './errors.ts';
import { askerOf, tryingCard } from './guesses.ts';
import type { Parts } from './parts.ts';
import type { Paying, Till } from './paying.server.ts';
import type { Purchase } from './purchases.server.ts';
import { purchaseParams, quoteNew } from './quotes.server.ts';
import type { InTurn } from './turns.ts';

export const checkoutSaid = {
  gone: 'This plan is not offered any more. Please choose another.',
  address: 'Please tell us first where the paper is to be sent.',
  subscribed: 'You have a subscription already. You can switch to another plan in your account.',
  promotionUsed: 'This offer is for once only, and you have had it. Please choose another plan.',
  busy: 'A payment is under way. Please wait a moment, then try again.',
  changed: 'The amount has changed. Please look at it again.',
  unknown: 'We do not know this subscription.',
  unconfirmed:
    'Confirm your email address first: open the link that we mailed you, or sign in with your email once more to get another.',
  waiting: 'Your bank has not confirmed the payment yet. Please wait a moment, then try again.',
} as const;

export interface Subscribing {
  subscribe(session: Session, body: SubscribeBody, address: string | null): Promise<Billed<SubscribeAnswer>>;
  confirm(session: Session, subscriptionId: string): Promise<Billed<ConfirmationAnswer>>;
  /** @throws Refused when it is a promotion that the reader has had */
  mayHave(session: Session, price: Price): Promise<void>;
  /** Ends a purchase that nobody goes on with: nothing is charged for it any more. What turns out to be paid is `done`. */
  abandon(purchase: Purchase): Promise<'done' | 'given up'>;
  /** Finds the subscription that was made for a purchase before a crash. */
  adopt(purchase: Purchase): Promise<Purchase>;
}

/** A second click without a number of its own is the same decision for so long, in milliseconds. */
const sameDecisionMs = 10 * 60_000;
/** Another process may be at work on a purchase for so long, in milliseconds. */
const atWorkMs = 60_000;

export function createSubscribing(parts: Parts, paying: Paying, findCoupon: FindCoupon, inTurn: InTurn): Subscribing {
  const { stripe, limiter, catalogue, customers, purchases, promotions, mirror, database, tax, log, now } = parts;

  const subscriptionsOf = async (customer: string): Promise<readonly Stripe.Subscription[]> =>
    (await stripe.subscriptions.list({ customer, status: 'all', limit: 100 })).data;

  /** The plan, as it is sold now. @throws Refused */
  function sold(body: SubscribeBody): Price {
    const price = catalogue.plan(body.plan_id);
    if (!price || price.product.metadata.zephr_product_id !== body.product_id) return refuse(400, checkoutSaid.gone);
    return priceIn(price, body.currency);
  }

  async function adopt(purchase: Purchase): Promise<Purchase> {
    if (purchase.subscription !== null || purchase.user_id === null) return purchase;
    const customer = await customers.find(purchase.user_id);
    if (customer === null) return purchase;
    const found = (await subscriptionsOf(customer)).find(({ metadata }) => metadata.purchase === purchase.id);
    if (!found) return purchase;
    await purchases.change(purchase.id, { subscription: found.id });
    return { ...purchase, subscription: found.id };
  }

  async function abandon(purchase: Purchase): Promise<'done' | 'given up'> {
    const { id, kind, subscription } = await adopt(purchase);
    const isDone = async (): Promise<boolean> => {
      if (subscription !== null) await mirror.sync(subscription);
      return (await purchases.get(id))?.state === 'done';
    };
    if (subscription !== null) {
      if (await isDone()) return 'done';
      await (kind === 'subscribe' ? dropSubscription : dropSwitch)(stripe, subscription);
      // What was paid at the last moment is found here.
      if (await isDone()) return 'done';
    }
    if (await purchases.end(database.db, id, 'given up')) log.info({ purchase: id }, 'A purchase was given up');
    return 'given up';
  }

  /** What was already bought by the same decision. */
  async function boughtBefore(userId: string, body: SubscribeBody): Promise<Purchase | null> {
    if (body.attempt !== undefined) {
      const same = await purchases.ofAttempt(userId, body.attempt);
      return same?.state === 'done' && same.plan === body.plan_id ? same : null;
    }
    const newest = await purchases.newest(userId);
    const same = newest?.state === 'done' && newest.plan === body.plan_id && newest.kind === 'subscribe';
    return same && newest.updated > now() - sameDecisionMs ? newest : null;
  }

  /** @throws Refused when the reader is to be sold nothing new */
  async function mayBuy(email: string, customer: string, price: Price, open: Purchase | null): Promise<void> {
    const all = await subscriptionsOf(customer);
    const running = all.find(
      (one) => isLive(one) && (open === null || one.metadata.purchase !== open.id) && isOurs(one),
    );
    if (running) {
      await mirror.sync(running.id);
      refuse(409, checkoutSaid.subscribed, { code: 'subscribed' });
    }
    await notHad(email, price, all, open);
  }

  async function notHad(email: string, price: Price, all: readonly Stripe.Subscription[], open: Purchase | null) {
    if (!(await promotions.had(email, price, all, open?.id ?? null))) return;
    refuse(409, checkoutSaid.promotionUsed, { code: 'promotion_used' });
  }

  const isOurs = (one: Stripe.Subscription): boolean =>
    one.metadata.purchase !== undefined || one.items.data.some(({ price }) => catalogue.known(price.id) !== null);

  /** The open purchase if it is of the same offer; one of another offer, or at a price that is not asked any more, is ended. */
  async function resumable(open: Purchase | null, body: SubscribeBody, price: Price): Promise<Purchase | null> {
    if (!open) return null;
    const same = open.kind === 'subscribe' && open.price === price.id && open.coupon === (body.discount_code ?? null);
    if (same) return open;
    if (open.subscription === null && open.updated > now() - atWorkMs && !(await adopt(open)).subscription) {
      return refuse(409, checkoutSaid.busy, { retryAfter: 5 });
    }
    if ((await abandon(open)) === 'done' && open.kind === 'subscribe') {
      refuse(409, checkoutSaid.subscribed, { code: 'subscribed' });
    }
    return null;
  }

  async function create(purchase: Purchase, offer: Offer, customer: string, userId: string, method: string) {
    const { price, found, free } = offer;
    const key = `subscribe:${purchase.id}:${purchase.round}`;
    const metadata: Stripe.MetadataParam = { purchase: purchase.id, user: userId };
    if (price.promotion) metadata.promotion = price.zephrPlanId;
    const params: Stripe.SubscriptionCreateParams = {
      ...purchaseParams(price, found, tax),
      customer,
      payment_behavior: 'default_incomplete',
      payment_settings: {
        save_default_payment_method: 'on_subscription',
        payment_method_types: [...publication.billing.paymentMethodTypes],
      },
      billing_mode: { type: 'flexible' },
      metadata,
      expand: ['latest_invoice.confirmation_secret', 'pending_setup_intent'],
    };
    try {
      // Where nothing is due, the card's setup is all that says that a bill will ever be paid.
      const card = free ? await paying.setUp(customer, method) : null;
      if (card !== null) params.default_payment_method = card;
      const made = await stripe.subscriptions.create(params, { idempotencyKey: key });
      return made.id;
    } catch (error) {
      if (!isUncertain(error)) {
        // Stripe says no: there is nothing to go on with.
        await purchases.end(database.db, purchase.id, 'given up');
        throw error;
      }
      const found = (await adopt(purchase)).subscription;
      if (found !== null) return found;
      // Stripe repeats a failure of its own under the same key; another key is safe, for there is no such subscription.
      if (((error as { statusCode?: number }).statusCode ?? 0) >= 500) {
        await purchases.change(purchase.id, { round: purchase.round + 1 });
      }
      throw error;
    }
  }

  /** @throws Refused when Stripe would charge another sum than the reader was told */
  async function asTold(purchase: Purchase, till: Till, expected: number | undefined): Promise<void> {
    if (expected === undefined || till.due === expected || till.intent?.value.status === 'succeeded') return;
    const paid = till.due === 0 && till.subscription.status !== 'incomplete' && expected > 0;
    // Paid in another tab meanwhile: that was what the reader wanted.
    if (paid && (await mirror.sync(till.subscription.id))?.state.invoices.some((one) => one.paid > 0)) return;
    await abandon(purchase);
    refuse(409, checkoutSaid.changed, { due: till.due, code: 'amount_changed' });
  }

  async function buy(session: Session, body: SubscribeBody, address: string | null): Promise<Billed<SubscribeAnswer>> {
    const { userId } = session;
    const known = await purchases.count(userId);
    const before = await boughtBefore(userId, body);
    if (before?.subscription) return paying.answer(await paying.till(before.subscription));
    const price = sold(body);
    if (price.print && !(await customers.shipping(userId))) refuse(400, checkoutSaid.address, { code: 'shipping' });
    const customer = await customers.ensure(session);
    await customers.sendShipping(userId);
    if (tax && body.address) await customers.sendTaxAddress(customer, body.address);
    const left = await purchases.open(userId);
    const open = left && (await adopt(left));
    await mayBuy(session.email, customer, price, open);
    let purchase = await resumable(open, body, price);
    const code = body.discount_code ?? null;
    if (!purchase?.subscription) {
      const found = code === null ? null : await findCoupon(code, price, { session, address, customer });
      const { dueToday: due } = await quoteNew(stripe, price, found, { customer, address: null, tax }, now());
      if (body.expected !== undefined && due !== body.expected) {
        refuse(409, checkoutSaid.changed, { due, code: 'amount_changed' });
      }
      purchase ??= await purchases.begin({
        userId,
        kind: 'subscribe',
        plan: price.zephrPlanId,
        price: price.id,
        coupon: code,
        attempt: body.attempt ?? null,
        payment_method: body.payment_method,
        known,
      });
      if (!purchase) return no(409, checkoutSaid.busy, { retryAfter: 5 });
      const offer = { price, found, free: due === 0 };
      const subscription = await create(purchase, offer, customer, userId, body.payment_method);
      purchase = { ...purchase, subscription };
    }
    const { id, subscription } = purchase;
    await purchases.change(id, {
      subscription,
      payment_method: body.payment_method,
      ...(body.attempt !== undefined && { attempt: body.attempt }),
    });
    const till = await paying.till(subscription ?? '');
    if (isOver(till.subscription)) {
      await abandon(purchase);
      return no(409, said.wrong, { code: 'expired' });
    }
    // One price has the same number in several currencies: what was begun in another one is not what is shown now.
    if (till.subscription.currency !== price.currency) {
      await abandon(purchase);
      return no(409, checkoutSaid.changed, { code: 'amount_changed' });
    }
    await asTold(purchase, till, body.expected);
    return endRefused(purchase, till, () => paying.pay(till, body.payment_method, id));
  }

  /** A card that is refused where nothing is due ends the subscription at once: no bill is open that would end it. */
  async function endRefused<T>(purchase: Purchase | null, till: Till, work: () => Promise<Billed<T>>) {
    const answer = await billed(work);
    const refused = !answer.ok && answer.status === 402 && till.intent?.kind === 'setup';
    if (refused && purchase?.subscription === till.subscription.id) await abandon(purchase);
    return answer;
  }

  async function confirmed(session: Session, id: string): Promise<Billed<ConfirmationAnswer>> {
    const open = await purchases.open(session.userId);
    const mine = (await mirror.get(id))?.userId === session.userId || open?.subscription === id;
    if (!mine) return no(404, checkoutSaid.unknown);
    const till = await paying.till(id);
    const answer = await endRefused(open, till, () => paying.answer(till));
    if (!answer.ok) return answer;
    const { grant_id: grant, paymentIntentStatus: status } = answer.value;
    if (grant !== null) return ok({ grant_id: grant });
    if (status === 'requires_action' || status === 'requires_confirmation') {
      return cardRefusal({ message: said.failed, code: 'authentication_required' });
    }
    // It was waited for too long, or taken back.
    if (isOver(till.subscription)) return no(409, said.wrong, { code: 'expired' });
    return no(409, checkoutSaid.waiting, { retryAfter: 3 });
  }

  return {
    abandon,
    adopt,
    async mayHave({ userId, email }, price) {
      const customer = await customers.find(userId);
      const all = customer === null ? [] : await subscriptionsOf(customer);
      await notHad(email, price, all, await purchases.open(userId));
    },
    subscribe: (session, body, address) =>
      inTurn(session.userId, () =>
        billed(() => tryingCard(limiter, askerOf(session, address), () => billed(() => buy(session, body, address)))),
      ),
    confirm: (session, id) => inTurn(session.userId, () => billed(() => confirmed(session, id))),
  };
}

interface Offer {
  readonly price: Price;
  readonly found: FoundCoupon | null;
  readonly free: boolean;
}
