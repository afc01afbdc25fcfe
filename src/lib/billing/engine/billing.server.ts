/** The billing service: puts its parts together over a database that somebody else opened. */
import Stripe from 'stripe';
import type { AccountsTransaction, Database } from '../../database.ts';
import { createHmacs } from '../../hmacs.server.ts';
import { createLimiter } from '../../http/limiter.server.ts';
import { defaultLimits, type Limits } from '../../http/limits.ts';
import type { Logger } from '../../logging.ts';
import type { Outbox } from '../../mail/model.ts';
import { currencyOf, priceIn } from '../currency.ts';
import type { Billing } from '../service.ts';
import { entitlementOf, foremost, isRunning, rankOf, type StripeState, subscriptionOf } from '../state.ts';
import type { Price } from '../wire.ts';
import { createBills } from './bills.server.ts';
import { createCatalogue } from './catalogue.server.ts';
import { createCoupons } from './coupons.server.ts';
import { createCustomers } from './customers.server.ts';
import { billed, no, ok, overLimit } from './errors.ts';
import { askerOf, tryingCard, within } from './guesses.ts';
import { createLeaving, forgetLeaving, leavingOf } from './leaving.server.ts';
import { createMirror } from './mirror.server.ts';
import type { BillingRules, Parts } from './parts.ts';
import { createPaying } from './paying.server.ts';
import { createPromotions } from './promotions.server.ts';
import { createPurchases, type Purchase } from './purchases.server.ts';
import { createQuestions } from './questions.server.ts';
import { keepQuotes, quoteNew, quoteOpen } from './quotes.server.ts';
import { countRefusals } from './refusals.server.ts';
import { createRunning } from './running.server.ts';
import { openStripe } from './stripe.server.ts';
import { checkoutSaid, createSubscribing } from './subscribing.server.ts';
import { createSwitching, switchSaid } from './switching.server.ts';
import { createTurns } from './turns.ts';
import { createUpkeep } from './upkeep.server.ts';
import { createWebhooks } from './webhooks.server.ts';
import { createWorker, type WorkerStats } from './worker.server.ts';

export interface BillingOptions {
  readonly access: {
    readonly secretKey: string;
    readonly publishableKey: string;
    readonly webhookSecret: string;
    readonly apiUrl: string;
    readonly scriptUrl: string;
    /** Whether Stripe works out tax. */
    readonly tax?: boolean;
  };
  readonly database: Database;
  readonly outbox: Outbox<AccountsTransaction>;
  /** Of the accounts: keys of the limits are made from it. */
  readonly secret: string;
  readonly siteUrl: string;
  readonly rules: BillingRules;
  /** Told when the prices on the pages have changed. */
  readonly onPrices?: () => void;
  readonly log: Logger;
  readonly limits?: Limits;
  /** For tests. */
  readonly stripe?: Stripe;
  /** Epoch milliseconds; for tests. */
  readonly now?: () => number;
}

export interface BillingStats extends WorkerStats {
  /** Subscriptions that the last comparison with Stripe found different; `null` before the first. */
  readonly drift: number | null;
  /** Why readers see no wallets' buttons; `null`: they do, or it isn't known yet. */
  readonly walletProblem: string | null;
}

export interface RunningBilling extends Billing {
  /** Takes the shipping address away that was put in before the e-mail address was proven, unless paid print goes there. */
  disown(tx: AccountsTransaction, userId: string): Promise<void>;
  stats(): BillingStats;
  /** Answers every question to Stripe that is due. */
  drain(): Promise<void>;
  /** Looks at purchases that were left open. */
  recover(): Promise<void>;
  /** Fetches the catalogue now. */
  refresh(): Promise<void>;
}

/** A purchase that nothing happened to for so long keeps nobody from leaving, in milliseconds. */
const payingMs = 60_000;
/** A reader's own repair call asks Stripe at most this often, in milliseconds. */
const repairEveryMs = 60_000;

export async function createBilling(options: BillingOptions): Promise<RunningBilling> {
  const { access, database, outbox, secret, siteUrl, rules, log, onPrices = () => {}, now = Date.now } = options;
  const stripe = options.stripe ?? openStripe(access);
  const { db } = database;
  const catalogue = createCatalogue({ stripe, database, onPrices: () => onPrices(), log, now });
  const questions = createQuestions(database, now);
  const customers = createCustomers(stripe, database, questions, now);
  const purchases = createPurchases(database, now);
  const mirror = createMirror({
    stripe,
    database,
    outbox,
    catalogue,
    customers,
    purchases,
    questions,
    rules,
    log,
    now,
  });
  const keyed = createHmacs(secret);
  const promotions = createPromotions(database, keyed, now);
  const limiter = createLimiter(database, keyed, options.limits ?? defaultLimits, now);
  const parts: Parts = {
    stripe,
    database,
    outbox,
    limiter,
    catalogue,
    customers,
    purchases,
    promotions,
    mirror,
    questions,
    rules,
    siteUrl,
    tax: access.tax ?? false,
    log,
    now,
  };
  const inTurn = createTurns();
  const findCoupon = createCoupons(stripe, limiter, now, rules.stay?.coupon ?? null);
  const paying = createPaying(parts);
  const subscribing = createSubscribing(parts, paying, findCoupon, inTurn);
  const switching = createSwitching(parts, paying, subscribing, inTurn);
  const running = createRunning(parts, switching, inTurn);
  const leaving = createLeaving(parts, running, inTurn);
  const forget = (userId: string): Promise<void> =>
    inTurn(userId, async () => {
      const states = (await mirror.ofUser(userId)).map(({ state }) => state);
      const reader = await db.selectFrom('users').select('email').where('id', '=', userId).executeTakeFirst();
      await database.transaction(async (tx) => {
        if (reader) await promotions.keep(tx, reader.email, states);
        await customers.forget(tx, userId);
        await forgetLeaving(tx, userId);
        // What was bought and charged stays, without saying by whom.
        await tx.updateTable('subscriptions').set({ user_id: null }).where('user_id', '=', userId).execute();
        await tx.updateTable('billing_notices').set({ user_id: null }).where('user_id', '=', userId).execute();
        await tx
          .updateTable('purchases')
          .set({ user_id: null, payment_method: null, attempt: null, coupon: null })
          .where('user_id', '=', userId)
          .execute();
        await tx
          .updateTable('purchases')
          .set({ state: 'given up' })
          .where('user_id', 'is', null)
          .where('state', '=', 'open')
          .execute();
      });
      worker.nudge();
    });

  const upkeep = createUpkeep(parts, subscribing, inTurn, forget);
  const ending = { till: paying.till, abandon: subscribing.abandon, inTurn };
  const worker = createWorker(parts, upkeep.chores, (intent) => countRefusals(parts, ending, intent));
  const plainQuotes = keepQuotes(now);
  const repaired = new Map<string, number>();
  await catalogue.load().catch((error: unknown) => log.warn({ err: error }, 'The prices cannot be read yet'));

  /** What a reader has that is billed again. @param fresh whether Stripe is asked in any case, not only where a period is over */
  async function runningOf(userId: string, fresh: boolean): Promise<StripeState | null> {
    const open = await purchases.open(userId);
    const own = (await mirror.ofUser(userId)).map(({ state }) => state);
    // What is still at the till is bought anew, or gone on with.
    const known =
      own.find((state) => isRunning(state) && (open?.kind !== 'subscribe' || state.purchase !== open.id)) ?? null;
    if (!known || (!fresh && now() < known.periodEnd)) return known;
    const state = (await mirror.sync(known.id))?.state;
    return state && isRunning(state) ? state : null;
  }

  /** A purchase of this that waits for its payment, with the coupon that it was begun with. */
  async function openWith(userId: string, price: Price, coupon: string | undefined): Promise<Purchase | null> {
    const open = coupon === undefined ? null : await purchases.open(userId);
    const same = open?.kind === 'subscribe' && open.price === price.id && open.coupon === coupon;
    return same && open.subscription !== null ? open : null;
  }

  return {
    ...running,
    ...leaving,
    ...createBills(parts),
    prices: catalogue.prices,
    plans: (country) => ({
      prices: catalogue.prices(),
      publishableKey: access.publishableKey,
      scriptUrl: access.scriptUrl,
      currency: currencyOf(country),
      country,
      tax: parts.tax,
    }),
    async currency(session, country) {
      const own = session && (await mirror.ofUser(session.userId)).find(({ state }) => isRunning(state));
      return own ? { currency: own.state.price.currency, own: true } : { currency: currencyOf(country), own: false };
    },
    async entitlements(userId) {
      const kept = await mirror.ofUser(userId);
      return kept
        .map(({ state }) => entitlementOf(state, now(), rules.graceDays))
        .filter((one) => one !== null)
        .toSorted((a, b) => rankOf(b) - rankOf(a) || b.until - a.until);
    },
    quote: (session, { planId, couponCode, currency, address: lives = null }, address = null) =>
      billed(async () => {
        const sold = catalogue.plan(planId);
        const price = sold && priceIn(sold, currency);
        if (!price) return no(400, checkoutSaid.gone);
        const isPlain = session === null && couponCode === undefined && lives === null;
        const known = isPlain ? plainQuotes.find(price) : null;
        if (known) return ok(known);
        const over = await limiter.count('quote', askerOf(session, address));
        if (over) return overLimit(over);
        const quoted = async (fresh: boolean) => {
          const customer = session && (await customers.find(session.userId));
          const running = session && (await runningOf(session.userId, fresh));
          if (running && price.promotion) return no(409, switchSaid.promotion, { code: 'promotion_used' });
          if (running) return ok(await switching.quote(running, price));
          if (session && price.promotion) await subscribing.mayHave(session, price);
          const open = session && (await openWith(session.userId, price, couponCode));
          const who = { session, address, customer, redeemed: open?.coupon ?? null };
          const found = couponCode === undefined ? null : await findCoupon(couponCode, price, who);
          const till = open?.subscription && found ? await paying.till(open.subscription) : null;
          const sameCurrency = till?.subscription.currency === price.currency;
          if (till && found && sameCurrency && isWaiting(till.subscription)) {
            return ok(await quoteOpen(stripe, till, price));
          }
          const quote = await quoteNew(stripe, price, found, { customer, address: lives, tax: parts.tax }, now());
          if (isPlain) plainQuotes.keep(price, quote);
          return ok(quote);
        };
        try {
          return await quoted(false);
        } catch (error) {
          // What we took for running may have ended at Stripe.
          if (!(error instanceof Stripe.errors.StripeInvalidRequestError) || !session) throw error;
          return await quoted(true);
        }
      }),
    coupon: (code, planId, { session, address }) =>
      billed(async () => {
        const price = planId === null ? null : catalogue.plan(planId);
        if (planId !== null && !price) return no(400, checkoutSaid.gone);
        const customer = session && (await customers.find(session.userId));
        const open = session && price && (await openWith(session.userId, price, code));
        const who = { session, address, customer, redeemed: open?.coupon ?? null };
        const over = await limiter.count('quote', askerOf(session, address));
        if (over) return overLimit(over);
        const { coupon } = await findCoupon(code, price, who);
        const { amount_off, percent_off } = coupon;
        return ok({ discount_code: code, amount_off, percent_off });
      }),
    subscribe: (session, body, address = null) =>
      within(limiter, 'subscribe', askerOf(session, address), () => subscribing.subscribe(session, body, address)),
    confirm: (session, id, address = null) =>
      tryingCard(limiter, askerOf(session, address), () => subscribing.confirm(session, id)),
    switchPlan: (session, ask, address = null) => {
      const who = askerOf(session, address);
      return within(limiter, 'subscribe', who, () =>
        tryingCard(limiter, who, () => switching.switchPlan(session, ask)),
      );
    },
    async subscription({ userId }) {
      const state = foremost(
        (await mirror.ofUser(userId)).map((kept) => kept.state),
        now(),
        rules.graceDays,
      );
      return state && subscriptionOf(state, now(), rules.graceDays);
    },
    shipping: ({ userId }) => customers.shipping(userId),
    saveShipping: ({ userId, emailVerified }, shipping) =>
      billed(async () => {
        // The first address is a part of buying; where paid print goes is changed by the owner of the e-mail address alone.
        const changes = (await customers.shipping(userId)) !== null;
        if (!emailVerified && changes && (await mirror.ofUser(userId)).some(({ state }) => isRunning(state))) {
          return no(403, checkoutSaid.unconfirmed, { code: 'unconfirmed' });
        }
        await customers.saveShipping(userId, shipping);
        // Kept here in any case; Stripe hears of it now, or with the next purchase.
        await customers
          .sendShipping(userId)
          .catch((error: unknown) => log.warn({ err: error }, 'Stripe could not be told an address yet'));
        return ok(shipping);
      }),
    async repair({ userId }) {
      if ((repaired.get(userId) ?? 0) > now() - repairEveryMs) return;
      if (repaired.size > 10_000) repaired.clear();
      repaired.set(userId, now());
      const customer = await customers.find(userId);
      if (customer !== null) await mirror.syncCustomer(customer);
    },
    async exportData(userId) {
      const iso = (at: number): string => new Date(at).toISOString();
      const bought = await db.selectFrom('purchases').selectAll().where('user_id', '=', userId).execute();
      return {
        customer: await customers.find(userId),
        shipping: await customers.shipping(userId),
        subscriptions: (await mirror.ofUser(userId)).map(({ state }) => subscriptionOf(state, now(), rules.graceDays)),
        invoices: (await mirror.ofUser(userId)).flatMap(({ state }) =>
          state.invoices.map(({ id, status, due, paid, currency, created }) => ({
            id,
            status,
            due,
            paid,
            currency,
            created: iso(created),
          })),
        ),
        cancellations: await leavingOf(db, userId),
        purchases: bought.map(({ id, kind, plan, state, created }) => ({ id, kind, plan, state, time: iso(created) })),
      };
    },
    async isPaying(userId) {
      const open = await purchases.open(userId);
      return open !== null && open.updated > now() - payingMs;
    },
    forget,
    async disown(tx, userId) {
      const rows = await tx.selectFrom('subscriptions').select('state').where('user_id', '=', userId).execute();
      const states = rows.flatMap(({ state }) => (state === null ? [] : [JSON.parse(state) as StripeState]));
      // Where the paper goes is a part of what was paid for.
      const print = states.some((state) => entitlementOf(state, now(), rules.graceDays)?.print);
      if (!print) await customers.forgetShipping(tx, userId);
      await forgetLeaving(tx, userId);
    },
    webhook: createWebhooks(parts, access.webhookSecret, worker.nudge),
    reconcile: upkeep.reconcile,
    start: worker.start,
    async stop() {
      await worker.stop();
    },
    stats: () => ({ ...worker.stats(), drift: upkeep.drift(), walletProblem: upkeep.walletProblem() }),
    drain: worker.drain,
    recover: upkeep.recover,
    refresh: catalogue.refresh,
  };
}

/** Whether a subscription is bought, and not paid or not confirmed yet. */
const isWaiting = ({ status, pending_setup_intent: setup }: Stripe.Subscription): boolean =>
  status === 'incomplete' || setup !== null;
