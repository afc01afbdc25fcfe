/** What is bought and what it costs: the price, the coupon (spec section 4, "Coupon") and Stripe's own sum for both. */
import { atom, type ReadableAtom } from 'nanostores';
import type * as client from '../../lib/billing/client.ts';
import { refusalOf } from '../../lib/billing/client.ts';
import { priceIn } from '../../lib/billing/currency.ts';
import type { Price, QuoteAnswer, TaxAddress } from '../../lib/billing/wire.ts';
import { paywall as messages } from '../../lib/plans/messages.ts';
import type { PaywallPayload } from '../../stores/ui.ts';
import { wordsFor } from '../shared/messages.ts';
import type { Purchase } from './payment.ts';

/** The tier that a wall sells. */
const tier = 'sun-reader';

const isOrdinary = (price: Price) => price.promotion === null && price.pennyHeading === null && !price.print;

/** Whether the opener says which price it is to be. */
const isNamed = ({ planId, priceId, frequency }: PaywallPayload) => Boolean(planId ?? priceId ?? frequency);

/** Ordinary prices of the reader's tier, the yearly one first: it is the cheaper way. */
export const choices = (prices: readonly Price[], payload: PaywallPayload): readonly Price[] =>
  isNamed(payload) ? [] : offered(prices);

const offered = (prices: readonly Price[]): readonly Price[] => {
  const mine = prices.filter((price) => price.product.metadata.zephr_product_id === tier && isOrdinary(price));
  return mine.toSorted((one, other) => other.unit_amount - one.unit_amount);
};

/**
 * The price that is meant; a name that is not sold (any more) is none, so that readers pay only for what they chose.
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
  /** The last sum; older while `asking`. */
  readonly quote: QuoteAnswer | null;
  /** Where the buyer lives, as far as tax depends on it; `null`: not told yet. */
  readonly place: TaxAddress | null;
  readonly asking: boolean;
  /** Why there is no sum. */
  readonly error: string | null;
}

export type OrderCalls = Pick<typeof client, 'quote' | 'coupon'>;

export interface Order {
  readonly $state: ReadableAtom<OrderState>;
  /** Asks for the first sum. @param code a coupon that is remembered, or `''` */
  begin(code: string): Promise<void>;
  choose(price: Price): Promise<void>;
  apply(code: string): Promise<void>;
  remove(): Promise<void>;
  /** Notes where the buyer lives, and asks for the sum there. */
  live(place: TaxAddress): Promise<void>;
  /** Asks for the sum anew: somebody has signed in, or it has changed. */
  refresh(): Promise<void>;
}

/** The order as Stripe quotes it, perhaps without the tax of a place that isn't known; `null` as long as there is no quote. */
export function quotedPurchase({ price, quote, asking, coupon, place }: OrderState): Purchase | null {
  if (!quote || asking || coupon.kind === 'applying') return null;
  return {
    productId: price.product.metadata.zephr_product_id,
    planId: price.zephrPlanId,
    coupon: coupon.kind === 'applied' ? coupon.code : null,
    expected: quote.dueToday,
    prorationDate: quote.prorationDate,
    currency: price.currency,
    address: place,
  };
}

/** The order as it is paid; `null` as long as its sum is not known. */
export const purchaseOf = (state: OrderState): Purchase | null => (state.quote?.needs ? null : quotedPurchase(state));

/** @param onCoupon what to remember: the code that counts, or `undefined` */
export function createOrder(calls: OrderCalls, price: Price, onCoupon: (code: string | undefined) => void): Order {
  const $state = atom<OrderState>({
    price,
    coupon: { kind: 'none', code: '' },
    quote: null,
    place: null,
    asking: false,
    error: null,
  });
  const set = (change: Partial<OrderState>) => $state.set({ ...$state.get(), ...change });
  /** Sums are numbered, so that an old answer never stands for a newer question. */
  let latest = 0;
  let tries = 0;

  async function refresh(): Promise<void> {
    const mine = ++latest;
    const { price, coupon, place } = $state.get();
    set({ asking: true, error: null });
    const code = coupon.kind === 'applied' ? coupon.code : undefined;
    const answer = await calls.quote(price.zephrPlanId, code, { currency: price.currency, address: place });
    if (mine !== latest) return;
    if (answer.ok && answer.value) {
      // A subscription keeps the currency that it was begun in.
      const shown = priceIn($state.get().price, answer.value.currency);
      return set({ quote: answer.value, price: shown, asking: false });
    }
    if (!answer.ok && code !== undefined && refusalOf(answer).code?.startsWith('coupon_')) {
      // It was good a while ago, or for whom nobody knew yet: there is a sum without it.
      onCoupon(undefined);
      set({ coupon: { kind: 'error', code, text: answer.message ?? messages.couponFailed } });
      return refresh();
    }
    set({
      quote: null,
      asking: false,
      error: answer.ok ? messages.wrong : wordsFor(answer, answer.message ?? messages.wrong),
    });
  }

  async function apply(typed: string): Promise<void> {
    const code = typed.trim();
    const { coupon, price } = $state.get();
    if (code === '' || coupon.kind === 'applying') return;
    const mine = ++tries;
    set({ coupon: { kind: 'applying', code } });
    const answer = await calls.coupon(code, price.zephrPlanId);
    if (mine !== tries) return;
    if (answer.ok && answer.value && !answer.value.error) {
      const { amount_off: amountOff, percent_off: percentOff, discount_code } = answer.value;
      set({ coupon: { kind: 'applied', code: discount_code || code, amountOff, percentOff } });
      onCoupon(discount_code || code);
    } else {
      onCoupon(undefined);
      const said = answer.ok ? answer.value?.error : (refusalOf(answer).error ?? answer.message);
      const text = !answer.ok && answer.status === 0 ? messages.offline : (said ?? messages.couponFailed);
      set({ coupon: { kind: 'error', code, text } });
    }
    if ($state.get().coupon.kind === 'applied') await refresh();
  }

  /** Without a coupon there is a sum, too. */
  async function begin(code: string): Promise<void> {
    if (code !== '') await apply(code);
    if ($state.get().coupon.kind !== 'applied') await refresh();
  }

  return {
    $state,
    begin,
    apply,
    async choose(next) {
      tries++;
      const { coupon } = $state.get();
      // A coupon may be good for some plans only: it is asked for anew.
      set({ price: next, asking: true, coupon: { kind: 'none', code: '' } });
      await begin(coupon.kind === 'applied' ? coupon.code : '');
    },
    async remove() {
      tries++;
      onCoupon(undefined);
      set({ coupon: { kind: 'none', code: '' } });
      await refresh();
    },
    async live(place) {
      set({ place });
      await refresh();
    },
    refresh,
  };
}
