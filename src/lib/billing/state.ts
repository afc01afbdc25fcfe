/**
 * What is known of a subscription, and what follows from it. Everything here is pure: the same state and the same time give the same
 * answer, wherever it is asked.
 */
import { publication } from '../../publication.ts';
import { tierRank } from '../accounts/session.ts';
import type { Entitlement } from './service.ts';
import { isInGoodStanding, isLive, isOverdue, isUnpaid, mayRenew, type StripeStatus } from './status.ts';
import type { Price, Subscription, Tax } from './wire.ts';

/** A price as it is kept beside what was bought at it; it may have left the catalogue since. */
export interface KnownPrice {
  readonly id: string;
  /** `zephrPlanId`. */
  readonly plan: string;
  readonly name: string;
  /** `zephr_product_id`. */
  readonly product: string;
  readonly print: boolean;
  /** Minor units. */
  readonly amount: number;
  readonly currency: string;
  readonly interval: Price['recurring']['interval'];
  readonly count: number;
  /** Minor units in the other currencies that it is sold in. */
  readonly currencies?: Readonly<Record<string, number>>;
  /** `prod_…`, which coupons may be restricted to; what was kept long ago does not have it. */
  readonly productId?: string;
}

/** A time that an invoice has paid for. Times are epoch milliseconds. */
export interface PaidTime {
  readonly plan: string;
  readonly product: string;
  readonly print: boolean;
  readonly until: number;
  /** Whether no money was taken for it, also where a small sum is added to the next bill: it ends with its subscription. */
  readonly free: boolean;
}

export interface InvoiceState {
  readonly id: string;
  readonly status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible';
  /** Stripe's `billing_reason`. */
  readonly reason: string | null;
  /** Minor units. */
  readonly due: number;
  readonly paid: number;
  /** Tax within it. Absent: none was worked out. */
  readonly tax?: Tax | null;
  readonly currency: string;
  /** Whether all that was paid went back: given back by the paper, or taken back by a bank for good. */
  readonly refunded: boolean;
  readonly created: number;
  readonly paidAt: number | null;
  /** Whether its payment was tried. */
  readonly attempted: boolean;
  readonly nextAttempt: number | null;
  /** Whether it was made while collection was paused, and is never collected. Absent: no. */
  readonly held?: boolean;
}

/** A payment that the card's owner has the bank take back. */
export interface DisputeState {
  /** `dp_…`. */
  readonly id: string;
  readonly invoice: string;
  /** Where it is open the money is away and may come back; what was lost does not. */
  readonly outcome: 'open' | 'won' | 'lost';
  /** Until when the paper may answer. */
  readonly due: number | null;
}

/** A pause of collection: the subscription stays active and its periods go on, but no invoice of them is collected. */
export interface CollectionPause {
  /** What Stripe does with the invoices meanwhile. */
  readonly behavior: 'keep_as_draft' | 'mark_uncollectible' | 'void';
  /** When collection begins again; `null`: when the publisher says so. */
  readonly resumesAt: number | null;
}

/** One subscription, with its invoices, as Stripe said it. Times are epoch milliseconds, amounts minor units. */
export interface StripeState {
  readonly id: string;
  readonly customer: string;
  readonly status: StripeStatus;
  readonly created: number;
  /** `si_…`. */
  readonly item: string;
  readonly price: KnownPrice;
  /** From the next bill on, where a change is planned. */
  readonly next: KnownPrice | null;
  /** What the next bill will be by Stripe's preview, discounts, credit and tax included. The list price where none will come. */
  readonly nextAmount: number;
  /** Tax within it. Absent: none is worked out. */
  readonly nextTax?: Tax | null;
  /** Whether the next amount is an earlier one, or the list price, until Stripe is asked again. Absent: no. */
  readonly amountPending?: boolean;
  readonly paid: readonly PaidTime[];
  readonly periodStart: number;
  readonly periodEnd: number;
  /** End of a first time for less, or for nothing. */
  readonly trialEnd: number | null;
  /** `to_…` of the Trial Offer that it is in; `null`: none. Absent from old rows, whose trials are Stripe's legacy ones. */
  readonly offer?: string | null;
  readonly cancelAtPeriodEnd: boolean;
  readonly cancelAt: number | null;
  readonly endedAt: number | null;
  /** While the publisher collects nothing (Stripe's `pause_collection`); `null`: it is billed as usual. Absent from old rows. */
  readonly pause?: CollectionPause | null;
  readonly schedule: string | null;
  /** `di_…` of the discounts that it has. Absent from old rows. */
  readonly discounts?: readonly string[];
  /** `seti_…`: a card is still to be confirmed for later. */
  readonly pendingSetup: string | null;
  /** `false`: no money was taken, and Stripe keeps no card for the bills to come. Unknown of what was read long ago. */
  readonly card?: boolean;
  /** Newest first; those that matter now. */
  readonly invoices: readonly InvoiceState[];
  /** Of all invoices that were looked at. */
  readonly disputes?: readonly DisputeState[];
  /** Our own number of the purchase, from its metadata. */
  readonly purchase: string | null;
  /** Plan of a promotion that it began with. */
  readonly promotion: string | null;
  /** Plan that was to follow when the reader cancelled, from its metadata: resuming plans it again. */
  readonly planned?: string | null;
}

const day = 24 * 60 * 60 * 1000;

/** The more it opens, the higher: print ranks above the same tier without it. */
export const rankOf = ({ product, print }: { readonly product: string; readonly print: boolean }): number =>
  tierRank(product) * 2 + (print ? 1 : 0);

/**
 * Whether it still waits for its card: nothing was paid with money, and no card is set up. Stripe calls it active or trialing all
 * the same. A card that is replaced later closes nothing that was paid for.
 */
export const awaitsCard = ({
  pendingSetup,
  card = true,
  invoices,
  paid,
}: Pick<StripeState, 'pendingSetup' | 'card' | 'invoices' | 'paid'>): boolean =>
  (pendingSetup !== null || !card) && !invoices.some((one) => one.paid > 0) && !paid.some(({ free }) => !free);

/** Whether it will be, or may yet be, billed again: what the reader can cancel, switch or resume. */
export const isRunning = (state: StripeState): boolean => isLive(state) && !awaitsCard(state);

/** Whether it has begun: the card is set up, and the first bill is paid or nothing was due. Nothing is open before. */
export const isSettled = (state: StripeState): boolean =>
  !isUnpaid(state) && state.paid.length > 0 && !awaitsCard(state);

/** Whether it ends by itself with what is paid. */
export const isEnding = (state: Pick<StripeState, 'cancelAtPeriodEnd' | 'cancelAt'>): boolean =>
  state.cancelAtPeriodEnd || state.cancelAt !== null;

/** Whether the publisher collects nothing at present. It ends by itself at `resumesAt`. */
export const isPaused = ({ pause }: Pick<StripeState, 'pause'>): boolean => (pause ?? null) !== null;

/** Whether the bill of the present period was never collected, because of a pause that may be over. */
export const isUncollected = ({ invoices, periodStart }: Pick<StripeState, 'invoices' | 'periodStart'>): boolean =>
  invoices.some(({ held, created }) => held && created >= periodStart);

/** Whether it is in its first time for less. A paid Trial Offer is active for Stripe, a legacy trial is trialing. */
export const isInTrial = ({ status, trialEnd }: Pick<StripeState, 'status' | 'trialEnd'>, now: number): boolean =>
  isInGoodStanding({ status }) && trialEnd !== null && now < trialEnd;

/** When a paid time of this subscription ends. */
const endOf = (state: StripeState, time: PaidTime): number =>
  state.status === 'canceled' && time.free ? Math.min(time.until, state.endedAt ?? time.until) : time.until;

/** The end of all that is paid, grace aside; `null` when nothing ever was. */
export function paidUntil(state: StripeState): number | null {
  return state.paid.length === 0 ? null : Math.max(...state.paid.map((time) => endOf(state, time)));
}

/**
 * What a subscription opens now. The rule of the paper: what is paid is open to its end; while a renewal is on its way or has
 * failed and is tried again, some days more; what was cancelled or given up ends with what is paid; what was wholly refunded was
 * never paid; a first invoice that is not paid, or a card that is not set up, opens nothing. Pausing is how a publisher gives a reader
 * time for nothing: a period whose bill is not collected is open, also when the pause ends within it.
 *
 * @param now epoch milliseconds
 * @param graceDays `publication.billing.graceDays`
 * @param pausedOpens `publication.billing.pausedOpens`
 */
export function entitlementOf(
  state: StripeState,
  now: number,
  graceDays: number,
  pausedOpens: 'period' | 'paid' = publication.billing.pausedOpens,
): Entitlement | null {
  if (!isSettled(state)) return null;
  const ends = state.paid.map((time) => ({ ...time, until: endOf(state, time) }));
  const trialing = isInTrial(state, now);
  const grant = ({ product, print, until }: PaidTime): Entitlement => ({ product, print, until, trialing });
  // Of two that are open at once, as after an upgrade, the one that opens more.
  const [best] = ends.filter(({ until }) => now < until).toSorted((a, b) => rankOf(b) - rankOf(a) || b.until - a.until);
  if (best) return grant(best);
  const [last] = ends.toSorted((a, b) => b.until - a.until || rankOf(b) - rankOf(a));
  const renewing = mayRenew(state) && !isEnding(state);
  // A renewal that was paid and wholly given back is not on its way any more.
  const takenBack = state.invoices.some(
    ({ reason, refunded, created }) => refunded && reason === 'subscription_cycle' && last && created >= last.until,
  );
  if (!last || takenBack) return null;
  const given = (isPaused(state) || isUncollected(state)) && mayRenew(state) && state.status !== 'trialing';
  if (given && pausedOpens === 'period' && now < state.periodEnd) {
    // Of the plan that the period is of: a smaller one may have been planned for it.
    const { product, print } = state.price;
    return grant({ ...last, product, print, until: state.periodEnd });
  }
  if (!renewing) return null;
  const until = last.until + graceDays * day;
  return now < until ? grant({ ...last, until }) : null;
}

/** Of several subscriptions that have begun the one to show: what opens the most, then what runs, then what ended last. */
export function foremost(states: readonly StripeState[], now: number, graceDays: number): StripeState | null {
  const weight = (state: StripeState): readonly number[] => {
    const open = entitlementOf(state, now, graceDays);
    return [open ? 1 + rankOf(open) : 0, isRunning(state) ? 1 : 0, paidUntil(state) ?? 0, state.created];
  };
  const shown = states.filter((state) => !isUnpaid(state) && !awaitsCard(state));
  const [first] = shown.toSorted((a, b) => {
    const [left, right] = [weight(a), weight(b)];
    const at = left.findIndex((value, index) => value !== right[index]);
    return at < 0 ? 0 : (right[at] ?? 0) - (left[at] ?? 0);
  });
  return first ?? null;
}

const isoOrNull = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

/** As the wire has it. */
export function subscriptionOf(state: StripeState, now: number, graceDays: number): Subscription {
  const { price, next } = state;
  const paused = isRunning(state) && isPaused(state);
  const billed = mayRenew(state) && !isEnding(state) && !paused;
  // What is tried again is the bill that is open; else the next one.
  const open = isOverdue(state) ? state.invoices.find(({ status }) => status === 'open') : undefined;
  const tried = open && open.nextAttempt !== null ? open : undefined;
  const nextBill = tried?.nextAttempt ?? state.periodEnd;
  const tax = tried ? tried.tax : state.nextTax;
  const until = entitlementOf(state, now, graceDays)?.until ?? paidUntil(state) ?? state.endedAt ?? state.created;
  return {
    id: state.id,
    currency: price.currency,
    preDiscountPrice: (next ?? price).amount,
    nextBillingDate: billed ? new Date(nextBill).toISOString() : null,
    price: tried?.due ?? state.nextAmount,
    ...(tax && { tax }),
    productId: price.product,
    planId: price.plan,
    planName: price.name,
    interval: price.interval,
    print: price.print,
    status: state.status === 'incomplete_expired' ? 'canceled' : isInTrial(state, now) ? 'trialing' : state.status,
    cancelAtPeriodEnd: isEnding(state),
    paidUntil: new Date(until).toISOString(),
    ...(paused && { paused: { resumesAt: isoOrNull(state.pause?.resumesAt ?? null) } }),
    ...(next && { next: { planId: next.plan, planName: next.name, productId: next.product, print: next.print } }),
  };
}

/** What a difference would be seen by, without asking for invoices; `digest` of read-state.ts makes the same of Stripe's answer. */
export function digestOf(state: StripeState): string {
  const seconds = (at: number | null): number | null => (at === null ? null : at / 1000);
  return JSON.stringify([
    state.status,
    state.price.id,
    seconds(state.periodEnd),
    state.cancelAtPeriodEnd,
    seconds(state.cancelAt),
    state.invoices[0]?.id ?? null,
    // Rows from before discounts were kept differ from Stripe's list, and are asked about anew.
    state.discounts ?? null,
    ...(state.pause ? [state.pause.behavior, seconds(state.pause.resumesAt)] : []),
  ]);
}

/** When it is billed by itself; `null`: never again. */
export const renewsAt = (state: StripeState): number | null =>
  isInGoodStanding(state) && !isEnding(state) && !isPaused(state) ? state.periodEnd : null;

/** Whether the newest payment is one that a bank has taken back for good: who had that done is not charged again. */
export function isLost({ invoices, disputes = [] }: Pick<StripeState, 'invoices' | 'disputes'>): boolean {
  const last = invoices.find(({ paid }) => paid > 0);
  return last?.refunded === true && disputes.some(({ invoice, outcome }) => invoice === last.id && outcome === 'lost');
}

/**
 * What a switch is (spec section 4, "schedules for plan switches"): what opens more, or binds for longer, begins now and is paid
 * for now; what opens less begins with the next bill.
 */
export function switchKind(from: KnownPrice, to: KnownPrice): 'upgrade' | 'downgrade' | 'same' {
  const rank = rankOf(to) - rankOf(from);
  if (rank !== 0) return rank > 0 ? 'upgrade' : 'downgrade';
  const length = ({ interval, count }: KnownPrice): number =>
    count * { day: 1, week: 7, month: 30, year: 365 }[interval];
  const longer = length(to) - length(from);
  if (longer !== 0) return longer > 0 ? 'upgrade' : 'downgrade';
  if (from.amount === to.amount && from.currency === to.currency) return 'same';
  return to.amount > from.amount ? 'upgrade' : 'downgrade';
}

/** As {@link switchKind}, of a subscription: Stripe can plan nothing for the end of a Trial Offer, so that every change begins now. */
export function switchOf({ price, offer }: Pick<StripeState, 'price' | 'offer'>, to: KnownPrice) {
  const kind = switchKind(price, to);
  return kind === 'downgrade' && (offer ?? null) !== null ? 'upgrade' : kind;
}
