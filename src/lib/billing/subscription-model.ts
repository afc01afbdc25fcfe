/**
 * The state of a subscription, and what is derived from it: its status, whether it is paid, and the access that it gives. Pure
 * functions. Stripe's status alone never gives access: Stripe calls a subscription whose first bill is 0 active before a card is
 * confirmed ({@link isSettled}).
 */
import { publication } from '../../publication.ts';
import { tierRank } from '../accounts/products.ts';
import type { Price, Subscription, Tax } from './schema.ts';
import type { Entitlement } from './service.ts';

export interface BillingRules {
  /** Days of access after a failed renewal. */
  readonly graceDays: number;
  /** Days before a renewal when its notice is mailed. */
  readonly renewalNoticeDays: number;
  /** The offer to readers who cancel: a Stripe coupon, at most once in this many days; `null`: none. */
  readonly stay?: { readonly coupon: string; readonly everyDays: number } | null;
}

export type StripeStatus = Subscription['status'] | 'incomplete_expired';

const among =
  (...statuses: readonly StripeStatus[]) =>
  ({ status }: { readonly status: string }): boolean =>
    (statuses as readonly string[]).includes(status);

/** Whether Stripe may bill it again: it has not ended and doesn't wait for its first payment. */
export const isLive = among('trialing', 'active', 'past_due', 'unpaid', 'paused');

/** Whether nothing is owed: it renews at the end of its period, unless it is canceled. */
export const isInGoodStanding = among('trialing', 'active');

/** Whether its last bill was not paid. */
export const isOverdue = among('past_due', 'unpaid');

/** Whether Stripe may still charge a renewal by itself, now or with a retry. */
export const mayRenew = among('trialing', 'active', 'past_due');

/** Whether it has ended: no payment of it will follow. */
export const isOver = among('canceled', 'incomplete_expired');

/** Whether the first bill was never paid. */
export const isUnpaid = among('incomplete', 'incomplete_expired');

/** A price as stored with a purchase; the catalog may no longer have it. */
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
  /** `prod_…`, which coupons may be restricted to; absent from old rows. */
  readonly productId?: string;
}

/** A period that an invoice has paid for. Times are epoch milliseconds. */
export interface PaidTime {
  readonly plan: string;
  readonly product: string;
  readonly print: boolean;
  readonly until: number;
  /**
   * Whether nothing was charged for the period, even if a small amount is added to the next bill: a free period ends with its
   * subscription.
   */
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
  /** Tax within it; absent: none was calculated. */
  readonly tax?: Tax | null;
  readonly currency: string;
  /** Whether everything paid was refunded or lost in a dispute. */
  readonly refunded: boolean;
  readonly created: number;
  readonly paidAt: number | null;
  /** Whether its payment was tried. */
  readonly attempted: boolean;
  readonly nextAttempt: number | null;
  /** Whether it was created while billing was paused, and is never collected. Absent: no. */
  readonly held?: boolean;
}

/** A payment that the card's owner disputes. */
export interface DisputeState {
  /** `dp_…`. */
  readonly id: string;
  readonly invoice: string;
  /** While a dispute is open, the money is withheld and may come back; after a lost dispute it doesn't. */
  readonly outcome: 'open' | 'won' | 'lost';
  /** Deadline for the publisher's response. */
  readonly due: number | null;
}

/** A pause of billing: the subscription stays active and its periods continue, but their invoices aren't collected. */
export interface CollectionPause {
  /** What Stripe does with the invoices of the pause. */
  readonly behavior: 'keep_as_draft' | 'mark_uncollectible' | 'void';
  /** When billing resumes; `null`: when the publisher resumes it. */
  readonly resumesAt: number | null;
}

/** A subscription with its invoices, from Stripe. Times are epoch milliseconds, amounts minor units. */
export interface StripeState {
  readonly id: string;
  readonly customer: string;
  readonly status: StripeStatus;
  readonly created: number;
  /** `si_…`. */
  readonly item: string;
  readonly price: KnownPrice;
  /** The price from the next bill on, if a change is planned. */
  readonly next: KnownPrice | null;
  /** Whether the publisher has planned that change, so that the reader can't take it back. Absent: no. */
  readonly nextByPublisher?: boolean;
  /** The next bill by Stripe's preview, with discounts, credit and tax; the list price if there is none. */
  readonly nextAmount: number;
  /** Tax within it; absent: none is calculated. */
  readonly nextTax?: Tax | null;
  /** Whether the next amount is out of date until Stripe is asked again. Absent: no. */
  readonly amountPending?: boolean;
  readonly paid: readonly PaidTime[];
  readonly periodStart: number;
  readonly periodEnd: number;
  /** End of a promotion or a free trial. */
  readonly trialEnd: number | null;
  /** `to_…` of the current Trial Offer; `null`: none. Absent from old rows, whose trials are Stripe's legacy ones. */
  readonly offer?: string | null;
  readonly cancelAtPeriodEnd: boolean;
  readonly cancelAt: number | null;
  readonly endedAt: number | null;
  /** The pause of billing (Stripe's `pause_collection`); `null`: billed as usual. Absent from old rows. */
  readonly pause?: CollectionPause | null;
  readonly schedule: string | null;
  /** `di_…` of its discounts. Absent from old rows. */
  readonly discounts?: readonly string[];
  /** `seti_…`: a card still has to be confirmed for later. */
  readonly pendingSetup: string | null;
  /** Whether Stripe mails its invoices instead of charging a card, as the publisher can arrange. Absent: no. */
  readonly byInvoice?: boolean;
  /** `false`: nothing was charged, there may be bills, and Stripe has no card for them. Absent from old rows. */
  readonly card?: boolean;
  /** The invoices that still matter, newest first. */
  readonly invoices: readonly InvoiceState[];
  /** Disputes of all invoices that were fetched. */
  readonly disputes?: readonly DisputeState[];
  /** Our id of the purchase, from its metadata. */
  readonly purchase: string | null;
  /** The promotion with which it started. */
  readonly promotion: string | null;
  /** The plan that was planned before the cancellation, from its metadata: resuming plans it again. */
  readonly planned?: string | null;
  /** `sub_sched_…`: the schedule that was released with it, from its metadata. Absent from old rows. */
  readonly released?: string | null;
}

const day = 24 * 60 * 60 * 1000;

/** Higher for more access: print ranks above the same tier without it. */
export const rankOf = ({ product, print }: { readonly product: string; readonly print: boolean }): number =>
  tierRank(product) * 2 + (print ? 1 : 0);

/**
 * Whether it still waits for its card: nothing was charged, and no card is set up. Stripe still calls it active or trialing. Replacing
 * a card later doesn't end access that was paid for.
 */
export const awaitsCard = ({
  pendingSetup,
  card = true,
  invoices,
  paid,
}: Pick<StripeState, 'pendingSetup' | 'card' | 'invoices' | 'paid'>): boolean =>
  (pendingSetup !== null || !card) && !invoices.some((one) => one.paid > 0) && !paid.some(({ free }) => !free);

/** Whether it may be billed again: the reader can cancel, change or resume it. */
export const isRunning = (state: StripeState): boolean => isLive(state) && !awaitsCard(state);

/** Whether it has begun: the card is set up, and the first bill is paid or was 0. Before that it gives no access. */
export const isSettled = (state: StripeState): boolean =>
  !isUnpaid(state) && state.paid.length > 0 && !awaitsCard(state);

/** Whether it is canceled, and no bill follows: one that the publisher ends on a later day is billed until then. */
export const isEnding = (state: Pick<StripeState, 'cancelAtPeriodEnd' | 'cancelAt' | 'periodEnd'>): boolean =>
  state.cancelAtPeriodEnd || (state.cancelAt !== null && state.cancelAt <= state.periodEnd);

/** Whether billing is paused. The pause ends by itself at `resumesAt`. */
export const isPaused = ({ pause }: Pick<StripeState, 'pause'>): boolean => (pause ?? null) !== null;

/** Whether the bill of the current period was never collected because of a pause, which may be over. */
export const isUncollected = ({ invoices, periodStart }: Pick<StripeState, 'invoices' | 'periodStart'>): boolean =>
  invoices.some(({ held, created }) => held && created >= periodStart);

/** Whether the bill of the period that has just begun is still a draft: Stripe charges a renewal about an hour later. */
export const isRenewalDue = ({ status, invoices }: Pick<StripeState, 'status' | 'invoices'>): boolean =>
  isInGoodStanding({ status }) &&
  invoices.some((one) => one.status === 'draft' && one.reason === 'subscription_cycle' && !one.held);

/** Whether it is in a promotion or trial. Stripe calls a paid Trial Offer active, a legacy trial trialing. */
export const isInTrial = ({ status, trialEnd }: Pick<StripeState, 'status' | 'trialEnd'>, now: number): boolean =>
  isInGoodStanding({ status }) && trialEnd !== null && now < trialEnd;

/** When a paid period of this subscription ends. */
const endOf = (state: StripeState, time: PaidTime): number =>
  state.status === 'canceled' && time.free ? Math.min(time.until, state.endedAt ?? time.until) : time.until;

/** The end of all paid periods, without grace; `null` if nothing was paid. */
export function paidUntil(state: StripeState): number | null {
  return state.paid.length === 0 ? null : Math.max(...state.paid.map((time) => endOf(state, time)));
}

/**
 * The access that a subscription gives now. Paid time gives access to its end, and some days of grace while a renewal is charged or
 * retried. A canceled subscription ends with its paid time; a full refund takes the paid time back; an unpaid first invoice, or a card
 * that is not set up, gives no access. A pause gives free time: a period whose bill is not collected gives access, even if the pause
 * ends within it. So does a period whose invoice was mailed, until that is overdue.
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
  // Of overlapping paid periods, as after an upgrade, the one that gives more access.
  const [best] = ends.filter(({ until }) => now < until).toSorted((a, b) => rankOf(b) - rankOf(a) || b.until - a.until);
  if (best) return grant(best);
  const [last] = ends.toSorted((a, b) => b.until - a.until || rankOf(b) - rankOf(a));
  const renewing = mayRenew(state) && !isEnding(state);
  // After a full refund of the renewal there is no grace.
  const takenBack = state.invoices.some(
    ({ reason, refunded, created }) => refunded && reason === 'subscription_cycle' && last && created >= last.until,
  );
  if (!last || takenBack) return null;
  const given = (isPaused(state) || isUncollected(state)) && mayRenew(state) && state.status !== 'trialing';
  const isOpen = (given && pausedOpens === 'period') || (renewing && hasOpenInvoice(state));
  if (isOpen && now < state.periodEnd) {
    // The plan of this period, which may be smaller than the one that was paid before.
    const { product, print } = state.price;
    return grant({ ...last, product, print, until: state.periodEnd });
  }
  if (!renewing) return null;
  const until = last.until + graceDays * day;
  return now < until ? grant({ ...last, until }) : null;
}

/**
 * The subscription that is shown, and that its reader changes or cancels: one that is billed, then one that is canceled and still runs, then
 * the last that ended; of several, the one that gives the most access.
 */
export function mainSubscription(states: readonly StripeState[], now: number, graceDays: number): StripeState | null {
  const weight = (state: StripeState): readonly number[] => {
    const open = entitlementOf(state, now, graceDays);
    return [
      isRunning(state) ? (isEnding(state) ? 1 : 2) : 0,
      open ? 1 + rankOf(open) : 0,
      paidUntil(state) ?? 0,
      state.created,
    ];
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

const nextOf = (
  { plan, name, product, print }: KnownPrice,
  { nextByPublisher: fixed }: Pick<StripeState, 'nextByPublisher'>,
): Subscription['next'] => {
  const next = { planId: plan, planName: name, productId: product, print };
  return fixed ? { ...next, fixed } : next;
};

/** Whether the reader has yet to pay an invoice that Stripe has mailed, and that isn't overdue. */
const hasOpenInvoice = ({ byInvoice = false, status, invoices }: StripeState): boolean =>
  byInvoice && isInGoodStanding({ status }) && invoices.some((one) => one.status === 'open');

/** The subscription as the API returns it. */
export function subscriptionOf(state: StripeState, now: number, graceDays: number): Subscription {
  const { price, next } = state;
  const paused = isRunning(state) && isPaused(state);
  const billed = mayRenew(state) && !isEnding(state) && !paused;
  // An open bill that is retried comes before the next one.
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
    ...(price.count !== 1 && { intervalCount: price.count }),
    print: price.print,
    status: state.status === 'incomplete_expired' ? 'canceled' : isInTrial(state, now) ? 'trialing' : state.status,
    cancelAtPeriodEnd: isEnding(state),
    paidUntil: new Date(until).toISOString(),
    ...(billed && isRenewalDue(state) && { renewalDue: true }),
    ...(state.byInvoice && { byInvoice: true }),
    ...(hasOpenInvoice(state) && { invoiceOpen: true }),
    ...(paused && { paused: { resumesAt: isoOrNull(state.pause?.resumesAt ?? null) } }),
    ...(next && next.id !== price.id && { next: nextOf(next, state) }),
  };
}

/** Shorter periods are announced only if a promotion or trial ends with them, or the next bill is higher. */
const announcedMs = 14 * day;

/**
 * Whether its next bill is higher than the last one for a whole period, because a discount ends or the publisher has raised the price. The
 * rest of a period, charged for a change of plan, isn't compared.
 */
function isRising({ invoices, nextAmount }: StripeState): boolean {
  const last = invoices.find(
    ({ status, reason }) => status === 'paid' && (reason === 'subscription_create' || reason === 'subscription_cycle'),
  );
  return last !== undefined && nextAmount > last.due;
}

/** Whether its next bill is announced: not one of nothing, nor one of a short interval, such as a week, that is not higher. */
function isAnnounced(state: StripeState): boolean {
  const { nextAmount, periodStart, periodEnd, trialEnd } = state;
  if (nextAmount === 0) return false;
  return periodEnd - periodStart >= announcedMs || (trialEnd !== null && trialEnd >= periodEnd) || isRising(state);
}

/**
 * From when on its renewal is announced, epoch milliseconds: so many days before it, or once Stripe announces the bill. In a period that is
 * too short for that it is announced halfway, and not with the purchase.
 */
export function noticeFrom({ periodStart, periodEnd }: StripeState, days: number, announced: boolean): number {
  const length = periodEnd - periodStart;
  if (length < announcedMs) return periodEnd - Math.min(days * day, length / 2);
  return announced ? Number.NEGATIVE_INFINITY : periodEnd - days * day;
}

/** When it renews; `null`: it doesn't, or that isn't announced, because it is paid by invoice or for another reason. */
export const renewsAt = (state: StripeState): number | null => {
  const charges = isInGoodStanding(state) && !isEnding(state) && !isPaused(state) && !state.byInvoice;
  return charges && isAnnounced(state) ? state.periodEnd : null;
};

/** Whether the newest payment was lost in a dispute: then the reader isn't charged again. */
export function isLost({ invoices, disputes = [] }: Pick<StripeState, 'invoices' | 'disputes'>): boolean {
  const last = invoices.find(({ paid }) => paid > 0);
  return last?.refunded === true && disputes.some(({ invoice, outcome }) => invoice === last.id && outcome === 'lost');
}

/**
 * The kind of a plan change (spec section 4, "schedules for plan switches"): more access, or a longer interval, starts and is paid now;
 * less access starts with the next bill. A plan whose price has risen since it was bought is still the same plan.
 */
export function switchKind(from: KnownPrice, to: KnownPrice): 'upgrade' | 'downgrade' | 'same' {
  const rank = rankOf(to) - rankOf(from);
  if (rank !== 0) return rank > 0 ? 'upgrade' : 'downgrade';
  const length = ({ interval, count }: KnownPrice): number =>
    count * { day: 1, week: 7, month: 30, year: 365 }[interval];
  const longer = length(to) - length(from);
  if (longer !== 0) return longer > 0 ? 'upgrade' : 'downgrade';
  if (from.amount === to.amount && from.currency === to.currency) return 'same';
  if (to.amount < from.amount) return 'downgrade';
  return from.plan === to.plan ? 'same' : 'upgrade';
}

/**
 * {@link switchKind} for a subscription: Stripe can't schedule a change for the end of a Trial Offer, so during an offer every change
 * takes effect now.
 */
export function switchOf({ price, offer }: Pick<StripeState, 'price' | 'offer'>, to: KnownPrice) {
  const kind = switchKind(price, to);
  return kind === 'downgrade' && (offer ?? null) !== null ? 'upgrade' : kind;
}
