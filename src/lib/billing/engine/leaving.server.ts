/**
 * Readers who are about to leave: why is noted, one offer is made, and what came of it is kept. None of it stands in the way: without
 * Stripe, or without a coupon, there is no offer, and the cancellation is the same.
 */
import { randomUUID } from 'node:crypto';
import type { Session } from '../../accounts/service.ts';
import type { AccountsTransaction, Queries } from '../../database.ts';
import { detailsOf, type Farewell, leavingReason, longestWords, type StayOffer } from '../leaving.ts';
import type { Billed, Billing, LeavingCount } from '../service.ts';
import { isEnding, isRunning, type StripeState, subscriptionOf } from '../state.ts';
import { billsOffered, offerOf } from '../stay-offer.ts';
import type { Subscription } from '../wire.ts';
import { billed, no, ok, refuse } from './errors.ts';
import { underKey } from './idempotency.ts';
import type { Parts } from './parts.ts';
import type { Running } from './running.server.ts';
import { switchSaid } from './switching.server.ts';
import type { InTurn } from './turns.ts';

export type Leaving = Pick<Billing, 'beginLeaving' | 'stayOffer' | 'stay' | 'cancel' | 'resume' | 'leavingCounts'>;

const day = 24 * 60 * 60 * 1000;
/** What was begun longer ago is another leaving. */
const openMs = day;

export function createLeaving(parts: Parts, running: Pick<Running, 'cancel' | 'resume'>, inTurn: InTurn): Leaving {
  const { stripe, database, mirror, rules, log, now } = parts;
  const { db } = database;

  const runningOf = async (userId: string): Promise<StripeState | null> =>
    (await mirror.ofUser(userId)).find(({ state }) => isRunning(state))?.state ?? null;

  const newestRow = (userId: string) =>
    db
      .selectFrom('cancellations')
      .selectAll()
      .where('user_id', '=', userId)
      .where('created', '>', now() - openMs)
      .orderBy('created', 'desc')
      .executeTakeFirst();

  async function openRow(userId: string) {
    const row = await newestRow(userId);
    return row?.outcome === 'open' ? row : null;
  }

  async function offerFor(userId: string, state: StripeState): Promise<StayOffer | null> {
    const { stay } = rules;
    if (!stay) return null;
    const made = await db
      .selectFrom('cancellations')
      .select('id')
      .where('user_id', '=', userId)
      .where('offer', 'is not', null)
      .where('created', '>', now() - stay.everyDays * day)
      .executeTakeFirst();
    if (made) return null;
    try {
      const coupon = await stripe.coupons.retrieve(stay.coupon, { expand: ['currency_options'] });
      const bills = billsOffered(state, coupon, now());
      if (bills === 0) return null;
      const discounts = [{ coupon: coupon.id }];
      return offerOf(state, coupon, bills, await stripe.invoices.createPreview({ subscription: state.id, discounts }));
    } catch (error) {
      log.warn({ err: error, coupon: stay.coupon }, 'Nothing could be offered to a reader who is about to leave');
      return null;
    }
  }

  async function note(userId: string, state: StripeState, said: Farewell, offer: StayOffer | null): Promise<string> {
    const id = randomUUID();
    await db
      .insertInto('cancellations')
      .values({
        id,
        user_id: userId,
        subscription: state.id,
        plan: state.price.plan,
        ...said,
        offer: offer && JSON.stringify(offer),
        outcome: 'open',
        created: now(),
        updated: now(),
      })
      .execute();
    return id;
  }

  const end = (id: string, outcome: 'stayed' | 'cancelled') =>
    db.updateTable('cancellations').set({ outcome, updated: now() }).where('id', '=', id).execute();

  const shown = (state: StripeState): Billed<Subscription> => ok(subscriptionOf(state, now(), rules.graceDays));

  async function acceptOffer(session: Session): Promise<Billed<Subscription>> {
    const row = await newestRow(session.userId);
    const state = await runningOf(session.userId);
    if (!state) return no(404, switchSaid.none, { code: 'no_subscription' });
    // Pressed twice: the first has done it.
    if (row?.outcome === 'stayed') return shown(state);
    if (row?.outcome !== 'open' || row.offer === null) return no(409, leavingSaid.over, { code: 'no_offer' });
    const { coupon } = JSON.parse(row.offer) as StayOffer;
    const fresh = (await mirror.sync(state.id))?.state;
    if (!fresh || !isRunning(fresh) || isEnding(fresh) || row.subscription !== fresh.id) {
      return refuse(409, leavingSaid.over, { code: 'no_offer' });
    }
    const discounts = [{ coupon }];
    await underKey(`stay:${row.id}`, (options) => stripe.subscriptions.update(fresh.id, { discounts }, options));
    await end(row.id, 'stayed');
    return shown((await mirror.sync(fresh.id))?.state ?? fresh);
  }

  async function leave(session: Session, reason: string | null): Promise<Billed<Subscription>> {
    const { userId } = session;
    const [row, state] = await Promise.all([openRow(userId), runningOf(userId)]);
    const known = leavingReason(reason);
    const said: Farewell = row
      ? { reason: leavingReason(row.reason), words: row.words }
      : { reason: known, words: known === null && reason ? reason.slice(0, longestWords) : null };
    const cancelled = await running.cancel(session, detailsOf(said));
    if (!cancelled.ok || !state || isEnding(state)) return cancelled;
    await end(row?.id ?? (await note(userId, state, said, null)), 'cancelled');
    return cancelled;
  }

  return {
    beginLeaving: ({ userId }, { reason, words }) =>
      inTurn(userId, () =>
        billed(async () => {
          const state = await runningOf(userId);
          if (!state) return no(404, switchSaid.none, { code: 'no_subscription' });
          // An old page, from before: who has left leaves no second time.
          if (isEnding(state)) return ok(null);
          const said = { reason, words: words?.trim().slice(0, longestWords) || null };
          const row = await openRow(userId);
          if (row) await db.updateTable('cancellations').set(said).where('id', '=', row.id).execute();
          else await note(userId, state, said, await offerFor(userId, state));
          return ok(null);
        }),
      ),
    async stayOffer({ userId }) {
      const [row, state] = await Promise.all([openRow(userId), runningOf(userId)]);
      const same = row?.offer != null && state?.id === row.subscription && !isEnding(state);
      return same ? (JSON.parse(row.offer as string) as StayOffer) : null;
    },
    stay: (session) => inTurn(session.userId, () => billed(() => acceptOffer(session))),
    // In a turn of its own, around that of the subscription: pressed twice, it is one leaving.
    cancel: (session, reason = null) => inTurn(`leaving ${session.userId}`, () => leave(session, reason)),
    async resume(session) {
      const resumed = await running.resume(session);
      if (!resumed.ok) return resumed;
      await db
        .updateTable('cancellations')
        .set({ outcome: 'resumed', updated: now() })
        .where('user_id', '=', session.userId)
        .where('subscription', '=', resumed.value.id)
        .where('outcome', '=', 'cancelled')
        .execute();
      return resumed;
    },
    async leavingCounts(since) {
      const rows = await db
        .selectFrom('cancellations')
        .select((is) => ['reason', 'outcome', is.fn.countAll<number | string | bigint>().as('count')])
        .where('created', '>=', since)
        .groupBy(['reason', 'outcome'])
        .execute();
      return rows.map(
        ({ reason, outcome, count }): LeavingCount => ({
          reason: leavingReason(reason) ?? (reason === null ? 'skipped' : 'other'),
          outcome,
          count: Number(count),
        }),
      );
    },
  };
}

const leavingSaid = { over: 'This offer is not open any more. Your subscription is as it was.' } as const;

/** What is kept of a reader's leaving, for the export. */
export async function leavingOf(db: Queries, userId: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const rows = await db.selectFrom('cancellations').selectAll().where('user_id', '=', userId).execute();
  return rows.map(({ plan, reason, words, offer, outcome, created }) => ({
    plan,
    reason,
    words,
    outcome,
    offered: offer !== null,
    time: new Date(created).toISOString(),
  }));
}

/** The counts stay, without a name and without words. */
export async function forgetLeaving(tx: AccountsTransaction, userId: string): Promise<void> {
  await tx.updateTable('cancellations').set({ user_id: null, words: null }).where('user_id', '=', userId).execute();
}
