/**
 * What Stripe would charge: its own preview of the invoice, so that the sum on the button is the sum of the charge. The parameters of
 * the preview and of the purchase are made here, side by side, from the same plan.
 */
import Stripe from 'stripe';
import { discounted, lessCoupon } from '../read-state.ts';
import { type KnownPrice, type StripeState, switchKind } from '../state.ts';
import type { Price, QuoteAnswer } from '../wire.ts';
import type { FoundCoupon } from './coupons.server.ts';
import type { Till } from './paying.server.ts';

const daySeconds = 24 * 60 * 60;

/** What the promotion's time costs, as one item: so many days at so much. */
function promotionItem({ promotion, currency, product }: Price) {
  if (!promotion || promotion.perDay === 0) return null;
  return { price_data: { currency, product: product.id, unit_amount: promotion.perDay }, quantity: promotion.days };
}

/** Of `POST /v1/subscriptions`. */
export function purchaseParams(price: Price, found: FoundCoupon | null): Stripe.SubscriptionCreateParams {
  const item = promotionItem(price);
  return {
    items: [{ price: price.id }],
    ...(found && { discounts: [found.discount] }),
    ...(price.promotion && { trial_period_days: price.promotion.days }),
    ...(item && { add_invoice_items: [item] }),
  };
}

/** Of `POST /v1/invoices/create_preview` for the same. @param at Unix seconds */
function previewParams(
  price: Price,
  found: FoundCoupon | null,
  customer: string | null,
  at: number,
): Stripe.InvoiceCreatePreviewParams {
  const item = promotionItem(price);
  return {
    ...(customer === null ? { currency: price.currency } : { customer }),
    subscription_details: {
      items: [{ price: price.id }],
      billing_mode: { type: 'flexible' },
      ...(price.promotion && { trial_end: at + price.promotion.days * daySeconds }),
    },
    ...(found && { discounts: [found.discount] }),
    ...(item && { invoice_items: [item] }),
  };
}

const linesOf = (invoice: Stripe.Invoice): QuoteAnswer['lines'] =>
  invoice.lines.data.map(({ description, amount }) => ({ description: description ?? '', amount }));

/** @param at epoch milliseconds */
export async function quoteNew(
  stripe: Stripe,
  price: Price,
  found: FoundCoupon | null,
  customer: string | null,
  at: number,
): Promise<QuoteAnswer> {
  let seconds = Math.floor(at / 1000);
  const preview = () => stripe.invoices.createPreview(previewParams(price, found, customer, seconds));
  const invoice = await preview().catch(async (error: unknown) => {
    if (!price.promotion || !(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
    // A customer on a test clock may be so far ahead that the end of the promotion has passed: by Stripe's own time, then.
    const plain = await stripe.invoices.createPreview(previewParams({ ...price, promotion: null }, null, customer, 0));
    seconds = plain.created;
    return preview();
  });
  const ends = invoice.lines.data
    .filter(({ parent }) => parent?.subscription_item_details != null)
    .map(({ period }) => period.end);
  const renewal = price.promotion ? seconds + price.promotion.days * daySeconds : Math.max(seconds, ...ends);
  return {
    kind: 'new',
    currency: price.currency,
    dueToday: invoice.amount_due,
    dueAfterRenewal: afterRenewal(price, found, seconds, renewal) + carried(invoice),
    renewalDate: renewal * 1000,
    prorationDate: null,
    lines: linesOf(invoice),
  };
}

/** Quotes that are the same for everyone, kept for a minute: a stranger without a coupon costs no request to Stripe. */
export function keepQuotes(now: () => number) {
  // The catalogue may change: another sum is another key.
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

/** What is too little to be charged by itself Stripe adds to the next bill. A credit that is left over is told by nobody. */
function carried({ total, starting_balance: before, amount_due: due }: Stripe.Invoice): number {
  return due === 0 ? Math.max(0, total + before) : 0;
}

/** Of a purchase that waits for its payment: its coupon is redeemed, and perhaps good for nobody else any more. */
export function quoteOpen({ subscription, due }: Pick<Till, 'subscription' | 'due'>, price: Price, found: FoundCoupon) {
  const { latest_invoice: invoice } = subscription;
  const later = typeof invoice === 'object' && invoice !== null ? carried(invoice) : 0;
  const renewal = subscription.trial_end ?? subscription.items.data[0]?.current_period_end ?? subscription.created;
  return {
    ...{ kind: 'new', currency: price.currency, dueToday: due, renewalDate: renewal * 1000 },
    dueAfterRenewal: afterRenewal(price, found, subscription.created, renewal) + later,
    ...{ prorationDate: null, lines: [] },
  } satisfies QuoteAnswer;
}

/** The bill at the renewal: with the discount only if it lasts until then. @param begun and renewal Unix seconds */
function afterRenewal(
  { unit_amount: amount }: Price,
  found: FoundCoupon | null,
  begun: number,
  renewal: number,
): number {
  if (!found) return amount;
  const { coupon } = found;
  const lasts =
    coupon.duration === 'forever' ||
    (coupon.duration === 'repeating' && monthsAfter(begun, coupon.duration_in_months ?? 0) > renewal);
  return lasts ? lessCoupon(amount, coupon) : amount;
}

/** By Stripe's calendar: a month after January 31 is the last day of February. @param at Unix seconds */
function monthsAfter(at: number, months: number): number {
  const date = new Date(at * 1000);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, lastDay));
  return date.getTime() / 1000;
}

/**
 * Of `POST /v1/subscriptions/{id}` for an upgrade: the unused time is credited, the rest is charged now.
 *
 * @param prorationDate Unix seconds; `null`: this moment of Stripe's
 */
export function upgradeParams(state: StripeState, price: Price, prorationDate: number | null) {
  return {
    items: [{ id: state.item, price: price.id }],
    proration_behavior: 'always_invoice' as const,
    ...(prorationDate !== null && { proration_date: prorationDate }),
    // A first cheap time ends with the upgrade.
    ...(state.status === 'trialing' && { trial_end: 'now' as const }),
  };
}

/** @param prorationDate Unix seconds, of an earlier quote; `null`: Stripe's own moment, which is not ours on a test clock */
export async function quoteSwitch(
  stripe: Stripe,
  state: StripeState,
  price: Price,
  to: KnownPrice,
  prorationDate: number | null,
): Promise<QuoteAnswer> {
  const kind = switchKind(state.price, to);
  // A discount that is there goes on, as far as it is good for this plan.
  const subscription = await stripe.subscriptions.retrieve(state.id, {
    expand: ['discounts.source.coupon.applies_to'],
  });
  const base = (renewal: number) => ({
    ...{ kind, currency: to.currency, renewalDate: renewal * 1000 },
    dueAfterRenewal: discounted(to, subscription, renewal),
  });
  if (kind !== 'upgrade') {
    return { ...base(state.periodEnd / 1000), dueToday: 0, prorationDate: null, lines: [] };
  }
  const { items, ...params } = upgradeParams(state, price, prorationDate);
  const invoice = await stripe.invoices.createPreview({
    subscription: state.id,
    subscription_details: { items, ...params },
  });
  const date = prorationDate ?? invoice.parent?.subscription_details?.subscription_proration_date ?? invoice.created;
  const ends = invoice.lines.data.filter(({ amount }) => amount >= 0).map(({ period }) => period.end);
  return {
    ...base(Math.max(date, ...ends)),
    dueToday: invoice.amount_due,
    prorationDate: date,
    lines: linesOf(invoice),
  };
}
