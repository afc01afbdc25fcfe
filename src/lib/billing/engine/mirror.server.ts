/**
 * Our copy of Stripe's subscriptions. It is written from answers to our own questions alone, never from an event's body; an answer
 * that was asked for earlier never replaces one that was asked for later. Mail and the end of a purchase are written in the same
 * transaction as the state that causes them.
 */
import { randomUUID } from 'node:crypto';
import Stripe from 'stripe';
import type { AccountsTransaction, Database } from '../../database.ts';
import type { Logger } from '../../logging.ts';
import type { Outbox } from '../../mail/model.ts';
import { cancelledKey, type NoticeRules, noticesOf } from '../notices.ts';
import { type Asked, idOf, NotOurs, pricesIn, readState } from '../read-state.ts';
import {
  awaitsCard,
  digestOf,
  isEnding,
  isLost,
  isRunning,
  isSettled,
  paidUntil,
  renewsAt,
  type StripeState,
} from '../state.ts';
import { isLive, mayRenew } from '../status.ts';
import type { Catalogue } from './catalogue.server.ts';
import type { Customers } from './customers.server.ts';
import { askDisputes, noteDisputes } from './disputes.server.ts';
import { dropSubscription, end, goOn, refundSince } from './dropping.server.ts';
import { isMissing } from './errors.ts';
import type { Purchase, Purchases } from './purchases.server.ts';
import type { Questions } from './questions.server.ts';
import { createTurns } from './turns.ts';

export type SyncReason = 'announced' | 'amount' | 'announced-amount';

/** A subscription as it is kept. */
export interface Kept {
  readonly grantId: string;
  readonly userId: string | null;
  readonly state: StripeState;
}

export interface Mirror {
  /**
   * Asks Stripe about a subscription and keeps the answer.
   *
   * @param why `announced`: Stripe has said that its next bill is near; `amount`: what the next bill comes to is still to be learned;
   *   `announced-amount`: both
   * @returns what is kept then; `null` when Stripe has none, or none of ours
   * @throws StripeError
   */
  sync(id: string, why?: SyncReason): Promise<Kept | null>;
  /** All of a customer's, ended ones too. */
  syncCustomer(customer: string): Promise<readonly Kept[]>;
  ofUser(userId: string): Promise<readonly Kept[]>;
  get(id: string): Promise<Kept | null>;
}

export interface MirrorOptions {
  readonly stripe: Stripe;
  readonly database: Database;
  readonly outbox: Outbox<AccountsTransaction>;
  readonly catalogue: Catalogue;
  readonly customers: Customers;
  readonly purchases: Purchases;
  readonly questions: Questions;
  readonly rules: NoticeRules;
  readonly log: Logger;
  readonly now: () => number;
}

/** Invoices and charges that are looked at: those of two years of monthly bills. */
const mostInvoices = 24;
const mostCharges = 100;
/** Until the next bill is asked for again where Stripe couldn't say. */
const previewAgainMs = 5 * 60_000;
const { StripeAPIError, StripeConnectionError, StripeRateLimitError } = Stripe.errors;
/** Of Stripe's errors those that go by. */
const passing = [StripeAPIError, StripeConnectionError, StripeRateLimitError];

export function createMirror(options: MirrorOptions): Mirror {
  const { stripe, database, outbox, catalogue, customers, purchases, questions, rules, log, now } = options;
  const { db } = database;
  const inTurn = createTurns();

  /** Numbers a question; the row is made for it. */
  async function number(id: string): Promise<number> {
    const row = await db
      .insertInto('subscriptions')
      .values({
        id,
        customer: '',
        user_id: null,
        grant_id: randomUUID(),
        state: null,
        digest: null,
        renews: null,
        asked: 1,
        answered: 0,
        updated: now(),
      })
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet((is) => ({ asked: is('subscriptions.asked', '+', 1) })),
      )
      .returning('asked')
      .executeTakeFirstOrThrow();
    return row.asked;
  }

  async function ask(id: string, why?: SyncReason): Promise<Asked> {
    const subscription = await stripe.subscriptions.retrieve(id, { expand: ['schedule'] });
    const customer = idOf(subscription.customer) ?? '';
    const [invoices, charges, next] = await Promise.all([
      stripe.invoices.list({ subscription: id, limit: mostInvoices, expand: ['data.payments'] }),
      stripe.charges.list({ customer, limit: mostCharges }),
      upcoming(subscription, why),
    ]);
    const disputes = await askDisputes(stripe, charges.data, log);
    const card = invoices.data.some((one) => one.amount_paid > 0) || (await keepsCard(subscription, customer));
    return {
      subscription,
      invoices: invoices.data,
      charges: charges.data,
      disputes,
      card,
      upcoming: next === 'later' ? undefined : next,
      amountPending: next === 'later',
    };
  }

  /**
   * The next bill as Stripe will make it; `null`: there will be none. `later`: Stripe couldn't say now, and is asked again;
   * `undefined`: it can't say at all.
   */
  async function upcoming(
    subscription: Stripe.Subscription,
    why: SyncReason | undefined,
  ): Promise<Stripe.Invoice | null | 'later' | undefined> {
    const {
      id,
      schedule,
      status,
      cancel_at: ends,
      cancel_at_period_end: endsToo,
      pause_collection: pause,
    } = subscription;
    const billed = mayRenew({ status }) && ends === null && !endsToo && pause === null;
    if (!billed) return null;
    const planned = typeof schedule === 'object' && schedule?.status === 'active' ? schedule.id : null;
    const what: Stripe.InvoiceCreatePreviewParams = planned === null ? { subscription: id } : { schedule: planned };
    try {
      return await stripe.invoices.createPreview(what);
    } catch (error) {
      // It is not billed again.
      if (error instanceof Stripe.errors.StripeError && error.code === 'invoice_upcoming_none') return null;
      const isPassing = passing.some((kind) => error instanceof kind);
      const isNeeded = why === 'amount' || why === 'announced-amount';
      if (!(error instanceof Stripe.errors.StripeError) || (isNeeded && isPassing)) throw error;
      // Access and receipts don't wait for a preview.
      log.warn({ err: error, subscription: id }, 'The next bill of a subscription could not be previewed');
      if (!isPassing) return undefined;
      await questions.ask(db, `${why === 'announced' ? 'announced-amount' : 'amount'}:${id}`, previewAgainMs);
      return 'later';
    }
  }

  /** Whether something is kept that the bills to come can be charged to; what operators sell otherwise is their business. */
  async function keepsCard(subscription: Stripe.Subscription, customer: string): Promise<boolean> {
    const { default_payment_method: own, collection_method: collection, metadata } = subscription;
    if (own !== null || collection !== 'charge_automatically' || metadata.purchase === undefined) return true;
    try {
      return (await stripe.paymentMethods.list({ customer, limit: 1 })).data.length > 0;
    } catch (error) {
      // A customer who was deleted has none.
      if (isMissing(error)) return false;
      throw error;
    }
  }

  /** Whose it is: by our own note, or by the one at Stripe where ours was lost. */
  async function ownerOf({ subscription }: Asked): Promise<string | null> {
    const customer = idOf(subscription.customer) ?? '';
    const known = await customers.userOf(customer);
    const noted = subscription.metadata.user;
    if (known !== null || !noted || (await customers.isForgotten(customer))) return known;
    const user = await db.selectFrom('users').select('id').where('id', '=', noted).executeTakeFirst();
    if (!user) return null;
    await db
      .insertInto('customers')
      .values({ user_id: noted, customer, shipping: null, shipping_sent: 0, updated: now() })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return customers.userOf(customer);
  }

  async function write(id: string, asked: number, userId: string | null, state: StripeState, announced: boolean) {
    return database.transaction(async (tx) => {
      const row = await tx
        .updateTable('subscriptions')
        .set({
          customer: state.customer,
          state: JSON.stringify(state),
          answered: asked,
          updated: now(),
          digest: digestOf(state),
          renews: renewsAt(state),
          // Somebody who was forgotten meanwhile stays forgotten.
          user_id: userId,
        })
        .where('id', '=', id)
        .where('answered', '<', asked)
        .returning('grant_id')
        .executeTakeFirst();
      if (!row) return null;
      await endPurchases(tx, state);
      if (userId !== null) await notify(tx, userId, state, announced);
      return { grantId: row.grant_id, disputed: await noteDisputes(tx, state, now()) };
    });
  }

  /** Ends what was bought when it is paid, and when it never will be. */
  async function endPurchases(tx: AccountsTransaction, state: StripeState): Promise<void> {
    const open = await tx
      .selectFrom('purchases')
      .selectAll()
      .where('state', '=', 'open')
      .where((is) => is.or([is('subscription', '=', state.id), is('id', '=', state.purchase ?? '')]))
      .execute();
    for (const purchase of open) {
      const end = outcomeOf(purchase, state);
      if (end) await purchases.end(tx, purchase.id, end);
    }
  }

  async function notify(tx: AccountsTransaction, userId: string, state: StripeState, announced: boolean) {
    const pending = await tx
      .selectFrom('purchases')
      .select('id')
      .where('state', '=', 'open')
      .where('id', '=', state.purchase ?? '')
      .executeTakeFirst();
    const until = paidUntil(state);
    if (until !== null && isRunning(state) && !isEnding(state)) {
      // Who cancels, goes on and cancels again has it in writing both times.
      await tx.deleteFrom('billing_notices').where('key', '=', cancelledKey(state, until)).execute();
    }
    // Nobody is welcomed who is still at the till, and who never had it is not told of its end.
    const notices = awaitsCard(state)
      ? []
      : noticesOf(state, now(), rules, announced).filter(({ message }) => message.kind !== 'welcome-tier' || !pending);
    if (notices.length === 0) return;
    const user = await tx.selectFrom('users').select('email').where('id', '=', userId).executeTakeFirst();
    if (!user) return;
    for (const { key, message } of notices) {
      const fresh = await tx
        .insertInto('billing_notices')
        .values({ key, user_id: userId, at: now() })
        .onConflict((conflict) => conflict.column('key').doNothing())
        .returning('key')
        .executeTakeFirst();
      if (fresh) await outbox.enqueue(tx, { ...message, to: user.email });
    }
  }

  /** What nobody waits for any more must not be paid, and not be kept for nothing. */
  async function dropStray(state: StripeState): Promise<boolean> {
    const purchase = state.purchase === null ? null : await purchases.get(state.purchase);
    if (purchase?.state !== 'given up') return false;
    const paid = state.invoices.some((invoice) => invoice.paid > 0);
    if (paid || (state.status !== 'incomplete' && !isLive(state))) return false;
    log.warn({ subscription: state.id }, 'A subscription was found whose purchase was given up; it is cancelled');
    await dropSubscription(stripe, state.id);
    return true;
  }

  /** Who pays for more after a cancellation does not mean to leave, by whatever way we hear of the payment. */
  async function stays(state: StripeState): Promise<boolean> {
    if (!isEnding(state) || !isRunning(state) || state.schedule !== null) return false;
    const change = await db
      .selectFrom('purchases')
      .selectAll()
      .where('state', '=', 'open')
      .where('kind', '=', 'switch')
      .where('subscription', '=', state.id)
      .executeTakeFirst();
    if (!change || outcomeOf(change, state) !== 'done') return false;
    await goOn(stripe, state);
    return true;
  }

  /** Whose bank has taken the newest payment back for good is not charged again, and may buy anew. */
  async function endLost(state: StripeState): Promise<boolean> {
    if (!isLive(state) || !isLost(state)) return false;
    log.warn({ subscription: state.id }, 'A dispute is lost: its subscription is cancelled');
    await end(stripe, state.id);
    return true;
  }

  /** What a reader was charged who has left meanwhile is refunded, by whatever way we hear of the payment. */
  async function giveBack({ charges }: Asked, state: StripeState): Promise<boolean> {
    if ((await customers.userOf(state.customer)) !== null) return false;
    const since = await customers.chargeableUntil(state.customer);
    if (since === null) return false;
    const count = await refundSince({ stripe, log }, charges, since);
    if (isLive(state)) await end(stripe, state.id);
    return count > 0 || isLive(state);
  }

  async function sync(id: string, why?: SyncReason): Promise<Kept | null> {
    return inTurn(id, async () => {
      const asked = await number(id);
      let state: StripeState;
      let userId: string | null;
      try {
        let answer = await ask(id, why);
        await catalogue.learn(pricesIn(answer));
        const before = answer.upcoming === undefined ? ((await get(id))?.state ?? null) : null;
        state = readState(answer, catalogue.known, before);
        const acted = (await dropStray(state)) || (await endLost(state)) || (await stays(state));
        if (acted || (await giveBack(answer, state))) {
          answer = await ask(id);
          state = readState(answer, catalogue.known, before);
        }
        userId = await ownerOf(answer);
      } catch (error) {
        if (!isMissing(error) && !(error instanceof NotOurs)) throw error;
        if (error instanceof NotOurs) log.debug({ subscription: id }, error.message);
        await db.deleteFrom('subscriptions').where('id', '=', id).where('state', 'is', null).execute();
        return null;
      }
      const isAnnounced = why === 'announced' || why === 'announced-amount';
      const written = await write(id, asked, userId, state, isAnnounced);
      if (written === null) {
        // Another process has asked later and was answered sooner; which of the two answers is newer nobody knows.
        await questions.ask(db, `subscription:${id}`);
        return get(id);
      }
      outbox.nudge();
      for (const dispute of written.disputed)
        log.warn({ dispute, subscription: id }, 'A payment is disputed; it can be answered in Stripe’s dashboard');
      return { grantId: written.grantId, userId, state };
    });
  }

  const kept = (row: { grant_id: string; user_id: string | null; state: string | null }): Kept | null =>
    row.state === null
      ? null
      : { grantId: row.grant_id, userId: row.user_id, state: JSON.parse(row.state) as StripeState };
  const columns = ['grant_id', 'user_id', 'state'] as const;

  async function get(id: string): Promise<Kept | null> {
    const row = await db.selectFrom('subscriptions').select(columns).where('id', '=', id).executeTakeFirst();
    return row ? kept(row) : null;
  }

  return {
    sync,
    get,
    async syncCustomer(customer) {
      const all: Kept[] = [];
      for await (const { id } of stripe.subscriptions.list({ customer, status: 'all', limit: 100 })) {
        const one = await sync(id);
        if (one) all.push(one);
      }
      return all;
    },
    async ofUser(userId) {
      const rows = await db.selectFrom('subscriptions').select(columns).where('user_id', '=', userId).execute();
      return rows.map(kept).filter((one) => one !== null);
    },
  };
}

/** What became of a purchase, by the state of its subscription; `null`: it is still open. */
function outcomeOf(purchase: Purchase, state: StripeState): 'done' | 'given up' | null {
  if (purchase.kind === 'switch') {
    const there = state.price.plan === purchase.plan && state.paid.some(({ plan }) => plan === purchase.plan);
    const planned = state.next?.plan === purchase.plan;
    if (there || planned) return 'done';
    return isLive(state) ? null : 'given up';
  }
  if (state.status === 'incomplete') return null;
  if (!isLive(state)) return isSettled(state) && state.invoices.some(({ paid }) => paid > 0) ? 'done' : 'given up';
  // What was paid and given back runs on, too: another beside it would be one too many.
  return isSettled(state) || state.invoices.some(({ paid }) => paid > 0) ? 'done' : null;
}
