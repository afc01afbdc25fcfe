/** The chores of billing: purchases that were left, renewals to announce, the nightly comparison with Stripe, old rows. */
import type Stripe from 'stripe';
import { idOf } from '../read-state.ts';
import type { Billing } from '../service.ts';
import { isRunning, type StripeState } from '../state.ts';
import type { Parts } from './parts.ts';
import type { Subscribing } from './subscribing.server.ts';
import type { InTurn } from './turns.ts';
import type { Chore } from './worker.server.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** A purchase that nothing happened to for so long is looked at, and after the longer time given up. */
const lookAfterMs = 2 * minute;
const giveUpAfterMs = 45 * minute;
/** Stripe sends an event again for three days; its number is known much longer. */
const eventsKeptMs = 30 * day;
const noticesKeptMs = 800 * day;

export interface Upkeep {
  readonly chores: readonly Chore[];
  reconcile: Billing['reconcile'];
  /** Subscriptions that the last comparison found different; `null` before the first. */
  drift(): number | null;
  /** Looks at all open purchases that were left alone. */
  recover(): Promise<void>;
}

export function createUpkeep(
  parts: Parts,
  { abandon, adopt }: Pick<Subscribing, 'abandon' | 'adopt'>,
  inTurn: InTurn,
): Upkeep {
  const { stripe, database, catalogue, purchases, mirror, questions, rules, log, now } = parts;
  const { db } = database;
  let drift: number | null = null;

  async function recover(): Promise<void> {
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
    const rows = await db
      .selectFrom('subscriptions')
      .select(['id', 'state'])
      .where('user_id', 'is not', null)
      .execute();
    for (const { id, state: text } of rows) {
      const state = text === null ? null : (JSON.parse(text) as StripeState);
      if (!state || !isRunning(state)) continue;
      const left = state.periodEnd - now();
      if (left <= 0 || left > rules.renewalNoticeDays * day) continue;
      const known = await db
        .selectFrom('billing_notices')
        .select('key')
        .where('key', '=', `renewal:${id}:${state.periodEnd}`)
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
  }

  async function reconcile(): ReturnType<Billing['reconcile']> {
    const drifted: string[] = [];
    const unseen = new Map<string, StripeState>();
    for (const { id, state } of await db.selectFrom('subscriptions').select(['id', 'state']).execute()) {
      if (state !== null) unseen.set(id, JSON.parse(state) as StripeState);
    }
    let checked = 0;
    for await (const one of stripe.subscriptions.list({ status: 'all', limit: 100 })) {
      const kept = unseen.get(one.id);
      unseen.delete(one.id);
      if (!kept && !isOurs(one)) continue;
      checked++;
      if (!kept || digestOf(kept) !== digest(one)) drifted.push(one.id);
    }
    // What Stripe does not list any more, such as what was deleted with its customer.
    for (const [id, state] of unseen) if (isRunning(state)) drifted.push(id);
    for (const id of drifted) await questions.ask(db, `subscription:${id}`);
    drift = drifted.length;
    const said = { checked, drifted: drifted.length };
    if (drifted.length > 0)
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

  return {
    chores: [
      { name: 'catalogue', everyMs: minute / 2, run: freshen },
      { name: 'open purchases', everyMs: minute, run: recover },
      { name: 'renewals', everyMs: hour, run: announce },
      { name: 'comparison', everyMs: hour / 2, run: nightly },
      { name: 'old rows', everyMs: day, run: prune },
    ],
    reconcile,
    recover,
    drift: () => drift,
  };
}

/** What a difference would be seen by, without asking for invoices. */
function digest(one: Stripe.Subscription): string {
  const [item] = one.items.data;
  return JSON.stringify([
    ...[one.status, item?.price.id, item?.current_period_end, one.cancel_at_period_end, one.cancel_at],
    idOf(one.latest_invoice),
  ]);
}
function digestOf(state: StripeState): string {
  const seconds = (at: number | null): number | null => (at === null ? null : at / 1000);
  return JSON.stringify([
    ...[state.status, state.price.id, seconds(state.periodEnd), state.cancelAtPeriodEnd, seconds(state.cancelAt)],
    state.invoices[0]?.id ?? null,
  ]);
}
