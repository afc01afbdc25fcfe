/** Fetches a subscription from Stripe and converts it to a `StripeState`. Changes nothing, neither at Stripe nor in the database. */
import Stripe from 'stripe';
import type { Logger } from '../../logging.ts';
import { knownIn } from '../currency.ts';
import type { Tax } from '../schema.ts';
import {
  type CollectionPause,
  type DisputeState,
  type InvoiceState,
  isOver,
  isUnpaid,
  type KnownPrice,
  mayRenew,
  type PaidTime,
  type StripeState,
} from '../subscription-model.ts';
import { ifMissing } from './stripe.server.ts';

interface Source {
  readonly stripe: Stripe;
  readonly log: Logger;
}

/** Number of invoices and charges to fetch: two years of monthly bills. */
const invoiceLimit = 24;
/** Number of invoices to store, and of paid ones. */
const storedInvoices = 6;
const chargeLimit = 100;
/** More disputes than a charge ever has. */
const disputeLimit = 10;

const { StripeAPIError, StripeConnectionError, StripeError, StripePermissionError, StripeRateLimitError } =
  Stripe.errors;
/** Stripe's errors that go away by themselves. */
const temporary = [StripeAPIError, StripeConnectionError, StripeRateLimitError];

/** @param needsAmount whether to fail if the amount of the next bill can't be read at the moment @throws StripeError */
export async function fetchSubscription(source: Source, id: string, needsAmount = false): Promise<FetchedSubscription> {
  const { stripe } = source;
  const subscription = await stripe.subscriptions.retrieve(id, { expand: ['schedule'] });
  const customer = idOf(subscription.customer) ?? '';
  const [invoices, charges, next] = await Promise.all([
    fetchInvoices(stripe, id),
    stripe.charges.list({ customer, limit: chargeLimit }),
    fetchNextInvoice(source, subscription, needsAmount),
  ]);
  const all = charges.has_more ? await withOlderCharges(stripe, invoices, charges.data) : charges.data;
  const disputes = await fetchDisputes(source, all);
  const isPaid = invoices.some(({ amount_paid: paid }) => paid > 0);
  // One that ended before its first bill was paid is never billed again, so a card that the customer gets later doesn't change it.
  const needsNoCard = isPaid || (isOver(subscription) && isUnpaid(subscription));
  return {
    subscription,
    invoices,
    charges: all,
    disputes,
    card: needsNoCard || (await hasCard(stripe, subscription, customer)),
    upcoming: next === 'later' ? undefined : next,
    amountPending: next === 'later',
  };
}

/** The newest invoices; and the newest paid ones, which refused upgrades and unpaid bills would otherwise push out of the list. */
async function fetchInvoices(stripe: Stripe, subscription: string): Promise<readonly Stripe.Invoice[]> {
  const asked: Stripe.InvoiceListParams = { subscription, limit: invoiceLimit, expand: ['data.payments'] };
  const { data, has_more: hasMore } = await stripe.invoices.list(asked);
  if (!hasMore || data.every(({ status }) => status === 'paid')) return data;
  const known = new Set(data.map(({ id }) => id));
  const paid = await stripe.invoices.list({ ...asked, status: 'paid' });
  return [...data, ...paid.data.filter(({ id }) => !known.has(id))];
}

/**
 * Adds the charges of paid invoices that the customer's newest charges don't include, for example after many refused cards: otherwise a
 * refund of one of them would be missed.
 */
async function withOlderCharges(
  stripe: Stripe,
  invoices: readonly Stripe.Invoice[],
  charges: readonly Stripe.Charge[],
): Promise<readonly Stripe.Charge[]> {
  const found = new Set(charges.map(({ payment_intent: of }) => idOf(of)));
  const missing = invoices
    .filter(({ amount_paid: paid }) => paid > 0)
    .flatMap((invoice) => [...intentsOf(invoice)])
    .filter((intent) => intent !== null && !found.has(intent));
  const pages = await Promise.all(
    missing.map((intent) => stripe.charges.list({ payment_intent: String(intent), limit: chargeLimit })),
  );
  return [...charges, ...pages.flatMap(({ data }) => data)];
}

/**
 * The next bill by Stripe's preview; `null`: there will be none. `later`: Stripe can't tell at the moment; `undefined`: it can't
 * tell at all.
 */
async function fetchNextInvoice(
  { stripe, log }: Source,
  subscription: Stripe.Subscription,
  isNeeded: boolean,
): Promise<Stripe.Invoice | null | 'later' | undefined> {
  const {
    id,
    schedule,
    status,
    cancel_at: ends,
    cancel_at_period_end: endsAtPeriod,
    items,
    pause_collection: pause,
  } = subscription;
  const isLast = endsAtPeriod || (ends !== null && ends <= (items.data[0]?.current_period_end ?? 0));
  if (!mayRenew({ status }) || isLast || pause !== null) return null;
  const planned = typeof schedule === 'object' && schedule?.status === 'active' ? schedule.id : null;
  try {
    return await stripe.invoices.createPreview(planned === null ? { subscription: id } : { schedule: planned });
  } catch (error) {
    if (!(error instanceof StripeError)) throw error;
    // The subscription won't be billed again.
    if (error.code === 'invoice_upcoming_none') return null;
    const isTemporary = temporary.some((kind) => error instanceof kind);
    if (isNeeded && isTemporary) throw error;
    // Access and receipts don't depend on the preview.
    log.warn({ err: error, subscription: id }, 'The next bill of a subscription could not be previewed');
    return isTemporary ? 'later' : undefined;
  }
}

/** The disputes of these charges; none where the key may not read them. */
async function fetchDisputes(
  { stripe, log }: Source,
  charges: readonly Stripe.Charge[],
): Promise<readonly Stripe.Dispute[]> {
  const disputed = charges.filter(({ disputed: is }) => is);
  try {
    const pages = await Promise.all(
      disputed.map(({ id }) => stripe.disputes.list({ charge: id, limit: disputeLimit })),
    );
    return pages.flatMap(({ data }) => data);
  } catch (error) {
    if (!(error instanceof StripePermissionError)) throw error;
    log.error(
      {},
      'STRIPE_SECRET_KEY may not read disputes: access paid with a disputed payment ends only with a refund by hand',
    );
    return [];
  }
}

/**
 * Whether Stripe has a card for the next bills, which only charge the subscription's default or the customer's. One whose setup the bank has
 * not confirmed isn't any. Subscriptions made in Stripe's dashboard need none.
 */
async function hasCard(stripe: Stripe, subscription: Stripe.Subscription, customer: string): Promise<boolean> {
  const { default_payment_method: own, collection_method: collection, metadata } = subscription;
  if (collection !== 'charge_automatically' || metadata.purchase === undefined) return true;
  const card = idOf(own) ?? (await defaultCardOf(stripe, customer));
  if (card === null) return false;
  // A deleted customer has none.
  const setups = await stripe.setupIntents.list({ customer, payment_method: card, limit: 100 }).catch(ifMissing(null));
  // A card that was added in the dashboard has none.
  return setups !== null && (setups.data.length === 0 || setups.data.some(({ status }) => status === 'succeeded'));
}

async function defaultCardOf(stripe: Stripe, customer: string): Promise<string | null> {
  const found = await stripe.customers.retrieve(customer).catch(ifMissing(null));
  return found === null || found.deleted ? null : idOf(found.invoice_settings.default_payment_method);
}

/** Stripe's answers about one subscription. */
export interface FetchedSubscription {
  /** With `discounts.source.coupon.applies_to` and `schedule` expanded. */
  readonly subscription: Stripe.Subscription;
  /** Newest first, with `payments`. */
  readonly invoices: readonly Stripe.Invoice[];
  /** Of the customer, newest first. */
  readonly charges: readonly Stripe.Charge[];
  /** Of these charges. */
  readonly disputes: readonly Stripe.Dispute[];
  /** `false`: nothing was charged, there may be bills, and Stripe has no card for them. */
  readonly card: boolean;
  /** Stripe's preview of the next bill; `null`: there will be none. `undefined`: Stripe couldn't say. */
  readonly upcoming?: Stripe.Invoice | null | undefined;
  /** Whether to ask Stripe for the preview again. */
  readonly amountPending?: boolean;
}

/** Finds the plan of a price or a Trial Offer (`to_…`); `null` if it is not a plan of this site. */
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
 * @param before the stored state; its next amount is kept while Stripe has no preview
 * @throws NotOurs if the subscription is not of a plan of this site
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
  // During an offer the item may name either price, so the offer decides what was bought.
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
    ...(next && isPublishers(subscription) && { nextByPublisher: true }),
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
    ...(subscription.collection_method === 'send_invoice' && { byInvoice: true }),
    card: asked.card,
    invoices: invoicesToStore(read),
    disputes: invoices.flatMap((invoice) => disputesOf(invoice, disputes)),
    purchase: subscription.metadata?.purchase ?? null,
    promotion: subscription.metadata?.promotion ?? null,
    planned: subscription.metadata?.planned || null,
    released: subscription.metadata?.released || null,
  };
}

/** The newest invoices, and the newest paid ones. */
function invoicesToStore(all: readonly InvoiceState[]): readonly InvoiceState[] {
  const paid = all.filter(({ status }) => status === 'paid').slice(0, storedInvoices);
  return all.filter((one, at) => at < storedInvoices || paid.includes(one));
}

/** The amount of the next bill by Stripe's preview; without one, the list price. */
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

/** The tax of an invoice, added to its prices or included in them; `null`: none was calculated. */
export function taxOf({ total_taxes: taxes }: Pick<Stripe.Invoice, 'total_taxes'>): Tax | null {
  const sum = (behavior: string): number =>
    (taxes ?? []).filter((one) => one.tax_behavior === behavior).reduce((all, { amount }) => all + amount, 0);
  const [added, included] = [sum('exclusive'), sum('inclusive')];
  if (added !== 0) return { amount: added, included: false };
  return included === 0 ? null : { amount: included, included: true };
}

/** A subscription in the same Stripe account that this site doesn't sell. */
export class NotOurs extends Error {
  constructor(id: string) {
    super(`${id} is not of a plan of this site. To sell it here, give its price the metadata zephrPlanId.`);
    this.name = 'NotOurs';
  }
}

const intentsOf = (invoice: Stripe.Invoice): ReadonlySet<string | null> =>
  new Set(invoice.payments?.data.map(({ payment }) => idOf(payment.payment_intent)));

/**
 * An inquiry (`warning_…`) may become a dispute; an appeal follows a lost one. A prevented dispute is settled before it is filed, mostly by
 * giving the money back.
 */
function outcomeOf({ status, balance_transactions: moved }: Stripe.Dispute): DisputeState['outcome'] {
  if (status === 'lost' || status.startsWith('appeal_')) return 'lost';
  if (/^(?:warning_)?(?:needs_response|under_review)$/.test(status)) return 'open';
  const isWithdrawn = status === 'prevented' && moved.reduce((sum, { amount }) => sum + amount, 0) < 0;
  return isWithdrawn ? 'lost' : 'won';
}

function disputesOf(invoice: Stripe.Invoice, disputes: readonly Stripe.Dispute[]): DisputeState[] {
  const intents = intentsOf(invoice);
  return disputes
    .filter(({ payment_intent: of }) => of !== null && intents.has(idOf(of)))
    .map((dispute) => ({
      id: dispute.id,
      invoice: invoice.id ?? '',
      outcome: outcomeOf(dispute),
      // Stripe writes 0 if no response is possible.
      due: dispute.evidence_details.due_by ? ms(dispute.evidence_details.due_by) : null,
    }));
}

/** Whether the whole charge was returned, by refunds, lost disputes, or both. */
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

/** Whether it is a renewal during a pause: Stripe voids it, writes it off or leaves it a draft, and never charges it. */
function isHeld({ billing_reason: reason, attempted, status, auto_advance: advances }: Stripe.Invoice): boolean {
  if (reason !== 'subscription_cycle' || attempted) return false;
  return status === 'void' || status === 'uncollectible' || (status === 'draft' && advances === false);
}

/** Whether a line pays for a period: of the subscription or of a plan change, but not a promotion's fee. */
function isSubscriptionLine({ parent }: Stripe.InvoiceLineItem): boolean {
  return parent?.subscription_item_details != null || parent?.invoice_item_details?.proration === true;
}
const priceOfLine = ({ pricing }: Stripe.InvoiceLineItem): string | null => idOf(pricing?.price_details?.price);

/** The periods of paid invoices, less the unused time that later invoices credited. */
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
    // Credit counts as payment. An amount that is too small to be charged doesn't, although Stripe calls the invoice paid.
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

/** Metadata of a schedule that the reader's choice of a plan has made. */
export const chosenBy = 'chosen_by';

/** Whether a schedule is not one that the reader's choice of a plan has made. */
const isPublishers = ({ schedule }: Stripe.Subscription): boolean =>
  typeof schedule === 'object' && schedule?.metadata?.[chosenBy] !== 'reader';

/** The price of the next phase. */
function plannedPrice(subscription: Stripe.Subscription, priceOf: PriceBook): KnownPrice | null {
  const { schedule } = subscription;
  const phases = phasesOf(subscription);
  const current = typeof schedule === 'object' ? schedule?.current_phase : null;
  if (!current) return null;
  const id = idOf(phases.find(({ start_date: start }) => start >= current.end_date)?.items[0]?.price);
  return id === null ? null : priceOf(id);
}

/**
 * What shows in Stripe's list of subscriptions whether one has changed.
 *
 * @param latestInvoice of the invoices that were fetched with it, if they were
 */
export function digest(one: Stripe.Subscription, latestInvoice = idOf(one.latest_invoice)): string {
  const [item] = one.items.data;
  const pause = one.pause_collection;
  return JSON.stringify([
    one.status,
    item?.price.id ?? null,
    item?.current_period_end ?? null,
    one.cancel_at_period_end,
    one.cancel_at,
    latestInvoice,
    discountIds(one),
    ...(pause ? [pause.behavior, pause.resumes_at] : []),
  ]);
}
