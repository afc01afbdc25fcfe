/**
 * The stored subscriptions. They are written only from answers to our own requests, never from an event's body, and an earlier answer
 * never replaces a later one. Mail and the end of a purchase are written in the same transaction as the state that causes them.
 */
import { randomUUID } from 'node:crypto';
import type { AccountsTransaction, Queries } from '../../database.ts';
import { createKeyedMutex } from '../../jobs/tasks.ts';
import { messages } from '../messages.ts';
import { cancelledKey, noticesOf } from '../notices.ts';
import {
  awaitsCard,
  entitlementOf,
  isEnding,
  isLive,
  isLost,
  isRunning,
  isSettled,
  mainSubscription,
  renewsAt,
  type StripeState,
} from '../subscription-model.ts';
import { cancelNow, cancelUnpaid, refundSince, resume } from './cancel.server.ts';
import type { BillingDependencies } from './dependencies.ts';
import {
  digest,
  type FetchedSubscription,
  fetchSubscription,
  idOf,
  NotOurs,
  pricesIn,
  readState,
} from './fetch-subscription.server.ts';
import { addNote, deleteNote, pruneNotes } from './notes.server.ts';
import { clearPlannedSwitch } from './planned-switches.server.ts';
import { leadsTo, type Purchase } from './purchases.server.ts';
import { isMissing, throwRefused } from './stripe.server.ts';

/** A subscription as it is stored. */
export interface StoredSubscription {
  readonly grantId: string;
  /** `null`: not a reader of this site, or a deleted account. */
  readonly userId: string | null;
  readonly state: StripeState;
}

/**
 * `announced`: Stripe has announced the next bill; `amount`: the amount of the next bill still has to be read;
 * `announced-amount`: both.
 */
export type ReconcileReason = 'announced' | 'amount' | 'announced-amount';

export interface Subscriptions {
  /**
   * Fetches a subscription, cancels it at Stripe if it must not continue (an abandoned purchase, a lost dispute, a deleted account), and
   * stores the state.
   *
   * @returns the stored subscription; `null` if Stripe has none, or it isn't this site's
   * @throws StripeError
   */
  reconcile(id: string, reason?: ReconcileReason): Promise<StoredSubscription | null>;
  /** As {@link Subscriptions.reconcile}, for all subscriptions of a customer, including ended ones. */
  reconcileCustomer(customer: string): Promise<void>;
  get(id: string): Promise<StoredSubscription | null>;
  /** All of a reader's subscriptions as they are stored, including ended ones. */
  statesOf(userId: string): Promise<readonly StripeState[]>;
  /** The stored subscription of a reader that runs: the one with this id; without an id, of several the one that is shown. */
  running(userId: string, id?: string): Promise<StripeState | null>;
  /** As {@link Subscriptions.running}, or the one with this id, as Stripe has it now. @throws Refused where there is none */
  reconcileRunning(userId: string, id?: string): Promise<StoredSubscription>;
}

type Dependencies = Omit<BillingDependencies, 'subscriptions' | 'limiter' | 'promotions' | 'siteUrl' | 'tax'>;

/** Milliseconds until the preview of the next bill is tried again after Stripe couldn't make one. */
const previewAgainMs = 5 * 60_000;

export function createSubscriptions(dependencies: Dependencies): Subscriptions {
  const { stripe, database, rules, now } = dependencies;
  const { db } = database;
  const withLock = createKeyedMutex();
  const reconcile: Subscriptions['reconcile'] = (id, reason) =>
    withLock(id, () => reconcileSubscription(dependencies, id, reason));
  const running: Subscriptions['running'] = async (userId, id) => {
    const states = await statesOfUser(db, userId);
    const wanted = states.filter((state) => isRunning(state) && (id === undefined || state.id === id));
    return mainSubscription(wanted, now(), rules.graceDays);
  };

  return {
    reconcile,
    running,
    statesOf: (userId) => statesOfUser(db, userId),
    get: (id) => getStored(db, id),
    async reconcileCustomer(customer) {
      for await (const { id } of stripe.subscriptions.list({ customer, status: 'all', limit: 100 }))
        await reconcile(id);
    },
    async reconcileRunning(userId, id) {
      const known = await running(userId, id);
      const fresh = known && (await reconcile(known.id));
      if (fresh && isRunning(fresh.state)) return fresh;
      return throwRefused(404, messages.noSubscription, { code: 'no_subscription' });
    },
  };
}

async function getStored(db: Queries, id: string): Promise<StoredSubscription | null> {
  const row = await db
    .selectFrom('subscriptions')
    .select(['grant_id', 'user_id', 'state'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row?.state) return null;
  return { grantId: row.grant_id, userId: row.user_id, state: JSON.parse(row.state) as StripeState };
}

/** As {@link Subscriptions.statesOf}, within a transaction. */
export async function statesOfUser(db: Queries, userId: string): Promise<readonly StripeState[]> {
  const rows = await db.selectFrom('subscriptions').select('state').where('user_id', '=', userId).execute();
  return rows.flatMap(({ state }) => (state === null ? [] : [JSON.parse(state) as StripeState]));
}

async function reconcileSubscription(
  dependencies: Dependencies,
  id: string,
  reason?: ReconcileReason,
): Promise<StoredSubscription | null> {
  const { database, jobs, log, now, outbox } = dependencies;
  const request = await numberRequest(dependencies, id);
  const found = await fetchAndAct(dependencies, id, reason).catch(async (error: unknown) => {
    if (!isMissing(error) && !(error instanceof NotOurs)) throw error;
    if (error instanceof NotOurs) log.debug({ subscription: id }, error.message);
    await database.db.deleteFrom('subscriptions').where('id', '=', id).where('state', 'is', null).execute();
    return null;
  });
  if (found === null) return null;
  const { state, userId } = found;
  const isAnnounced = reason === 'announced' || reason === 'announced-amount';
  if (state.amountPending) {
    const kind = isAnnounced ? 'announced-amount' : 'amount';
    await jobs.add(database.db, { kind, subject: id, once: true, due: now() + previewAgainMs });
  }
  const written = await store(dependencies, { id, request, found, isAnnounced });
  if (written === null) {
    // Another process sent a later request and stored its answer first: it is unknown which answer is newer, so the subscription
    // is fetched again.
    await jobs.add(database.db, { kind: 'subscription', subject: id, once: true });
    return getStored(database.db, id);
  }
  outbox.nudge();
  for (const dispute of written.disputes)
    log.warn({ dispute, subscription: id }, 'A payment is disputed; answer it in Stripe’s dashboard');
  return { grantId: written.grantId, userId, state };
}

/** Assigns a number to a request to Stripe; creates the row if there is none. */
async function numberRequest({ database: { db }, now }: Dependencies, id: string): Promise<number> {
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
    .onConflict((conflict) => conflict.column('id').doUpdateSet((is) => ({ asked: is('subscriptions.asked', '+', 1) })))
    .returning('asked')
    .executeTakeFirstOrThrow();
  return row.asked;
}

/** @throws NotOurs, StripeError */
async function fetchAndAct(dependencies: Dependencies, id: string, reason?: ReconcileReason) {
  const { catalog, database } = dependencies;
  const needsAmount = reason === 'amount' || reason === 'announced-amount';
  let fetched = await fetchSubscription(dependencies, id, needsAmount);
  await catalog.learn(pricesIn(fetched));
  const before = fetched.upcoming === undefined ? ((await getStored(database.db, id))?.state ?? null) : null;
  let state = readState(fetched, catalog.known, before);
  const acted =
    (await cancelAbandoned(dependencies, state)) ||
    (await useConfirmedCard(dependencies, fetched, state)) ||
    (await cancelLost(dependencies, state)) ||
    (await settleUpgraded(dependencies, state)) ||
    (await refundDeletedReader(dependencies, fetched, state));
  if (acted) {
    fetched = await fetchSubscription(dependencies, id);
    state = readState(fetched, catalog.known, before);
  }
  const { subscription, invoices } = fetched;
  return {
    state,
    digest: digest(subscription, invoices[0]?.id ?? null),
    userId: await ownerOf(dependencies, fetched),
  };
}

/** Cancels a subscription whose purchase was abandoned: it must not be paid, and gives no free access. */
async function cancelAbandoned({ stripe, purchases, log }: Dependencies, state: StripeState): Promise<boolean> {
  const purchase = state.purchase === null ? null : await purchases.get(state.purchase);
  if (purchase?.state !== 'given up') return false;
  const isPaid = state.invoices.some(({ paid }) => paid > 0);
  if (isPaid || (state.status !== 'incomplete' && !isLive(state))) return false;
  log.warn({ subscription: state.id }, 'A subscription whose purchase was abandoned is canceled');
  await cancelUnpaid(stripe, state.id);
  return true;
}

/**
 * Makes a card that the bank has confirmed the default of a subscription that has none: it was bought with nothing due, by a version that
 * left this to Stripe, which charges only a default.
 */
async function useConfirmedCard(
  { stripe, log }: Dependencies,
  {
    subscription: { id, default_payment_method: own, pending_setup_intent: pending },
    card: hasCard,
  }: FetchedSubscription,
  state: StripeState,
): Promise<boolean> {
  if (hasCard || own !== null || pending !== null || !isLive(state)) return false;
  const [setups, attached] = await Promise.all([
    stripe.setupIntents.list({ customer: state.customer, limit: 100 }),
    stripe.paymentMethods.list({ customer: state.customer, limit: 100 }),
  ]);
  const confirmed = new Set(
    setups.data.flatMap(({ status, payment_method: of }) => (status === 'succeeded' ? [idOf(of)] : [])),
  );
  const card = attached.data.find((method) => confirmed.has(method.id));
  if (!card) return false;
  log.warn(
    { subscription: id },
    'A subscription without a card for its next bill gets the one that the bank has confirmed',
  );
  await stripe.subscriptions.update(id, { default_payment_method: card.id });
  return true;
}

/** Cancels after a lost dispute: the reader isn't charged again, and may subscribe again. */
async function cancelLost({ stripe, log }: Dependencies, state: StripeState): Promise<boolean> {
  if (!isLive(state) || !isLost(state)) return false;
  log.warn({ subscription: state.id }, 'A dispute is lost; its subscription is canceled');
  await cancelNow(stripe, state.id);
  return true;
}

/** After an upgrade is paid: reverts an earlier cancellation, and removes the record of an earlier planned change. */
async function settleUpgraded({ stripe, database }: Dependencies, state: StripeState): Promise<boolean> {
  if (!(isEnding(state) || state.planned) || !isRunning(state) || state.schedule !== null) return false;
  const change = await database.db
    .selectFrom('purchases')
    .selectAll()
    .where('state', '=', 'open')
    .where('kind', '=', 'switch')
    .where('subscription', '=', state.id)
    .executeTakeFirst();
  if (!change || outcomeOf(change, state) !== 'done') return false;
  await resume(stripe, state);
  await clearPlannedSwitch(stripe, state);
  return true;
}

/** Refunds what a deleted reader was charged, and cancels. */
async function refundDeletedReader(
  { stripe, customers, log }: Dependencies,
  { charges }: FetchedSubscription,
  state: StripeState,
): Promise<boolean> {
  if ((await customers.userOf(state.customer)) !== null) return false;
  const since = await customers.chargeableUntil(state.customer);
  if (since === null) return false;
  const count = await refundSince({ stripe, log }, charges, since);
  if (isLive(state)) await cancelNow(stripe, state.id);
  return count > 0 || isLive(state);
}

/** The reader of a subscription, from our own row, or from Stripe's metadata where ours was lost. */
async function ownerOf(
  { database: { db }, customers }: Dependencies,
  { subscription }: FetchedSubscription,
): Promise<string | null> {
  const customer = idOf(subscription.customer) ?? '';
  const known = await customers.userOf(customer);
  const noted = subscription.metadata.user;
  if (known !== null || !noted || (await customers.isForgotten(customer))) return known;
  const user = await db.selectFrom('users').select('id').where('id', '=', noted).executeTakeFirst();
  if (!user) return null;
  // Subscriptions paid through a customer who was deleted at Stripe still belong to the reader.
  if (await customers.isDropped(customer)) return noted;
  await customers.adopt(noted, customer);
  return customers.userOf(customer);
}

interface StateToStore {
  readonly id: string;
  /** Number of the request. */
  readonly request: number;
  readonly found: Awaited<ReturnType<typeof fetchAndAct>>;
  readonly isAnnounced: boolean;
}

/** @returns the access grant and the new disputes; `null` if a later request was already answered */
async function store(dependencies: Dependencies, { id, request, found, isAnnounced }: StateToStore) {
  const { database, now } = dependencies;
  const { state, userId } = found;
  return database.transaction(async (tx) => {
    const row = await tx
      .updateTable('subscriptions')
      .set({
        customer: state.customer,
        state: JSON.stringify(state),
        answered: request,
        updated: now(),
        digest: found.digest,
        renews: renewsAt(state),
        // If the reader was deleted in the meantime, the row must not name the reader again.
        user_id: userId,
      })
      .where('id', '=', id)
      .where('answered', '<', request)
      .returning('grant_id')
      .executeTakeFirst();
    if (!row) return null;
    await endPurchases(dependencies, tx, state);
    if (userId !== null) await queueNotices(dependencies, tx, userId, state, isAnnounced);
    return { grantId: row.grant_id, disputes: await noteDisputes(tx, state, now()) };
  });
}

/** Ends purchases that are paid, and those that never will be. */
async function endPurchases({ purchases }: Dependencies, tx: AccountsTransaction, state: StripeState): Promise<void> {
  const open = await tx
    .selectFrom('purchases')
    .selectAll()
    .where('state', '=', 'open')
    .where((is) => is.or([is('subscription', '=', state.id), is('id', '=', state.purchase ?? '')]))
    .execute();
  for (const purchase of open) {
    const outcome = outcomeOf(purchase, state);
    if (outcome) await purchases.end(tx, purchase.id, outcome);
  }
}

/** Queues the mail that a state causes, each message once. */
async function queueNotices(
  { outbox, rules, now }: Dependencies,
  tx: AccountsTransaction,
  userId: string,
  state: StripeState,
  isAnnounced: boolean,
): Promise<void> {
  if (isRunning(state) && !isEnding(state)) {
    // A reader who cancels, resumes and cancels again gets mail both times.
    await tx.deleteFrom('billing_notices').where('key', '=', cancelledKey(state)).execute();
  }
  // No mail about a subscription that never began.
  if (awaitsCard(state)) return;
  const open = await tx
    .selectFrom('purchases')
    .select('id')
    .where('state', '=', 'open')
    .where('id', '=', state.purchase ?? '')
    .executeTakeFirst();
  const others = (await statesOfUser(tx, userId)).some(
    (other) => other.id !== state.id && (isRunning(other) || entitlementOf(other, now(), rules.graceDays) !== null),
  );
  const notices = noticesOf(state, now(), rules, { announced: isAnnounced, others }).filter(
    ({ message }) => message.kind !== 'welcome-tier' || !open,
  );
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

/** The outcome of a purchase, by the state of its subscription; `null`: still open. */
function outcomeOf(purchase: Purchase, state: StripeState): 'done' | 'given up' | null {
  if (purchase.kind === 'switch') {
    const isPaid = leadsTo(purchase, state.price) && state.paid.some(({ plan }) => plan === purchase.plan);
    const isPlanned = state.next !== null && leadsTo(purchase, state.next);
    if (isPaid || isPlanned) return 'done';
    return isLive(state) ? null : 'given up';
  }
  if (state.status === 'incomplete') return null;
  const wasPaid = state.invoices.some(({ paid }) => paid > 0);
  if (!isLive(state)) return isSettled(state) && wasPaid ? 'done' : 'given up';
  // A subscription that was paid and refunded still runs, and prevents another purchase.
  return isSettled(state) || wasPaid ? 'done' : null;
}

const disputeKey = (id: string): string => `dispute:${id}`;

/**
 * Stores which of a subscription's disputes are open. A lost one counts as refunded (subscription-model.ts); an open one ends nothing, and
 * operators have to respond in Stripe's dashboard in time.
 *
 * @returns the disputes that are new
 */
async function noteDisputes(
  tx: AccountsTransaction,
  { id, disputes = [] }: Pick<StripeState, 'id' | 'disputes'>,
  now: number,
): Promise<readonly string[]> {
  const fresh: string[] = [];
  for (const { id: dispute, outcome, due } of disputes) {
    const key = disputeKey(dispute);
    if (outcome !== 'open') {
      await deleteNote(tx, key);
      continue;
    }
    if (await addNote(tx, key, JSON.stringify({ subscription: id, due }), now)) fresh.push(dispute);
  }
  return fresh;
}

export async function countOpenDisputes(db: Queries): Promise<number> {
  const { count } = await db
    .selectFrom('billing_notes')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('key', 'like', disputeKey('%'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Longer than a bank needs to decide, in milliseconds. */
const disputeKeptMs = 365 * 24 * 60 * 60 * 1000;

/** Deletes disputes whose end was never reported, for instance of a deleted customer. @param now epoch milliseconds */
export const pruneDisputes = (db: Queries, now: number): Promise<void> =>
  pruneNotes(db, disputeKey(''), now - disputeKeptMs);
