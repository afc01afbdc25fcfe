/**
 * Buying a subscription (spec section 7, "Checkout"). The process may stop after every line: the purchase is stored first, its id is part
 * of the idempotency keys, and the next call, webhook or background task continues from Stripe's state.
 */
import type Stripe from 'stripe';
import { publication } from '../../../publication.ts';
import type { Session } from '../../accounts/service.ts';
import { priceIn } from '../currency.ts';
import { messages } from '../messages.ts';
import type { ConfirmationAnswer, Price, SubscribeAnswer, SubscribeBody } from '../schema.ts';
import type { Billed } from '../service.ts';
import { isLive, isOver } from '../subscription-model.ts';
import { cancelUnpaid, voidSwitch } from './cancel.server.ts';
import { type FoundCoupon, isSameCode, tryCoupon } from './coupons.server.ts';
import type { BillingDependencies } from './dependencies.ts';
import { checkUntil, fetchAttempt, finish, type PaymentAttempt, pay, setUpCard } from './payments.server.ts';
import type { Purchase } from './purchases.server.ts';
import { purchaseParams, quoteNew } from './quotes.server.ts';
import { asResult, cardRefusal, isUncertain, ok, refusal, throwRefused } from './stripe.server.ts';

/** Within this time a second click without an id is the same purchase, in milliseconds. */
const sameDecisionMs = 10 * 60_000;
/** For this long another process may be working on a purchase, in milliseconds. */
const atWorkMs = 60_000;

interface Order {
  readonly price: Price;
  readonly coupon: FoundCoupon | null;
  /** Whether nothing is due now. */
  readonly isFree: boolean;
  readonly customer: string;
  readonly paymentMethod: string;
}

/** Buys a subscription. Runs within the reader's lock. @param clientAddress network address; `null` if unknown */
export async function subscribe(
  dependencies: BillingDependencies,
  session: Session,
  body: SubscribeBody,
  clientAddress: string | null,
): Promise<Billed<SubscribeAnswer>> {
  const { stripe, customers, purchases, tax, now } = dependencies;
  const { userId } = session;
  const known = await purchases.count(userId);
  const before = await boughtBefore(dependencies, userId, body);
  if (before?.subscription) return finish(dependencies, await fetchAttempt(dependencies, before.subscription));
  const price = priceOf(dependencies, body);
  // An equal number in another currency is not the amount that the reader saw: the plan is no longer sold in that currency.
  if (body.expected !== undefined && body.currency !== undefined && body.currency !== price.currency) {
    throwRefused(409, messages.amountChanged, { code: 'amount_changed' });
  }
  if (price.print && !(await customers.shipping(userId))) throwRefused(400, messages.address, { code: 'shipping' });
  const customer = await customers.ensure(session);
  await customers.sendShipping(userId);
  if (tax && body.address) await customers.sendTaxAddress(customer, body.address);
  const unfinished = await purchases.open(userId);
  const open = unfinished && (await adopt(dependencies, unfinished));
  await refuseSecond(dependencies, session.email, customer, price, open);
  await customers.startAnew(userId, customer);
  let purchase = await resumable(dependencies, open, body, price);
  if (!purchase?.subscription) {
    const code = body.discount_code ?? null;
    const coupon =
      code === null ? null : await tryCoupon(dependencies, code, price, { session, clientAddress, customer });
    const { dueToday: due } = await quoteNew(stripe, price, coupon, { customer, address: null, tax }, now());
    if (body.expected !== undefined && due !== body.expected) {
      throwRefused(409, messages.amountChanged, { due, code: 'amount_changed' });
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
    if (!purchase) return refusal(409, messages.busy, { retryAfter: 5 });
    const order = { price, coupon, isFree: due === 0, customer, paymentMethod: body.payment_method };
    purchase = { ...purchase, subscription: await create(dependencies, purchase, order, userId) };
  }
  return payPurchase(dependencies, purchase, price, body);
}

/** Pays the first invoice of a purchase whose subscription exists. */
async function payPurchase(
  dependencies: BillingDependencies,
  purchase: Purchase,
  price: Price,
  { payment_method: paymentMethod, attempt: decision, expected }: SubscribeBody,
): Promise<Billed<SubscribeAnswer>> {
  const { purchases } = dependencies;
  const { id, subscription } = purchase;
  await purchases.change(id, {
    subscription,
    payment_method: paymentMethod,
    ...(decision !== undefined && { attempt: decision }),
  });
  const attempt = await fetchAttempt(dependencies, subscription ?? '');
  if (isOver(attempt.subscription)) {
    await abandonPurchase(dependencies, purchase);
    return refusal(409, messages.wrong, { code: 'expired' });
  }
  // An equal number in another currency is not the amount that the reader saw.
  if (attempt.subscription.currency !== price.currency) {
    await abandonForAnother(dependencies, purchase);
    return refusal(409, messages.amountChanged, { code: 'amount_changed' });
  }
  await refuseOtherAmount(dependencies, purchase, attempt, expected);
  return abandonRefused(dependencies, purchase, attempt, () => pay(dependencies, attempt, paymentMethod, id));
}

/** After the browser has confirmed the card. Runs within the lock of the reader. */
export async function confirm(
  dependencies: BillingDependencies,
  session: Session,
  id: string,
): Promise<Billed<ConfirmationAnswer>> {
  const open = await dependencies.purchases.open(session.userId);
  const isOwn = (await dependencies.subscriptions.get(id))?.userId === session.userId || open?.subscription === id;
  if (!isOwn) return refusal(404, messages.unknownSubscription);
  const attempt = await fetchAttempt(dependencies, id);
  const answer = await abandonRefused(dependencies, open, attempt, () => finish(dependencies, attempt));
  if (!answer.ok) return answer;
  const { grant_id: grant, paymentIntentStatus: status } = answer.value;
  if (grant !== null) return ok({ grant_id: grant });
  if (status === 'requires_action' || status === 'requires_confirmation') {
    return cardRefusal({ message: messages.failed, code: 'authentication_required' });
  }
  // The subscription expired, or was refunded.
  if (isOver(attempt.subscription)) return refusal(409, messages.wrong, { code: 'expired' });
  return refusal(409, messages.waiting, { retryAfter: 3 });
}

/** Finds the subscription that was created for a purchase before a crash. */
export async function adopt(
  { stripe, customers, purchases }: BillingDependencies,
  purchase: Purchase,
): Promise<Purchase> {
  if (purchase.subscription !== null || purchase.user_id === null) return purchase;
  const customer = await customers.find(purchase.user_id);
  if (customer === null) return purchase;
  const found = (await subscriptionsOf(stripe, customer)).find(({ metadata }) => metadata.purchase === purchase.id);
  if (!found) return purchase;
  await purchases.change(purchase.id, { subscription: found.id });
  return { ...purchase, subscription: found.id };
}

/**
 * Ends an open purchase: nothing will be charged for it.
 *
 * @returns `done` if it turns out to be paid; `open` if it is paid or being paid, but doesn't show that yet: it must not be replaced
 */
export async function abandonPurchase(
  dependencies: BillingDependencies,
  purchase: Purchase,
): Promise<'done' | 'given up' | 'open'> {
  const { stripe, database, purchases, subscriptions, log } = dependencies;
  const { id, kind, subscription } = await adopt(dependencies, purchase);
  const isDone = async (): Promise<boolean> => {
    if (subscription !== null) await subscriptions.reconcile(subscription);
    return (await purchases.get(id))?.state === 'done';
  };
  if (subscription !== null) {
    if (await isDone()) return 'done';
    const isEnded = await (kind === 'subscribe' ? cancelUnpaid : voidSwitch)(stripe, subscription);
    // Finds a payment that arrived at the last moment.
    if (await checkUntil(isDone, (done) => done || isEnded)) return 'done';
    if (!isEnded) return 'open';
  }
  if (await purchases.end(database.db, id, 'given up')) log.info({ purchase: id }, 'A purchase was abandoned');
  return 'given up';
}

/** As {@link abandonPurchase}, where something else follows. @throws Refused while it is unknown whether the purchase is paid */
export async function abandonForAnother(
  dependencies: BillingDependencies,
  purchase: Purchase,
): Promise<'done' | 'given up'> {
  const outcome = await abandonPurchase(dependencies, purchase);
  return outcome === 'open' ? throwRefused(409, messages.busy, { retryAfter: 5 }) : outcome;
}

/** @throws Refused if the reader has had the promotion */
export async function refuseUsedPromotion(
  dependencies: BillingDependencies,
  { userId, email }: Session,
  price: Price,
): Promise<void> {
  const { stripe, customers, purchases } = dependencies;
  const customer = await customers.find(userId);
  const all = customer === null ? [] : await subscriptionsOf(stripe, customer);
  await refuseUsed(dependencies, email, price, all, await purchases.open(userId));
}

const subscriptionsOf = async (stripe: Stripe, customer: string): Promise<readonly Stripe.Subscription[]> =>
  (await stripe.subscriptions.list({ customer, status: 'all', limit: 100 })).data;

/** Whether a subscription of Stripe's is one that this site sells. */
export const isOurs = (
  { catalog }: Pick<BillingDependencies, 'catalog'>,
  { items, metadata }: Stripe.Subscription,
): boolean => metadata.purchase !== undefined || items.data.some(({ price }) => catalog.known(price.id) !== null);

/** The plan as it is sold now. @throws Refused */
function priceOf({ catalog }: BillingDependencies, body: SubscribeBody): Price {
  const price = catalog.plan(body.plan_id);
  if (!price || price.product.metadata.zephr_product_id !== body.product_id)
    return throwRefused(400, messages.planGone);
  return priceIn(price, body.currency);
}

/** The purchase that the same decision has made already. */
async function boughtBefore(
  { purchases, now }: BillingDependencies,
  userId: string,
  body: SubscribeBody,
): Promise<Purchase | null> {
  if (body.attempt !== undefined) {
    const same = await purchases.ofAttempt(userId, body.attempt);
    return same?.state === 'done' && same.plan === body.plan_id ? same : null;
  }
  const newest = await purchases.newest(userId);
  const isSame = newest?.state === 'done' && newest.plan === body.plan_id && newest.kind === 'subscribe';
  return isSame && newest.updated > now() - sameDecisionMs ? newest : null;
}

/** @throws Refused when the reader has a subscription, or has had the promotion */
async function refuseSecond(
  dependencies: BillingDependencies,
  email: string,
  customer: string,
  price: Price,
  open: Purchase | null,
): Promise<void> {
  const all = await subscriptionsOf(dependencies.stripe, customer);
  const running = all.find(
    (one) => isLive(one) && (open === null || one.metadata.purchase !== open.id) && isOurs(dependencies, one),
  );
  if (running) {
    await dependencies.subscriptions.reconcile(running.id);
    throwRefused(409, messages.subscribed, { code: 'subscribed' });
  }
  await refuseUsed(dependencies, email, price, all, open);
}

async function refuseUsed(
  { promotions }: BillingDependencies,
  email: string,
  price: Price,
  all: readonly Stripe.Subscription[],
  open: Purchase | null,
): Promise<void> {
  if (!(await promotions.had(email, price, all, open?.id ?? null))) return;
  throwRefused(409, messages.promotionUsed, { code: 'promotion_used' });
}

/** The open purchase if it is of the same offer; one of another offer, or at an old price, is ended. */
async function resumable(
  dependencies: BillingDependencies,
  open: Purchase | null,
  body: SubscribeBody,
  price: Price,
): Promise<Purchase | null> {
  if (!open) return null;
  const isSame = open.kind === 'subscribe' && open.price === price.id && isSameCode(open.coupon, body.discount_code);
  if (isSame) return open;
  const mayBeAtWork = open.subscription === null && open.updated > dependencies.now() - atWorkMs;
  if (mayBeAtWork && !(await adopt(dependencies, open)).subscription) {
    return throwRefused(409, messages.busy, { retryAfter: 5 });
  }
  if ((await abandonForAnother(dependencies, open)) === 'done' && open.kind === 'subscribe') {
    throwRefused(409, messages.subscribed, { code: 'subscribed' });
  }
  return null;
}

/** Creates the subscription of a purchase at Stripe. @returns its id */
async function create(
  dependencies: BillingDependencies,
  purchase: Purchase,
  { price, coupon, isFree, customer, paymentMethod }: Order,
  userId: string,
): Promise<string> {
  const { stripe, database, purchases, tax } = dependencies;
  const metadata: Stripe.MetadataParam = { purchase: purchase.id, user: userId };
  if (price.promotion) metadata.promotion = price.zephrPlanId;
  const params: Stripe.SubscriptionCreateParams = {
    ...purchaseParams(price, coupon, tax),
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
    // If nothing is due now, only a card setup shows that a later bill can be paid.
    const card = isFree ? await setUpCard(dependencies, customer, paymentMethod) : null;
    if (card !== null) params.default_payment_method = card;
    const idempotencyKey = `subscribe:${purchase.id}:${purchase.round}`;
    return (await stripe.subscriptions.create(params, { idempotencyKey })).id;
  } catch (error) {
    if (!isUncertain(error)) {
      // Stripe refused the request, so there is nothing to resume.
      await purchases.end(database.db, purchase.id, 'given up');
      throw error;
    }
    const found = (await adopt(dependencies, purchase)).subscription;
    if (found !== null) return found;
    // Stripe repeats its own failure under the same key; a new key is safe, because no subscription was created.
    if (((error as { statusCode?: number }).statusCode ?? 0) >= 500) {
      await purchases.change(purchase.id, { round: purchase.round + 1 });
    }
    throw error;
  }
}

/** @throws Refused when Stripe would charge another amount than the reader was shown */
async function refuseOtherAmount(
  dependencies: BillingDependencies,
  purchase: Purchase,
  { subscription, due, intent }: PaymentAttempt,
  expected: number | undefined,
): Promise<void> {
  if (expected === undefined || due === expected || intent?.value.status === 'succeeded') return;
  const mayBePaid = due === 0 && subscription.status !== 'incomplete' && expected > 0;
  const stored = mayBePaid ? await dependencies.subscriptions.reconcile(subscription.id) : null;
  // It was paid in another tab, as the reader wanted.
  if (stored?.state.invoices.some(({ paid }) => paid > 0)) return;
  await abandonForAnother(dependencies, purchase);
  throwRefused(409, messages.amountChanged, { due, code: 'amount_changed' });
}

/**
 * Abandons a purchase whose card is refused while nothing is due: without an open invoice its subscription would never end. One with a coupon
 * stays open, so that another card can be tried: Stripe counts the coupon as used. The background task ends it if none follows.
 */
async function abandonRefused<T>(
  dependencies: BillingDependencies,
  purchase: Purchase | null,
  { intent, subscription }: PaymentAttempt,
  work: () => Promise<Billed<T>>,
): Promise<Billed<T>> {
  const answer = await asResult(work);
  const isRefused = !answer.ok && answer.status === 402 && intent?.kind === 'setup';
  if (isRefused && purchase?.subscription === subscription.id && purchase.coupon === null)
    await abandonPurchase(dependencies, purchase);
  return answer;
}
