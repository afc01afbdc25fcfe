/** From Stripe's objects to a `StripeState`. Pure; the API version is the one that the installed SDK is typed for. */
import type Stripe from 'stripe';
import { knownIn } from './currency.ts';
import type { CollectionPause, DisputeState, InvoiceState, KnownPrice, PaidTime, StripeState } from './state.ts';
import type { Tax } from './wire.ts';

/** What Stripe was asked for one subscription. */
export interface FetchedSubscription {
  /** With `discounts.source.coupon.applies_to` and `schedule` expanded. */
  readonly subscription: Stripe.Subscription;
  /** Newest first, with `payments`. */
  readonly invoices: readonly Stripe.Invoice[];
  /** Of the customer, newest first. */
  readonly charges: readonly Stripe.Charge[];
  /** Of these charges. */
  readonly disputes: readonly Stripe.Dispute[];
  /** `false`: no money was taken, and Stripe keeps no card for the bills to come. */
  readonly card: boolean;
  /** Stripe's preview of the next bill; `null`: there will be none. `undefined`: Stripe couldn't say. */
  readonly upcoming?: Stripe.Invoice | null | undefined;
  /** Whether Stripe is asked for the preview again. */
  readonly amountPending?: boolean;
}

/** Of a price or a Trial Offer (`to_…`) the plan that it is. One that is no plan of ours is `null`. */
export type PriceBook = (id: string) => KnownPrice | null;

const ms = (seconds: number): number => seconds * 1000;
const msOrNull = (seconds: number | null | undefined): number | null =>
  seconds === null || seconds === undefined ? null : ms(seconds);
export const idOf = (value: string | { readonly id: string } | null | undefined): string | null =>
  typeof value === 'string' ? value : (value?.id ?? null);

/** Prices, and Trial Offers, that a {@link readState} will look up. */
export function pricesIn({ subscription, invoices }: FetchedSubscription): readonly string[] {
  const items = subscription.items.data.map(({ price }) => price.id);
  const lines = invoices.flatMap(({ lines }) => lines.data.filter(isSubscriptionLine).map(priceOfLine));
  const planned = phasesOf(subscription).flatMap(({ items: those }) => those.map(({ price }) => idOf(price)));
  const offers = subscription.items.data.map(({ current_trial: trial }) => trial?.trial_offer ?? null);
  return [...new Set([...items, ...offers, ...lines, ...planned].filter((id) => id !== null))];
}

/**
 * @param before the state that is kept: its next amount stands while Stripe can't say another
 * @throws Error when the subscription is of nothing that the paper sells
 */
export function readState(
  asked: FetchedSubscription,
  priceOf: PriceBook,
  before: StripeState | null = null,
): StripeState {
  const { subscription, invoices, charges, disputes } = asked;
  const { currency } = subscription;
  const [item] = subscription.items.data;
  const trial = item?.current_trial ?? null;
  // During an offer the item may name its price or the one that follows: the offer says what was bought.
  const sold = item && ((trial && priceOf(trial.trial_offer)) ?? priceOf(item.price.id));
  if (!item || !sold) throw new NotOurs(subscription.id);
  const price = { ...knownIn(sold, currency), id: item.price.id };
  const planned = plannedPrice(subscription, priceOf);
  const next = planned && knownIn(planned, currency);
  const read = invoices.map((invoice) => readInvoice(invoice, charges, disputes));
  return {
    id: subscription.id,
    customer: idOf(subscription.customer) ?? '',
    status: subscription.status as StripeState['status'],
    created: ms(subscription.created),
    item: item.id,
    price,
    next,
    ...nextBill(asked.upcoming, next ?? price, before),
    amountPending: asked.amountPending ?? false,
    paid: paidTimes(invoices, read, priceOf),
    periodStart: ms(item.current_period_start),
    periodEnd: ms(item.current_period_end),
    trialEnd: msOrNull(trial?.end_date ?? subscription.trial_end),
    offer: trial?.trial_offer ?? null,
    cancelAtPeriodEnd: subscription.cancel_at_period_end,
    cancelAt: msOrNull(subscription.cancel_at),
    endedAt: msOrNull(subscription.ended_at),
    pause: pauseOf(subscription),
    schedule: idOf(subscription.schedule),
    discounts: discountIds(subscription),
    pendingSetup: idOf(subscription.pending_setup_intent),
    card: asked.card,
    invoices: read.slice(0, 6),
    disputes: invoices.flatMap((invoice) => disputesOf(invoice, disputes)),
    purchase: subscription.metadata?.purchase ?? null,
    promotion: subscription.metadata?.promotion ?? null,
    planned: subscription.metadata?.planned || null,
  };
}

/** What the next bill comes to, in Stripe's words; without any, the list price. */
function nextBill(
  upcoming: FetchedSubscription['upcoming'],
  price: KnownPrice,
  before: StripeState | null,
): Pick<StripeState, 'nextAmount' | 'nextTax'> {
  if (upcoming) return { nextAmount: upcoming.amount_due, nextTax: taxOf(upcoming) };
  const same = before !== null && (before.next ?? before.price).id === price.id;
  if (upcoming === undefined && same) return { nextAmount: before.nextAmount, nextTax: before.nextTax ?? null };
  return { nextAmount: price.amount, nextTax: null };
}

const discountIds = ({ discounts }: Pick<Stripe.Subscription, 'discounts'>): readonly string[] =>
  discounts.flatMap((one) => idOf(one) ?? []);

const pauseOf = ({ pause_collection: pause }: Stripe.Subscription): CollectionPause | null =>
  pause && { behavior: pause.behavior as CollectionPause['behavior'], resumesAt: msOrNull(pause.resumes_at) };

/** Tax of an invoice: what was added to its prices, else what is included in them; `null`: none was worked out. */
export function taxOf({ total_taxes: taxes }: Pick<Stripe.Invoice, 'total_taxes'>): Tax | null {
  const sum = (behavior: string): number =>
    (taxes ?? []).filter((one) => one.tax_behavior === behavior).reduce((all, { amount }) => all + amount, 0);
  const [added, included] = [sum('exclusive'), sum('inclusive')];
  if (added !== 0) return { amount: added, included: false };
  return included === 0 ? null : { amount: included, included: true };
}

/** A subscription in the same Stripe account that has nothing to do with the paper. */
export class NotOurs extends Error {
  constructor(id: string) {
    super(`${id} is of no plan of the catalogue; give its price the metadata zephrPlanId if readers are to have it.`);
    this.name = 'NotOurs';
  }
}

const intentsOf = (invoice: Stripe.Invoice): ReadonlySet<string | null> =>
  new Set(invoice.payments?.data.map(({ payment }) => idOf(payment.payment_intent)));

/** An inquiry (`warning_…`) moves no money and may end in a dispute; an appeal is made against one that was lost. */
const outcomeOf = ({ status }: Stripe.Dispute): DisputeState['outcome'] =>
  status === 'lost' || status.startsWith('appeal_')
    ? 'lost'
    : /^(?:warning_)?(?:needs_response|under_review)$/.test(status)
      ? 'open'
      : 'won';

function disputesOf(invoice: Stripe.Invoice, disputes: readonly Stripe.Dispute[]): DisputeState[] {
  const intents = intentsOf(invoice);
  return disputes
    .filter(({ payment_intent: of }) => of !== null && intents.has(idOf(of)))
    .map((dispute) => ({
      id: dispute.id,
      invoice: invoice.id ?? '',
      outcome: outcomeOf(dispute),
      // Stripe writes 0 where nothing can be answered.
      due: dispute.evidence_details.due_by ? ms(dispute.evidence_details.due_by) : null,
    }));
}

/** Whether nothing of it is left: given back, taken back by the bank, or a part of it each. */
function wentBack(charge: Stripe.Charge, disputes: readonly Stripe.Dispute[]): boolean {
  const lost = disputes.filter((one) => idOf(one.charge) === charge.id && outcomeOf(one) === 'lost');
  if (charge.refunded || lost.length === 0) return charge.refunded;
  return lost.reduce((sum, { amount }) => sum + amount, charge.amount_refunded) >= charge.amount;
}

function readInvoice(
  invoice: Stripe.Invoice,
  charges: readonly Stripe.Charge[],
  disputes: readonly Stripe.Dispute[],
): InvoiceState {
  const intents = intentsOf(invoice);
  const own = charges.filter(({ payment_intent: of, paid }) => paid && of !== null && intents.has(idOf(of)));
  return {
    id: invoice.id ?? '',
    status: (invoice.status ?? 'draft') as InvoiceState['status'],
    reason: invoice.billing_reason,
    due: invoice.amount_due,
    paid: invoice.amount_paid,
    ...(taxOf(invoice) && { tax: taxOf(invoice) }),
    currency: invoice.currency,
    refunded: invoice.amount_paid > 0 && own.length > 0 && own.every((charge) => wentBack(charge, disputes)),
    created: ms(invoice.created),
    paidAt: msOrNull(invoice.status_transitions?.paid_at),
    attempted: invoice.attempted,
    nextAttempt: msOrNull(invoice.next_payment_attempt),
    ...(isHeld(invoice) && { held: true }),
  };
}

/** Renewals of a pause: Stripe voids them, writes them off, or leaves them as drafts, and never tries a payment. */
function isHeld({ billing_reason: reason, attempted, status, auto_advance: advances }: Stripe.Invoice): boolean {
  if (reason !== 'subscription_cycle' || attempted) return false;
  return status === 'void' || status === 'uncollectible' || (status === 'draft' && advances === false);
}

/** Lines that sell time: of the subscription itself, and what a switch adds. A fee for a promotion sells none. */
function isSubscriptionLine({ parent }: Stripe.InvoiceLineItem): boolean {
  return parent?.subscription_item_details != null || parent?.invoice_item_details?.proration === true;
}
const priceOfLine = ({ pricing }: Stripe.InvoiceLineItem): string | null => idOf(pricing?.price_details?.price);

/** What paid invoices have paid for, less what later ones gave back for unused time. */
function paidTimes(
  invoices: readonly Stripe.Invoice[],
  read: readonly InvoiceState[],
  priceOf: PriceBook,
): readonly PaidTime[] {
  const good = invoices.filter((_, at) => read[at]?.status === 'paid' && !read[at]?.refunded);
  const credits = good.flatMap((invoice) =>
    invoice.lines.data
      .filter((line) => isSubscriptionLine(line) && line.amount < 0)
      .map((line) => ({
        price: priceOfLine(line),
        from: line.period.start,
        until: line.period.end,
        invoice: invoice.id,
      })),
  );
  return good.flatMap((invoice) => {
    // Paid with credit is paid; a sum too small to be charged is not, though Stripe calls its invoice paid.
    const { amount_paid: taken, amount_due: due, total, starting_balance: before } = invoice;
    const free = taken === 0 && due === 0 && total >= 0 && before >= 0;
    return invoice.lines.data.flatMap((line) => {
      const id = priceOfLine(line);
      const price = isSubscriptionLine(line) && line.amount >= 0 && id !== null ? priceOf(id) : null;
      if (!price) return [];
      const { start, end } = line.period;
      const given = credits.filter(
        (credit) => credit.price === id && credit.invoice !== invoice.id && credit.from >= start && credit.from < end,
      );
      const until = Math.min(end, ...given.map(({ from }) => from));
      return [{ plan: price.plan, product: price.product, print: price.print, until: ms(until), free }];
    });
  });
}

const phasesOf = ({ schedule }: Stripe.Subscription): readonly Stripe.SubscriptionSchedule.Phase[] =>
  schedule !== null && typeof schedule === 'object' && schedule.status === 'active' ? schedule.phases : [];

/** Price of the phase after the present one. */
function plannedPrice(subscription: Stripe.Subscription, priceOf: PriceBook): KnownPrice | null {
  const { schedule } = subscription;
  const phases = phasesOf(subscription);
  const current = typeof schedule === 'object' ? schedule?.current_phase : null;
  if (!current) return null;
  const id = idOf(phases.find(({ start_date: start }) => start >= current.end_date)?.items[0]?.price);
  return id === null ? null : priceOf(id);
}

/** As `digestOf` of state.ts, from Stripe's list of subscriptions. */
export function digest(one: Stripe.Subscription): string {
  const [item] = one.items.data;
  return JSON.stringify([
    one.status,
    item?.price.id,
    item?.current_period_end,
    one.cancel_at_period_end,
    one.cancel_at,
    idOf(one.latest_invoice),
    discountIds(one),
    ...(one.pause_collection ? [one.pause_collection.behavior, one.pause_collection.resumes_at] : []),
  ]);
}
