/** The chores of billing: purchases that were left, renewals to announce, the nightly comparison with Stripe, old rows. */
import Stripe from 'stripe';
import { digest } from '../read-state.ts';
import type { Billing } from '../service.ts';
import { isLive } from '../status.ts';
import { pruneDisputes } from './disputes.server.ts';
import type { Parts } from './parts.ts';
import { findWalletProblem } from './payment-domains.server.ts';
import { prunePromotions } from './promotions.server.ts';
import { pruneRefusals } from './refusals.server.ts';
import type { Subscribing } from './subscribing.server.ts';
import type { InTurn } from './turns.ts';
import { subjectOf } from './webhooks.server.ts';
import type { Chore } from './worker.server.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** A purchase that nothing happened to for so long is looked at, and after the longer time given up. */
const lookAfterMs = 2 * minute;
const giveUpAfterMs = 45 * minute;
/** Stripe sends an event again for three days; its number is known much longer. */
const eventsKeptMs = 30 * day;
/** Refunds, disputes and plans for later leave the subscription itself, as a list of them has it, as it was. */
const unlisted = [
  ...(['charge.refunded', 'charge.refund.updated', 'charge.dispute.created', 'charge.dispute.closed'] as const),
  ...(['subscription_schedule.created', 'subscription_schedule.updated', 'subscription_schedule.released'] as const),
  ...(['subscription_schedule.canceled', 'setup_intent.succeeded', 'invoice.voided'] as const),
] as const;
const noticesKeptMs = 800 * day;

export interface Upkeep {
  readonly chores: readonly Chore[];
  reconcile: Billing['reconcile'];
  /** Subscriptions that the last comparison found different; `null` before the first. */
  drift(): number | null;
  /** Why readers see no wallets' buttons, for operators; `null`: they do, or it isn't known yet. */
  walletProblem(): string | null;
  /** Looks at all open purchases that were left alone. */
  recover(): Promise<void>;
}

export function createUpkeep(
  parts: Parts,
  { abandon, adopt }: Pick<Subscribing, 'abandon' | 'adopt'>,
  inTurn: InTurn,
  forget: (userId: string) => Promise<void>,
): Upkeep {
  const { stripe, database, catalogue, purchases, mirror, questions, rules, siteUrl, log, now } = parts;
  const { db } = database;
  let drift: number | null = null;
  let walletProblem: string | null = null;

  /** Deletions that were cut off after the account was gone: what its reader was buying meanwhile is ended, and refunded. */
  async function forgetLeft(): Promise<void> {
    for (const userId of await purchases.left(50)) {
      await forget(userId).catch((error: unknown) => log.warn({ err: error }, 'A deletion could not be finished yet'));
    }
  }

  async function recover(): Promise<void> {
    await forgetLeft();
    for (const { id, user_id: user } of await purchases.idle(now() - lookAfterMs, 50)) {
      await inTurn(user ?? id, async () => {
        const left = await purchases.get(id);
        // The reader has gone on meanwhile.
        if (left?.state !== 'open' || left.updated >= now() - lookAfterMs) return;
        const purchase = await adopt(left);
        if (purchase.subscription !== null) await mirror.sync(purchase.subscription);
        if (left.updated < now() - giveUpAfterMs && (await purchases.get(id))?.state === 'open')
          await abandon(purchase);
      }).catch((error: unknown) => log.warn({ err: error, purchase: id }, 'An open purchase could not be looked at'));
    }
  }

  /** Renewals that are near by our own calendar; Stripe announces them by its own besides. */
  async function announce(): Promise<void> {
    const near = await db
      .selectFrom('subscriptions')
      .select(['id', 'renews'])
      .where('user_id', 'is not', null)
      .where('renews', '>', now())
      .where('renews', '<=', now() + rules.renewalNoticeDays * day)
      .execute();
    for (const { id, renews } of near) {
      const known = await db
        .selectFrom('billing_notices')
        .select('key')
        .where('key', '=', `renewal:${id}:${renews}`)
        .executeTakeFirst();
      // Said from Stripe's state of now, not from an old one.
      if (!known) await questions.ask(db, `subscription:${id}`);
    }
  }

  async function prune(): Promise<void> {
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
    await pruneRefusals(parts, now() - eventsKeptMs);
  }

  /** Events of what no list of subscriptions shows, that never came here: they are asked about as if they had. @returns how many */
  async function missed(): Promise<number> {
    let count = 0;
    const since = Math.floor((now() - eventsKeptMs) / 1000);
    for await (const event of stripe.events.list({ types: [...unlisted], created: { gte: since }, limit: 100 })) {
      const subject = subjectOf(event.type, event.data.object as Parameters<typeof subjectOf>[1]);
      if (subject === null) continue;
      const fresh = await database.transaction(async (tx) => {
        const row = await tx
          .insertInto('stripe_events')
          .values({ id: event.id, type: event.type, received: now() })
          .onConflict((conflict) => conflict.column('id').doNothing())
          .returning('id')
          .executeTakeFirst();
        if (row) await questions.ask(tx, subject);
        return row !== undefined;
      });
      if (fresh) count++;
    }
    return count;
  }

  async function reconcile(): ReturnType<Billing['reconcile']> {
    const drifted: string[] = [];
    const lost = await missed();
    const rows = await db
      .selectFrom('subscriptions')
      .select(['id', 'digest'])
      .where('digest', 'is not', null)
      .execute();
    const unseen = new Map(rows.map(({ id, digest: kept }) => [id, kept ?? '']));
    let checked = 0;
    for await (const one of stripe.subscriptions.list({ status: 'all', limit: 100 })) {
      const kept = unseen.get(one.id) ?? null;
      unseen.delete(one.id);
      if (kept === null && !isOurs(one)) continue;
      checked++;
      if (kept !== digest(one)) drifted.push(one.id);
    }
    // What Stripe does not list any more, such as what was deleted with its customer.
    for (const [id, kept] of unseen) {
      const [status] = JSON.parse(kept) as [string];
      if (isLive({ status })) drifted.push(id);
    }
    for (const id of drifted) await questions.ask(db, `subscription:${id}`);
    drift = drifted.length;
    const said = { checked, drifted: drifted.length, lost };
    if (drifted.length + lost > 0)
      log.warn({ ...said, some: drifted.slice(0, 10) }, 'Subscriptions differ from Stripe’s; they are fetched anew');
    else log.info(said, 'All subscriptions are as Stripe has them');
    return { checked, drifted };
  }

  const isOurs = ({ items, metadata }: Stripe.Subscription): boolean =>
    metadata.purchase !== undefined || items.data.some(({ price }) => catalogue.known(price.id) !== null);

  /** Once a night, by whichever process looks first. */
  async function nightly(): Promise<void> {
    const at = now();
    const first = await db
      .insertInto('billing_notes')
      .values({ key: 'compared', value: '', at })
      .onConflict((conflict) => conflict.column('key').doNothing())
      .returning('key')
      .executeTakeFirst();
    // A new house has nothing to compare.
    if (first) return;
    const hours = new Date(at).getUTCHours();
    const { numUpdatedRows } = await db
      .updateTable('billing_notes')
      .set({ at })
      .where('key', '=', 'compared')
      // Between two and six in New York's night; after a day of being away at any hour.
      .where('at', '<', at - (hours >= 7 && hours < 11 ? 12 * hour : 30 * hour))
      .executeTakeFirst();
    if (numUpdatedRows > 0n) await reconcile();
  }

  async function freshen(): Promise<void> {
    await catalogue.load();
    const at = catalogue.fetchedAt();
    if (at === null || at < now() - 10 * minute) await catalogue.refresh();
  }

  /** Readers pay by card without wallets; it is the operators who have to know. */
  async function lookAtDomain(): Promise<void> {
    const problem = await findWalletProblem(stripe, siteUrl).catch((error: unknown) => {
      if (!(error instanceof Stripe.errors.StripePermissionError)) throw error;
      return "STRIPE_SECRET_KEY can't read payment method domains: let it, so that wallets can be checked";
    });
    if (problem !== null && problem !== walletProblem)
      log.warn({ problem }, 'Wallets are not offered as they could be');
    walletProblem = problem;
  }

  return {
    chores: [
      { name: 'catalogue', everyMs: minute / 2, run: freshen },
      { name: 'open purchases', everyMs: minute, run: recover },
      { name: 'renewals', everyMs: hour, run: announce },
      { name: 'comparison', everyMs: hour / 2, run: nightly },
      { name: 'old rows', everyMs: day, run: prune },
      { name: 'wallets', everyMs: hour, run: lookAtDomain },
    ],
    reconcile,
    recover,
    drift: () => drift,
    walletProblem: () => walletProblem,
  };
}
