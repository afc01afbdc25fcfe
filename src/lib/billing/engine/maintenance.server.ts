/** Background tasks of billing: abandoned purchases, renewal notices, the nightly comparison with Stripe, old rows, wallets. */
import Stripe from 'stripe';
import { hourInZone } from '../../day-in-zone.ts';
import type { Billing } from '../service.ts';
import { isLive, noticeFrom, type StripeState } from '../subscription-model.ts';
import { pruneRefusedCards } from './card-attempts.server.ts';
import { adopt, isOurs } from './checkout.server.ts';
import type { BillingDependencies } from './dependencies.ts';
import { digest } from './fetch-subscription.server.ts';
import type { BackgroundTask } from './jobs.server.ts';
import { addNote, findNote } from './notes.server.ts';
import { abandonAndRestore, pruneCancelledBefore } from './plan-switches.server.ts';
import { prunePromotions } from './purchases.server.ts';
import { pruneDisputes } from './subscriptions.server.ts';
import { findWalletProblem } from './wallets.server.ts';
import { jobOf, storeEvent } from './webhooks.server.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** An open purchase is checked after this time without activity, and abandoned after the longer time. */
const lookAfterMs = 2 * minute;
const giveUpAfterMs = 45 * minute;
/** How long ids of events are kept. Stripe retries an event for three days. */
const eventsKeptMs = 30 * day;
const noticesKeptMs = 800 * day;
/** Most purchases in one round. */
const step = 50;
/** Events that don't change a subscription in Stripe's list. */
const unlisted = [
  ...(['charge.refunded', 'charge.refund.updated', 'charge.dispute.created', 'charge.dispute.closed'] as const),
  ...(['subscription_schedule.created', 'subscription_schedule.updated', 'subscription_schedule.released'] as const),
  ...(['subscription_schedule.canceled', 'setup_intent.succeeded', 'invoice.voided'] as const),
] as const;

export interface Maintenance {
  readonly tasks: readonly BackgroundTask[];
  compare: Billing['compare'];
  /** Subscriptions that the last comparison found different; `null` before the first. */
  drift(): number | null;
  /** Why readers see no wallet buttons, for operators; `null`: they do, or it isn't known yet. */
  walletProblem(): string | null;
  /** Handles all open purchases without recent activity. @throws the signal's reason when it is aborted */
  recover(signal?: AbortSignal): Promise<void>;
}

/** @param forget see personal-data.server.ts @param checkKey see account.server.ts */
export function createMaintenance(
  dependencies: BillingDependencies,
  forget: (userId: string) => Promise<void>,
  checkKey: () => Promise<void>,
): Maintenance {
  const state: { drift: number | null; walletProblem: string | null } = { drift: null, walletProblem: null };
  const recover = (signal?: AbortSignal) => recoverPurchases(dependencies, forget, signal);
  async function compare(signal?: AbortSignal): ReturnType<Billing['compare']> {
    const outcome = await compareAll(dependencies, signal);
    state.drift = outcome.drifted.length;
    return outcome;
  }
  return {
    tasks: [
      { name: 'key', everyMs: minute, run: checkKey },
      { name: 'catalog', everyMs: minute / 2, run: () => refreshCatalog(dependencies) },
      { name: 'open purchases', everyMs: minute, run: recover },
      { name: 'renewals', everyMs: hour, run: (signal) => queueRenewals(dependencies, signal) },
      {
        name: 'comparison',
        everyMs: hour / 2,
        run: (signal) => compareAtNight(dependencies, () => compare(signal)),
      },
      { name: 'old rows', everyMs: day, run: () => prune(dependencies) },
      {
        name: 'wallets',
        everyMs: hour,
        async run() {
          const problem = await checkWallets(dependencies);
          if (problem !== null && problem !== state.walletProblem)
            dependencies.log.warn({ problem }, 'Readers see no wallet buttons, or not all of them');
          state.walletProblem = problem;
        },
      },
    ],
    compare,
    recover,
    drift: () => state.drift,
    walletProblem: () => state.walletProblem,
  };
}

async function recoverPurchases(
  dependencies: BillingDependencies,
  forget: (userId: string) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const { purchases, subscriptions, withLock, log, now } = dependencies;
  // Finishes deletions that were interrupted: ends and refunds what the reader was buying.
  for (const userId of await purchases.usersOfDeletedAccounts(step)) {
    signal?.throwIfAborted();
    await forget(userId).catch((error: unknown) => log.warn({ err: error }, 'A deletion could not be finished yet'));
  }
  for (const { id, user_id: user } of await purchases.idle(now() - lookAfterMs, step)) {
    signal?.throwIfAborted();
    await withLock(user ?? id, async () => {
      const open = await purchases.get(id);
      // The reader has continued.
      if (open?.state !== 'open' || open.updated >= now() - lookAfterMs) return;
      const purchase = await adopt(dependencies, open);
      if (purchase.subscription !== null) await subscriptions.reconcile(purchase.subscription);
      if (open.updated < now() - giveUpAfterMs && (await purchases.get(id))?.state === 'open')
        await abandonAndRestore(dependencies, purchase);
    }).catch((error: unknown) => log.warn({ err: error, purchase: id }, 'An open purchase could not be recovered'));
  }
}

/** Adds jobs for renewals that are near by our own calendar, in addition to Stripe's announcements. */
async function queueRenewals(
  { database: { db }, jobs, rules, now }: BillingDependencies,
  signal: AbortSignal,
): Promise<void> {
  const near = await db
    .selectFrom('subscriptions')
    .select(['id', 'renews', 'state'])
    .where('user_id', 'is not', null)
    .where('renews', '>', now())
    .where('renews', '<=', now() + rules.renewalNoticeDays * day)
    .execute();
  for (const { id, renews, state } of near) {
    signal.throwIfAborted();
    const known = state === null ? null : (JSON.parse(state) as StripeState);
    if (!known || now() < noticeFrom(known, rules.renewalNoticeDays, false)) continue;
    const sent = await db
      .selectFrom('billing_notices')
      .select('key')
      .where('key', '=', `renewal:${id}:${renews}`)
      .executeTakeFirst();
    // The job fetches the subscription, so that the notice has Stripe's current amount.
    if (!sent) await jobs.add(db, { kind: 'subscription', subject: id, once: true });
  }
}

async function prune({ database: { db }, now }: BillingDependencies): Promise<void> {
  await db
    .deleteFrom('stripe_events')
    .where('received', '<', now() - eventsKeptMs)
    .execute();
  await db
    .deleteFrom('billing_notices')
    .where('at', '<', now() - noticesKeptMs)
    .execute();
  await prunePromotions(db, now());
  await pruneDisputes(db, now());
  await pruneCancelledBefore(db, now() - eventsKeptMs);
  await pruneRefusedCards(db, now() - eventsKeptMs);
}

/** Adds the jobs of events that never arrived and whose effect isn't visible in the list of subscriptions. @returns how many */
async function queueMissedEvents(
  { stripe, database, jobs, now }: BillingDependencies,
  signal?: AbortSignal,
): Promise<number> {
  let count = 0;
  const since = Math.floor((now() - eventsKeptMs) / 1000);
  for await (const event of stripe.events.list({ types: [...unlisted], created: { gte: since }, limit: 100 })) {
    signal?.throwIfAborted();
    const job = jobOf(event.type, event.data.object as Parameters<typeof jobOf>[1]);
    if (job === null) continue;
    if (await database.transaction((tx) => storeEvent({ jobs, now }, tx, event, job))) count++;
  }
  return count;
}

/** Compares every stored subscription with Stripe's, and adds a job for each that differs. */
async function compareAll(dependencies: BillingDependencies, signal?: AbortSignal): ReturnType<Billing['compare']> {
  const { stripe, database, jobs, log } = dependencies;
  const drifted: string[] = [];
  const missed = await queueMissedEvents(dependencies, signal);
  const rows = await database.db
    .selectFrom('subscriptions')
    .select(['id', 'digest'])
    .where('digest', 'is not', null)
    .execute();
  const unseen = new Map(rows.map(({ id, digest: stored }) => [id, stored ?? '']));
  let checked = 0;
  for await (const one of stripe.subscriptions.list({ status: 'all', limit: 100 })) {
    signal?.throwIfAborted();
    const stored = unseen.get(one.id) ?? null;
    unseen.delete(one.id);
    if (stored === null && !isOurs(dependencies, one)) continue;
    checked++;
    if (stored !== digest(one)) drifted.push(one.id);
  }
  // Subscriptions that Stripe no longer lists, for instance of deleted customers.
  for (const [id, stored] of unseen) {
    const [status] = JSON.parse(stored) as [string];
    if (isLive({ status })) drifted.push(id);
  }
  for (const id of drifted) await jobs.add(database.db, { kind: 'subscription', subject: id, once: true });
  const outcome = { checked, drifted: drifted.length, missed };
  if (drifted.length + missed > 0)
    log.warn(
      { ...outcome, some: drifted.slice(0, 10) },
      'Stored subscriptions differ from Stripe’s; they are fetched again',
    );
  else log.info(outcome, 'All stored subscriptions match Stripe’s');
  return { checked, drifted };
}

/** The note's time is that of the last comparison, its value the end of a running one's claim; empty: none runs. */
const comparedKey = 'compared';
/** A comparison whose process died is due again after this time. */
const comparingMs = hour;

/** Compares once a night, in one process; half an hour after a failed comparison it tries again. */
async function compareAtNight(dependencies: BillingDependencies, compare: () => Promise<unknown>): Promise<void> {
  const claim = await claimComparison(dependencies);
  if (claim === null) return;
  try {
    await compare();
  } catch (error) {
    await endComparison(dependencies, claim.until, claim.before);
    throw error;
  }
  await endComparison(dependencies, claim.until, claim.at);
}

/** @returns the time of the last comparison, this one's, and the end of its claim; `null`: not due, or another process is comparing */
async function claimComparison({
  database: { db },
  now,
}: BillingDependencies): Promise<{ readonly before: number; readonly at: number; readonly until: string } | null> {
  const at = now();
  // On a new site there is nothing to compare.
  if (await addNote(db, comparedKey, '', at)) return null;
  const last = await findNote(db, comparedKey);
  const local = hourInZone(at);
  // Between two and six at night in the paper's zone; at any hour after more than a day without a comparison.
  const everyMs = local >= 2 && local < 6 ? 12 * hour : 30 * hour;
  if (!last || last.at >= at - everyMs || Number(last.value) > at) return null;
  const until = String(at + comparingMs);
  const { numUpdatedRows } = await db
    .updateTable('billing_notes')
    .set({ value: until })
    .where('key', '=', comparedKey)
    .where('at', '=', last.at)
    .where('value', '=', last.value)
    .executeTakeFirst();
  return numUpdatedRows > 0n ? { before: last.at, at, until } : null;
}

/** Stores the time of the last comparison, unless another process compares since this one's claim has ended. */
async function endComparison({ database: { db } }: BillingDependencies, until: string, at: number): Promise<void> {
  await db
    .updateTable('billing_notes')
    .set({ value: '', at })
    .where('key', '=', comparedKey)
    .where('value', '=', until)
    .execute();
}

async function refreshCatalog({ catalog, now }: BillingDependencies): Promise<void> {
  await catalog.load();
  const at = catalog.fetchedAt();
  if (at === null || at < now() - 10 * minute) await catalog.refresh();
}

/** Finds out why readers see no wallets, for operators. */
function checkWallets({ stripe, siteUrl }: BillingDependencies): Promise<string | null> {
  return findWalletProblem(stripe, siteUrl).catch((error: unknown) => {
    if (!(error instanceof Stripe.errors.StripePermissionError)) throw error;
    return 'STRIPE_SECRET_KEY can’t read payment method domains: allow it, so that wallets can be checked';
  });
}
