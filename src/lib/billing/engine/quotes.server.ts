/**
 * What Stripe would charge, by its own preview, so that the sum on the button is the sum of the charge. The parameters of preview and
 * purchase are built side by side from the same plan.
 */
import type Stripe from 'stripe';
import type { Price, QuoteAnswer, TaxAddress } from '../schema.ts';
import { isEnding, isUncollected, type KnownPrice, type StripeState, switchOf } from '../subscription-model.ts';
import { fullPrice } from './catalog.server.ts';
import { type FoundCoupon, monthsAfter } from './coupons.server.ts';
import { stripeAddress } from './customers.server.ts';
import { idOf, taxOf } from './fetch-subscription.server.ts';
import type { PaymentAttempt } from './payments.server.ts';

/** The buyer. */
export interface Buyer {
  /** `cus_…`; `null`: none yet. */
  readonly customer: string | null;
  /** The address that tax depends on; `null`: use the one that Stripe has. */
  readonly address: TaxAddress | null;
  /** Whether Stripe calculates tax. */
  readonly tax: boolean;
}

/** The item that is sold. The Trial Offer of a promotion contains its prices. */
const itemOf = ({ id, promotion }: Price) =>
  promotion ? { current_trial: { trial_offer: promotion.offer } } : { price: id };

/** Parameters of `POST /v1/subscriptions`. */
export function purchaseParams(
  price: Price,
  found: FoundCoupon | null,
  tax: boolean,
): Pick<Stripe.SubscriptionCreateParams, 'items' | 'currency' | 'discounts' | 'automatic_tax'> {
  const params: ReturnType<typeof purchaseParams> = { items: [itemOf(price)], currency: price.currency };
  if (found) params.discounts = [found.discount];
  if (tax) params.automatic_tax = { enabled: true };
  return params;
}

/** Parameters of `POST /v1/invoices/create_preview` for the same purchase. */
function previewParams(
  price: Price,
  found: FoundCoupon | null,
  { customer, address, tax }: Buyer,
): Stripe.InvoiceCreatePreviewParams {
  const params: Stripe.InvoiceCreatePreviewParams = {
    currency: price.currency,
    subscription_details: { items: [itemOf(price)], billing_mode: { type: 'flexible' } },
  };
  if (customer !== null) params.customer = customer;
  if (tax && isSomewhere({ customer, address })) params.automatic_tax = { enabled: true };
  if (tax && address) params.customer_details = { address: stripeAddress(address) };
  if (found) params.discounts = [found.discount];
  return params;
}

const linesOf = (invoice: Stripe.Invoice): QuoteAnswer['lines'] =>
  invoice.lines.data.map(({ description, amount }) => ({ description: description ?? '', amount }));

/** Whether Stripe may know the place that tax depends on. Without a customer and an address it refuses to calculate tax. */
const isSomewhere = ({ customer, address }: Pick<Buyer, 'customer' | 'address'>): boolean =>
  customer !== null || address !== null;

/** Whether Stripe needs the buyer's address to calculate tax. */
const needsAddress = (invoice: Stripe.Invoice, buyer: Buyer): boolean =>
  !isSomewhere(buyer) || invoice.automatic_tax.status === 'requires_location_inputs';

/** @param at epoch milliseconds */
export async function quoteNew(
  stripe: Stripe,
  price: Price,
  found: FoundCoupon | null,
  buyer: Buyer,
  at: number,
): Promise<QuoteAnswer> {
  const seconds = Math.floor(at / 1000);
  const invoice = await stripe.invoices.createPreview(previewParams(price, found, buyer));
  const ends = invoice.lines.data
    .filter(({ parent }) => parent?.subscription_item_details != null)
    .map(({ period }) => period.end);
  const renewal = Math.max(seconds, ...ends);
  const lasting = found && lasts(found, seconds, renewal) ? found : null;
  // At the ordinary price, or with a coupon that is still valid at the renewal, the renewal costs as much as the first bill.
  const again =
    price.promotion || lasting !== found
      ? await stripe.invoices.createPreview(previewParams(fullPrice(price), lasting, buyer))
      : invoice;
  const quote: QuoteAnswer = {
    kind: 'new',
    currency: price.currency,
    dueToday: invoice.amount_due,
    dueAfterRenewal: Math.max(0, again.total) + carried(invoice),
    renewalDate: renewal * 1000,
    prorationDate: null,
    lines: linesOf(invoice),
  };
  if (!buyer.tax) return quote;
  if (needsAddress(invoice, buyer)) return { ...quote, needs: 'address' };
  return { ...quote, tax: { today: taxOf(invoice), renewal: taxOf(again) } };
}

/** Caches quotes that are the same for everyone for a minute, so that signed-out readers cause few requests to Stripe. */
export function createQuoteCache(now: () => number) {
  // The whole price is the key, because the catalog may change.
  const keyOf = (price: Price): string => JSON.stringify(price);
  const kept = new Map<string, { readonly quote: QuoteAnswer; readonly until: number }>();
  return {
    find(price: Price): QuoteAnswer | null {
      const found = kept.get(keyOf(price));
      return found && found.until > now() ? found.quote : null;
    },
    keep: (price: Price, quote: QuoteAnswer): void => void kept.set(keyOf(price), { quote, until: now() + 60_000 }),
  };
}

/** An amount that is too small to be charged, which Stripe adds to the next bill. A remaining credit isn't shown. */
function carried({ total, starting_balance: before, amount_due: due }: Stripe.Invoice): number {
  return due === 0 ? Math.max(0, total + before) : 0;
}

/** The quote of a purchase that waits for its payment: its coupon is redeemed and may be used up. */
export async function quoteOpen(
  stripe: Stripe,
  { subscription, due }: Pick<PaymentAttempt, 'subscription' | 'due'>,
  { currency, promotion }: Price,
): Promise<QuoteAnswer> {
  const { latest_invoice: latest, created } = subscription;
  const invoice = typeof latest === 'object' ? latest : null;
  const renewal = subscription.trial_end ?? subscription.items.data[0]?.current_period_end ?? created;
  const params: Stripe.InvoiceCreatePreviewParams = { subscription: subscription.id };
  // During a promotion the recurring price is the reduced one; the next bill is the full price.
  if (!promotion) params.preview_mode = 'recurring';
  const again = await stripe.invoices.createPreview(params);
  const quote: QuoteAnswer = {
    kind: 'new',
    currency,
    dueToday: due,
    dueAfterRenewal: again.total + (invoice ? carried(invoice) : 0),
    renewalDate: renewal * 1000,
    prorationDate: null,
    lines: [],
  };
  if (!subscription.automatic_tax.enabled || !invoice) return quote;
  return { ...quote, tax: { today: taxOf(invoice), renewal: taxOf(again) } };
}

/** Whether a discount that starts now is still valid at the renewal. @param begun and renewal Unix seconds */
const lasts = ({ coupon }: FoundCoupon, begun: number, renewal: number): boolean =>
  coupon.duration === 'forever' ||
  (coupon.duration === 'repeating' && monthsAfter(begun * 1000, coupon.duration_in_months ?? 0) > renewal * 1000);

/** Parameters of an update of a subscription, and of its preview. */
type UpgradeParams = Pick<Stripe.SubscriptionUpdateParams, 'proration_behavior' | 'proration_date'> & {
  items: { id: string; price: string }[];
  trial_end?: 'now';
  billing_cycle_anchor?: { type: 'now' };
};

/**
 * Parameters of `POST /v1/subscriptions/{id}` for an upgrade: unused time is credited, the rest is charged now. A pending update can't
 * change currency, payment methods or tax. Time that wasn't charged because of a pause isn't credited: the new plan starts at once at
 * its full price.
 *
 * @param prorationDate Unix seconds; `null`: Stripe's current time
 */
export function upgradeParams(state: StripeState, price: Price, prorationDate: number | null): UpgradeParams {
  const { interval, interval_count: count } = price.recurring;
  const items = [{ id: state.item, price: price.id }];
  if (isUncollected(state)) return { items, proration_behavior: 'none', billing_cycle_anchor: { type: 'now' } };
  const params: UpgradeParams = { items, proration_behavior: 'always_invoice' };
  if (prorationDate !== null) params.proration_date = prorationDate;
  const inOffer = (state.offer ?? null) !== null;
  // A legacy trial ends with the upgrade. A Trial Offer ends with the new price, and doesn't accept trial_end.
  if (state.status === 'trialing' && !inOffer) params.trial_end = 'now';
  // Flexible billing keeps the anchor: a year bought in mid-month would end at the old anchor.
  else if (inOffer || interval !== state.price.interval || count !== state.price.count)
    params.billing_cycle_anchor = { type: 'now' };
  return params;
}

/** @param prorationDate Unix seconds of an earlier quote; `null`: Stripe's current time, which differs on a test clock */
export async function quoteSwitch(
  stripe: Stripe,
  state: StripeState,
  price: Price,
  to: KnownPrice,
  prorationDate: number | null,
): Promise<QuoteAnswer> {
  const kind = switchOf(state, to);
  const { discounts, automatic_tax: tax } = await stripe.subscriptions.retrieve(state.id, {
    expand: ['discounts.source.coupon'],
  });
  const quote = async (
    renewal: number,
    now: Pick<QuoteAnswer, 'dueToday' | 'prorationDate' | 'lines'>,
    invoice: Stripe.Invoice | null,
  ): Promise<QuoteAnswer> => {
    // Discounts that are still valid at the renewal apply to the new plan as well.
    const left = discounts.filter((one) => isLeft(one, renewal, invoice !== null));
    const again = await recurring(stripe, state, price, left.length < discounts.length ? left : null);
    const answer = {
      kind,
      currency: to.currency,
      subscriptionId: state.id,
      renewalDate: renewal * 1000,
      dueAfterRenewal: again.total,
      ...now,
    };
    if (!tax.enabled) return answer;
    return { ...answer, tax: { today: invoice && taxOf(invoice), renewal: taxOf(again) } };
  };
  if (kind !== 'upgrade') return quote(state.periodEnd / 1000, { dueToday: 0, prorationDate: null, lines: [] }, null);
  const invoice = await stripe.invoices.createPreview({
    subscription: state.id,
    subscription_details: upgradeParams(state, price, prorationDate),
  });
  const date = prorationDate ?? invoice.parent?.subscription_details?.subscription_proration_date ?? invoice.created;
  const ends = invoice.lines.data.filter(({ amount }) => amount >= 0).map(({ period }) => period.end);
  const now = { dueToday: invoice.amount_due, prorationDate: date, lines: linesOf(invoice) };
  return quote(Math.max(date, ...ends), now, invoice);
}

/** Whether a discount is still valid at a renewal. @param billed whether a bill before it uses up a discount for one bill */
function isLeft(discount: string | Stripe.Discount, renewal: number, billed: boolean): boolean {
  if (typeof discount === 'string') return true;
  const { coupon } = discount.source;
  if (billed && typeof coupon === 'object' && coupon?.duration === 'once') return false;
  return discount.end === null || discount.end > renewal;
}

/**
 * Stripe's preview of a subscription's recurring bill at another price, without proration.
 *
 * @param discounts that still hold; `null`: all of its discounts
 */
function recurring(
  stripe: Stripe,
  state: StripeState,
  price: Price,
  discounts: readonly (string | Stripe.Discount)[] | null,
): Promise<Stripe.Invoice> {
  const details: Stripe.InvoiceCreatePreviewParams.SubscriptionDetails = {
    items: [{ id: state.item, price: price.id }],
    proration_behavior: 'none',
  };
  const params: Stripe.InvoiceCreatePreviewParams = {
    subscription: state.id,
    preview_mode: 'recurring',
    subscription_details: details,
  };
  // A subscription that ends has no next bill; choosing another plan reverts the cancellation.
  if (state.cancelAtPeriodEnd) details.cancel_at_period_end = false;
  else if (isEnding(state)) details.cancel_at = '';
  if (discounts)
    params.discounts = discounts.length === 0 ? '' : discounts.map((one) => ({ discount: idOf(one) ?? '' }));
  return stripe.invoices.createPreview(params);
}
