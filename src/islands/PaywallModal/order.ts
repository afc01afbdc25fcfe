/** What is bought and what it costs: the price, the coupon (spec section 4, "Coupon") and Stripe's own sum for both. */
import { atom, type ReadableAtom, type WritableAtom } from 'nanostores';
import type * as client from '../../lib/billing/client.ts';
import { refusalOf } from '../../lib/billing/client.ts';
import { priceIn } from '../../lib/billing/currency.ts';
import type { Price, QuoteAnswer, TaxAddress } from '../../lib/billing/schema.ts';
import { paywall as messages } from '../../lib/plans/messages.ts';
import { lowestTier } from '../../lib/plans/model.ts';
import type { PaywallPayload } from '../../stores/ui.ts';
import { refusalMessage } from '../shared/messages.ts';
import type { Purchase } from './payment.ts';

const isOrdinary = (price: Price) => price.promotion === null && price.pennyHeading === null && !price.print;

/** Whether the link names a price. */
const isNamed = ({ planId, priceId, frequency }: PaywallPayload) => Boolean(planId ?? priceId ?? frequency);

/** Ordinary prices of the reader's tier, the yearly one first because it is cheaper. */
export const ordinaryPrices = (prices: readonly Price[], payload: PaywallPayload): readonly Price[] =>
  isNamed(payload) ? [] : offered(prices);

const offered = (prices: readonly Price[]): readonly Price[] => {
  const mine = prices.filter((price) => price.product.metadata.zephr_product_id === lowestTier && isOrdinary(price));
  return mine.toSorted((one, other) => other.unit_amount - one.unit_amount);
};

/**
 * The chosen price; `null` if it is not sold any more, so that readers pay only for what they chose.
 *
 * @param remembered the plan that was chosen before in this tab
 */
export function chosenPrice(
  prices: readonly Price[],
  payload: PaywallPayload,
  remembered: string | undefined,
): Price | null {
  const { planId, priceId, frequency } = payload;
  if (planId) return prices.find((price) => price.zephrPlanId === planId) ?? null;
  if (priceId) return prices.find((price) => price.id === priceId) ?? null;
  const mine = offered(prices);
  if (frequency) return mine.find((price) => price.recurring.interval === frequency) ?? null;
  return mine.find((price) => price.zephrPlanId === remembered) ?? mine[0] ?? null;
}

export type CouponState =
  | { readonly kind: 'none' | 'applying'; readonly code: string }
  | {
      readonly kind: 'applied';
      readonly code: string;
      readonly amountOff: number | null;
      readonly percentOff: number | null;
    }
  | { readonly kind: 'error'; readonly code: string; readonly text: string };

export interface OrderState {
  readonly price: Price;
  readonly coupon: CouponState;
  /** The last sum; out of date while `asking`. */
  readonly quote: QuoteAnswer | null;
  /** The address that tax depends on; `null`: not known yet. */
  readonly place: TaxAddress | null;
  readonly asking: boolean;
  /** Why there is no sum. */
  readonly error: string | null;
}

export type OrderCalls = Pick<typeof client, 'quote' | 'coupon'>;

export type Order = ReturnType<typeof createOrder>;

/** The quoted order, perhaps without the tax of an unknown address; `null` without a quote. */
export function quotedPurchase({ price, quote, asking, coupon, place }: OrderState): Purchase | null {
  if (!quote || asking || coupon.kind === 'applying') return null;
  return {
    productId: price.product.metadata.zephr_product_id,
    planId: price.zephrPlanId,
    coupon: coupon.kind === 'applied' ? coupon.code : null,
    expected: quote.dueToday,
    prorationDate: quote.prorationDate,
    subscriptionId: quote.subscriptionId,
    ...(quote.kind === 'downgrade' && { atRenewal: true }),
    currency: price.currency,
    address: place,
  };
}

/** The order as it is paid; `null` until its sum is known. */
export const purchaseOf = (state: OrderState): Purchase | null => (state.quote?.needs ? null : quotedPurchase(state));

/** What the functions of an order share. */
interface Context {
  readonly calls: OrderCalls;
  readonly $state: WritableAtom<OrderState>;
  /** Stores the valid coupon, or `undefined`. */
  onCoupon(code: string | undefined): void;
  /** Numbers of the latest quote and the latest coupon: an older answer is ignored. */
  quotes: number;
  coupons: number;
}

const set = ({ $state }: Pick<Context, '$state'>, change: Partial<OrderState>) =>
  $state.set({ ...$state.get(), ...change });

export function createOrder(calls: OrderCalls, price: Price, onCoupon: (code: string | undefined) => void) {
  const $state = atom<OrderState>({
    price,
    coupon: { kind: 'none', code: '' },
    quote: null,
    place: null,
    asking: false,
    error: null,
  });
  const context: Context = { calls, $state, onCoupon, quotes: 0, coupons: 0 };
  return {
    $state: $state as ReadableAtom<OrderState>,
    /** Fetches the first sum. @param code the stored coupon, or `''` */
    begin: (code: string) => begin(context, code),
    apply: (code: string) => apply(context, code),
    async choose(next: Price) {
      context.coupons++;
      // A quote that is still on its way is for the previous plan.
      context.quotes++;
      const { coupon } = $state.get();
      // A coupon may be for some plans only, so it is checked again.
      set(context, { price: next, asking: true, coupon: { kind: 'none', code: '' } });
      await begin(context, coupon.kind === 'applied' ? coupon.code : '');
    },
    async remove() {
      context.coupons++;
      onCoupon(undefined);
      set(context, { coupon: { kind: 'none', code: '' } });
      await refresh(context);
    },
    /** Stores the address that tax depends on, and fetches the sum. */
    async setPlace(place: TaxAddress) {
      set(context, { place });
      await refresh(context);
    },
    /** Fetches the sum again. */
    refresh: () => refresh(context),
  };
}

/** Applies the coupon if there is one, and fetches the sum. */
async function begin(context: Context, code: string): Promise<void> {
  if (code !== '') await apply(context, code);
  if (context.$state.get().coupon.kind !== 'applied') await refresh(context);
}

async function refresh(context: Context): Promise<void> {
  const { calls, $state, onCoupon } = context;
  const mine = ++context.quotes;
  const { price, coupon, place } = $state.get();
  set(context, { asking: true, error: null });
  const code = coupon.kind === 'applied' ? coupon.code : undefined;
  const answer = await calls.quote(price.zephrPlanId, code, { currency: price.currency, address: place });
  if (mine !== context.quotes) return;
  if (answer.ok && answer.value) {
    // A subscription keeps its currency.
    const shown = priceIn($state.get().price, answer.value.currency);
    return set(context, { quote: answer.value, price: shown, asking: false });
  }
  if (!answer.ok && code !== undefined && refusalOf(answer).code?.startsWith('coupon_')) {
    // The coupon was valid earlier, or before the reader signed in: show the order without it.
    onCoupon(undefined);
    set(context, { coupon: { kind: 'error', code, text: answer.message ?? messages.couponFailed } });
    return refresh(context);
  }
  const error = answer.ok ? messages.wrong : refusalMessage(answer, answer.message ?? messages.wrong);
  set(context, { quote: null, asking: false, error });
}

async function apply(context: Context, typed: string): Promise<void> {
  const { calls, $state, onCoupon } = context;
  const code = typed.trim();
  const { coupon, price } = $state.get();
  if (code === '' || coupon.kind === 'applying') return;
  const mine = ++context.coupons;
  set(context, { coupon: { kind: 'applying', code } });
  const answer = await calls.coupon(code, price.zephrPlanId, price.currency);
  if (mine !== context.coupons) return;
  if (answer.ok && answer.value && !answer.value.error) {
    const { amount_off: amountOff, percent_off: percentOff, discount_code } = answer.value;
    set(context, { coupon: { kind: 'applied', code: discount_code || code, amountOff, percentOff } });
    onCoupon(discount_code || code);
    return refresh(context);
  }
  // A coupon that couldn't be checked is tried again at the next visit.
  if (answer.ok || (answer.status >= 400 && answer.status < 500)) onCoupon(undefined);
  const reason = answer.ok ? answer.value?.error : (refusalOf(answer).error ?? answer.message);
  const text = !answer.ok && answer.status === 0 ? messages.offline : (reason ?? messages.couponFailed);
  set(context, { coupon: { kind: 'error', code, text } });
}
