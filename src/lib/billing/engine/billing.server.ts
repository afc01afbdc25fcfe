/** The billing service: builds the shared dependencies, and exposes the functions as routes and pages call them. */
import Stripe from 'stripe';
import type { Session } from '../../accounts/service.ts';
import { createBoundedMap } from '../../bounded-map.ts';
import { createHmacs } from '../../crypto.server.ts';
import type { AccountsTransaction, Database } from '../../database.ts';
import type { Limiter } from '../../http/limiter.server.ts';
import { createJobQueue } from '../../jobs/queue.server.ts';
import { createKeyedMutex } from '../../jobs/tasks.ts';
import type { Logger } from '../../logging.ts';
import type { Outbox } from '../../mail/model.ts';
import type { PersonalData } from '../../personal-data.ts';
import { currencyOf, priceIn } from '../currency.ts';
import { messages } from '../messages.ts';
import { billingData, forgetReader } from '../personal-data.server.ts';
import type { CouponAnswer, Price, QuoteAnswer, QuoteAsk, Shipping } from '../schema.ts';
import type { Billed, Billing } from '../service.ts';
import {
  type BillingRules,
  entitlementOf,
  isRunning,
  mainSubscription,
  rankOf,
  type StripeState,
  subscriptionOf,
} from '../subscription-model.ts';
import { type OwnStripe, openOwnStripe } from './account.server.ts';
import { createCatalog } from './catalog.server.ts';
import { confirm, refuseUsedPromotion, subscribe } from './checkout.server.ts';
import { amountOff, isSameCode, tryCoupon } from './coupons.server.ts';
import { createCustomers, withCustomerAtStripe } from './customers.server.ts';
import type { BillingDependencies, BillingJobKind } from './dependencies.ts';
import { refuseEarlierCard } from './earlier-owner.server.ts';
import { createInvoices } from './invoices.server.ts';
import { createWorker, type WorkerStats } from './jobs.server.ts';
import { limitSubject, withinCardLimit, withinLimit } from './limits.server.ts';
import { createMaintenance } from './maintenance.server.ts';
import { fetchAttempt, offerCardSetup } from './payments.server.ts';
import { quotePlanSwitch, switchPlan } from './plan-switches.server.ts';
import { createPromotions, createPurchases, type Purchase } from './purchases.server.ts';
import { createQuoteCache, quoteNew, quoteOpen } from './quotes.server.ts';
import {
  acceptOffer,
  beginCancellation,
  cancelAndRecord,
  countCancellations,
  findOffer,
  recordResumed,
} from './retention.server.ts';
import { asResult, ok, overLimit, refusal } from './stripe.server.ts';
import { cancelSubscription, changeCard, resumeSubscription, saveMetadata } from './subscription-changes.server.ts';
import { createSubscriptions } from './subscriptions.server.ts';
import { createWebhooks } from './webhooks.server.ts';

export interface BillingOptions {
  readonly access: {
    readonly secretKey: string;
    readonly publishableKey: string;
    readonly webhookSecret: string;
    readonly apiUrl: string;
    readonly scriptUrl: string;
    /** Whether Stripe calculates tax. */
    readonly tax?: boolean;
  };
  readonly database: Database;
  readonly outbox: Outbox<AccountsTransaction>;
  /** The accounts' secret. */
  readonly secret: string;
  readonly siteUrl: string;
  readonly rules: BillingRules;
  /** Called when the prices on the pages have changed. */
  readonly onPrices?: () => void;
  readonly log: Logger;
  readonly limiter: Limiter;
  /** For tests: a client whose key isn't checked. */
  readonly stripe?: Stripe;
  /** For tests. */
  readonly own?: OwnStripe;
  /** Epoch milliseconds; for tests. */
  readonly now?: () => number;
}

export interface BillingStats extends WorkerStats {
  /** Subscriptions that the last comparison with Stripe found different; `null` before the first. */
  readonly drift: number | null;
  /** Why readers see no wallet buttons; `null`: they do, or it isn't known yet. */
  readonly walletProblem: string | null;
  /** Why no request is sent to Stripe; `null`: the key is right, or not known yet. */
  readonly keyProblem: string | null;
}

export interface RunningBilling extends Billing {
  readonly personalData: PersonalData;
  stats(): BillingStats;
  /** Runs every job that is due. */
  drain(): Promise<void>;
  /** Handles purchases that were left open. */
  recover(): Promise<void>;
  /** Fetches the catalog now. */
  refresh(): Promise<void>;
}

type QuoteCache = ReturnType<typeof createQuoteCache>;

/** An open purchase without activity for this long doesn't block the deletion of the account, in milliseconds. */
const payingMs = 60_000;
/** A reader's repair fetches from Stripe at most once in this time, in milliseconds. */
const repairEveryMs = 60_000;

/** Stripe's client with the check of its key. */
function ownStripe({ access, database, log, now = Date.now, stripe, own }: BillingOptions): OwnStripe {
  if (own) return own;
  if (stripe) return { stripe, keyProblem: () => null, checkKey: async () => {} };
  return openOwnStripe({ access, database, log, now });
}

/** Builds the dependencies that the functions share. */
function createDependencies(options: BillingOptions, stripe: Stripe): BillingDependencies {
  const { access, database, limiter, outbox, siteUrl, rules, log, onPrices = () => {}, now = Date.now } = options;
  const catalog = createCatalog({ stripe, database, onPrices, log, now });
  const jobs = createJobQueue<BillingJobKind>(database, 'stripe', now);
  const customers = createCustomers(stripe, database, jobs, now);
  const purchases = createPurchases(database, now);
  const withLock = createKeyedMutex();
  const base = { stripe, database, outbox, catalog, customers, purchases, jobs, withLock, rules, log, now };
  return {
    ...base,
    limiter,
    promotions: createPromotions(database, createHmacs(options.secret), now),
    subscriptions: createSubscriptions(base),
    siteUrl,
    tax: access.tax ?? false,
  };
}

export async function createBilling(options: BillingOptions): Promise<RunningBilling> {
  const { stripe, keyProblem, checkKey } = ownStripe(options);
  const dependencies = createDependencies(options, stripe);
  const { catalog, customers, log } = dependencies;
  const forget = async (userId: string): Promise<void> => {
    await dependencies.withLock(userId, () => forgetReader(dependencies, userId));
    worker.nudge();
  };
  const maintenance = createMaintenance(dependencies, forget, checkKey);
  const worker = createWorker(dependencies, maintenance.tasks);
  await catalog
    .load()
    .catch((error: unknown) => log.warn({ err: error }, 'Stripe’s prices can’t be read from the database yet'));

  return {
    ...selling(dependencies, options.access),
    ...changing(dependencies),
    ...reading(dependencies),
    ...createInvoices(dependencies),
    personalData: billingData(dependencies, forget),
    customerOf: ({ userId }) => customers.find(userId),
    webhook: createWebhooks(dependencies, options.access.webhookSecret, worker.nudge),
    compare: maintenance.compare,
    recover: maintenance.recover,
    refresh: catalog.refresh,
    start: worker.start,
    stop: worker.stop,
    drain: worker.drain,
    stats: () => ({
      ...worker.stats(),
      drift: maintenance.drift(),
      walletProblem: maintenance.walletProblem(),
      keyProblem: keyProblem(),
    }),
  };
}

/** Plans, quotes and purchases. */
function selling(dependencies: BillingDependencies, { publishableKey, scriptUrl }: BillingOptions['access']) {
  const { catalog, limiter, tax, now, withLock } = dependencies;
  const cache = createQuoteCache(now);
  return {
    prices: catalog.prices,
    plans: (country) => ({
      prices: catalog.prices(),
      publishableKey,
      scriptUrl,
      currency: currencyOf(country),
      country,
      tax,
    }),
    quote: (session, body, clientAddress = null) => {
      const quoted = () => limitedQuote(dependencies, cache, session, body, clientAddress);
      return asResult(() => (session ? withCustomerAtStripe(dependencies, session, quoted) : quoted()));
    },
    coupon: (code, planId, { session, clientAddress, currency }) =>
      asResult(() => checkCoupon(dependencies, code, { planId, currency }, session, clientAddress)),
    subscribe: (session, body, clientAddress = null) => {
      const subject = limitSubject(session, clientAddress);
      return withinLimit(limiter, 'subscribe', subject, () =>
        withLock(session.userId, () =>
          asResult(() =>
            withinCardLimit(limiter, subject, () =>
              withCustomerAtStripe(dependencies, session, () => subscribe(dependencies, session, body, clientAddress)),
            ),
          ),
        ),
      );
    },
    confirm: (session, id, clientAddress = null) =>
      withinCardLimit(limiter, limitSubject(session, clientAddress), () =>
        withLock(session.userId, () => confirm(dependencies, session, id)),
      ),
  } satisfies Partial<Billing>;
}

/** Changes of a subscription. */
function changing(dependencies: BillingDependencies) {
  const { limiter, customers, withLock } = dependencies;
  /** One change of a reader's subscription at a time. */
  const change = <T>({ userId }: Session, work: () => Promise<Billed<T>>): Promise<Billed<T>> =>
    withLock(userId, () => asResult(work));
  return {
    switchPlan: (session, body, clientAddress = null) => {
      const subject = limitSubject(session, clientAddress);
      return withinLimit(limiter, 'subscribe', subject, () =>
        withinCardLimit(limiter, subject, () => change(session, () => switchPlan(dependencies, session, body))),
      );
    },
    cancel: (session, reason = null, id) =>
      withLock(`leaving ${session.userId}`, () =>
        cancelAndRecord(dependencies, session, { reason, id }, (details) =>
          change(session, () => cancelSubscription(dependencies, session, details, id)),
        ),
      ),
    async resume(session, id) {
      const resumed = await change(session, () => resumeSubscription(dependencies, session, id));
      if (resumed.ok) await recordResumed(dependencies, session.userId, resumed.value.id);
      return resumed;
    },
    beginCancellation: (session, feedback, id) =>
      change(session, () => beginCancellation(dependencies, session, feedback, id)),
    retentionOffer: (session, id) => findOffer(dependencies, session, id),
    stay: (session, id) => change(session, () => acceptOffer(dependencies, session, id)),
    saveMetadata: (session, id, metadata) => asResult(() => saveMetadata(dependencies, session, id, metadata)),
    setupIntent: (session, clientAddress = null) => {
      const subject = limitSubject(session, clientAddress);
      // A client secret lets its holder try cards, so an account with too many refused cards gets none.
      return change(session, () =>
        withinCardLimit(limiter, subject, () =>
          withCustomerAtStripe(dependencies, session, async () =>
            offerCardSetup(dependencies, await customers.ensure(session), subject),
          ),
        ),
      );
    },
    usePaymentMethod: (session, paymentMethod, clientAddress = null) =>
      change(session, () =>
        withinCardLimit(limiter, limitSubject(session, clientAddress), () =>
          withCustomerAtStripe(dependencies, session, () => changeCard(dependencies, session, paymentMethod)),
        ),
      ),
    saveShipping: (session, shipping) => asResult(() => saveShipping(dependencies, session, shipping)),
  } satisfies Partial<Billing>;
}

/** Reads what a reader has. */
function reading(dependencies: BillingDependencies) {
  const { database, customers, purchases, subscriptions, rules, now } = dependencies;
  const repairedAt = createBoundedMap<number>(5000);
  const shown = async (userId: string) => {
    const states = await subscriptions.statesOf(userId);
    const main = mainSubscription(states, now(), rules.graceDays);
    const others = states.filter((state) => isRunning(state) && state.id !== main?.id);
    return (main ? [main, ...others] : []).map((state) => subscriptionOf(state, now(), rules.graceDays));
  };
  return {
    async currency(session, country) {
      const own = session && (await subscriptions.running(session.userId));
      return own ? { currency: own.price.currency, own: true } : { currency: currencyOf(country), own: false };
    },
    async entitlements(userId) {
      return (await subscriptions.statesOf(userId))
        .map((state) => entitlementOf(state, now(), rules.graceDays))
        .filter((one) => one !== null)
        .toSorted((a, b) => rankOf(b) - rankOf(a) || b.until - a.until);
    },
    subscription: async ({ userId }) => (await shown(userId))[0] ?? null,
    subscriptions: ({ userId }) => shown(userId),
    shipping: ({ userId }) => customers.shipping(userId),
    async repair({ userId }) {
      if ((repairedAt.get(userId) ?? 0) > now() - repairEveryMs) return;
      repairedAt.set(userId, now());
      const customer = await customers.find(userId);
      if (customer !== null) await subscriptions.reconcileCustomer(customer);
    },
    async hasOpenPayment(userId) {
      const open = await purchases.open(userId);
      return open !== null && open.updated > now() - payingMs;
    },
    cancellationCounts: (since) => countCancellations(database.db, since),
  } satisfies Partial<Billing>;
}

async function limitedQuote(
  dependencies: BillingDependencies,
  cache: QuoteCache,
  session: Session | null,
  body: QuoteAsk,
  clientAddress: string | null,
): Promise<Billed<QuoteAnswer>> {
  const { catalog, limiter } = dependencies;
  const sold = catalog.plan(body.planId);
  const price = sold && priceIn(sold, body.currency);
  if (!price) return refusal(400, messages.planGone);
  const isPlain = session === null && body.couponCode === undefined && !body.address;
  const known = isPlain ? cache.find(price) : null;
  if (known) return ok(known);
  const over = await limiter.count('quote', limitSubject(session, clientAddress));
  if (over) return overLimit(over);
  let answer: Billed<QuoteAnswer>;
  try {
    answer = await quote(dependencies, session, price, body, clientAddress, false);
  } catch (error) {
    // The stored subscription may have ended at Stripe.
    if (!(error instanceof Stripe.errors.StripeInvalidRequestError) || !session) throw error;
    answer = await quote(dependencies, session, price, body, clientAddress, true);
  }
  if (isPlain && answer.ok) cache.keep(price, answer.value);
  return answer;
}

/** @param isFresh whether a running subscription is fetched in any case, not only where its period is over */
async function quote(
  dependencies: BillingDependencies,
  session: Session | null,
  price: Price,
  { couponCode, address: taxAddress }: QuoteAsk,
  clientAddress: string | null,
  isFresh: boolean,
): Promise<Billed<QuoteAnswer>> {
  const { stripe, customers, tax, now } = dependencies;
  const customer = session && (await customers.find(session.userId));
  const running = session && (await runningOf(dependencies, session.userId, isFresh));
  if (running && price.promotion) return refusal(409, messages.newSubscribers, { code: 'promotion_used' });
  if (running) {
    if (!running.byInvoice) await refuseEarlierCard(dependencies.database.db, session.userId);
    return ok(await quotePlanSwitch(dependencies, running, price));
  }
  if (session && price.promotion) await refuseUsedPromotion(dependencies, session, price);
  const open = session && (await openWith(dependencies, session.userId, price, couponCode));
  const caller = { session, clientAddress, customer, redeemed: open?.coupon ?? null };
  const coupon = couponCode === undefined ? null : await tryCoupon(dependencies, couponCode, price, caller);
  const attempt = open?.subscription && coupon ? await fetchAttempt(dependencies, open.subscription) : null;
  if (attempt && attempt.subscription.currency === price.currency && awaitsPayment(attempt.subscription)) {
    return ok(await quoteOpen(stripe, attempt, price));
  }
  return ok(await quoteNew(stripe, price, coupon, { customer, address: taxAddress ?? null, tax }, now()));
}

/** The running subscription, unless its purchase is still open: an open purchase is repeated or resumed. */
async function runningOf(
  { purchases, subscriptions, rules, now }: BillingDependencies,
  userId: string,
  isFresh: boolean,
): Promise<StripeState | null> {
  const open = await purchases.open(userId);
  const states = await subscriptions.statesOf(userId);
  const begun = states.filter(
    (state) => isRunning(state) && (open?.kind !== 'subscribe' || state.purchase !== open.id),
  );
  const known = mainSubscription(begun, now(), rules.graceDays);
  if (!known || (!isFresh && now() < known.periodEnd)) return known;
  const state = (await subscriptions.reconcile(known.id))?.state;
  return state && isRunning(state) ? state : null;
}

/** An open purchase of this price that was begun with this coupon. */
async function openWith(
  { purchases }: BillingDependencies,
  userId: string,
  price: Price,
  coupon: string | undefined,
): Promise<Purchase | null> {
  const open = coupon === undefined ? null : await purchases.open(userId);
  const isSame = open?.kind === 'subscribe' && open.price === price.id && isSameCode(open.coupon, coupon);
  return isSame && open.subscription !== null ? open : null;
}

/** Whether a subscription was bought, but isn't paid or confirmed yet. */
const awaitsPayment = ({ status, pending_setup_intent: setup }: Stripe.Subscription): boolean =>
  status === 'incomplete' || setup !== null;

async function checkCoupon(
  dependencies: BillingDependencies,
  code: string,
  { planId, currency }: { readonly planId: string | null; readonly currency: string | undefined },
  session: Session | null,
  clientAddress: string,
): Promise<Billed<CouponAnswer>> {
  const { catalog, customers, limiter } = dependencies;
  const sold = planId === null ? null : catalog.plan(planId);
  const price = sold && priceIn(sold, currency);
  if (planId !== null && !price) return refusal(400, messages.planGone);
  const customer = session && (await customers.find(session.userId));
  const open = session && price && (await openWith(dependencies, session.userId, price, code));
  const over = await limiter.count('quote', limitSubject(session, clientAddress));
  if (over) return overLimit(over);
  const caller = { session, clientAddress, customer, redeemed: open?.coupon ?? null };
  const { coupon } = await tryCoupon(dependencies, code, price, caller);
  const amount_off = price ? amountOff(coupon, price.currency) : coupon.amount_off;
  return ok({ discount_code: code, amount_off, percent_off: coupon.percent_off });
}

async function saveShipping(
  { customers, subscriptions, log }: BillingDependencies,
  { userId, emailVerified }: Session,
  shipping: Shipping,
): Promise<Billed<Shipping>> {
  // The first address is part of the purchase. Changing where a paid print edition goes requires a confirmed email.
  const isChange = await customers.hasShipping(userId);
  if (!emailVerified && isChange && (await subscriptions.running(userId))) {
    return refusal(403, messages.unconfirmed, { code: 'unconfirmed' });
  }
  await customers.saveShipping(userId, shipping);
  // The address is always stored here; Stripe gets it now or with the next purchase.
  await customers
    .sendShipping(userId)
    .catch((error: unknown) => log.warn({ err: error }, 'A shipping address could not be sent to Stripe yet'));
  return ok(shipping);
}
