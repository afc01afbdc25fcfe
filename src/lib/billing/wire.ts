/**
 * What the checkout calls take and give, one schema each (spec section 7, "Checkout"; vendors.md 1.12 and 3). Amounts are
 * whole minor units of the currency everywhere. Islands take the types alone (`import type`).
 */
import { z } from 'zod';

const id = z.string().min(1).max(255);
const code = z.string().trim().min(1).max(100);

/** Lower case, `usd`. One that a price is not sold in is the price's own. */
const currency = z.string().regex(/^[a-z]{3}$/);

/** As much of an address as tax depends on. */
export const taxAddress = z.looseObject({
  /** Two capital letters. */
  country: z.string().regex(/^[A-Z]{2}$/),
  postal_code: z.string().trim().max(20).optional(),
});
export type TaxAddress = z.infer<typeof taxAddress>;

/** Tax within a sum: on top of the price, or included in it. */
export interface Tax {
  /** Minor units. */
  readonly amount: number;
  readonly included: boolean;
}

/** POST /blaize/payment/stripe/subscribe. */
export const subscribeBody = z.looseObject({
  /** `pm_…`, made in the browser: a card's numbers never come here. */
  payment_method: id,
  /** `zephr_product_id` of the price's product, such as `sun-reader`. */
  product_id: id,
  /** `zephrPlanId` of the price. */
  plan_id: id,
  discount_code: code.optional(),
  /** One number for one decision to buy, made by the screen; the same one again is the same purchase. */
  attempt: z.uuid().optional(),
  /** What the button said, minor units. When Stripe would charge another sum nothing is charged and the answer is 409. */
  expected: z.int().min(0).optional(),
  currency: currency.optional(),
  address: taxAddress.optional(),
});
export type SubscribeBody = z.infer<typeof subscribeBody>;

/** Words of Stripe's, of a payment intent or a setup intent. */
export type IntentStatus =
  | 'requires_payment_method'
  | 'requires_confirmation'
  | 'requires_action'
  | 'processing'
  | 'requires_capture'
  | 'succeeded'
  | 'canceled';

/** 200 of subscribe. 400 and above: {@link CheckoutError}. */
export interface SubscribeAnswer {
  readonly subscriptionId: string;
  /** Of the payment, or of the setup of the card where nothing is due now. */
  readonly paymentIntentStatus: IntentStatus;
  /** `pi_…_secret_…`, or `seti_…_secret_…` where nothing is due now; `null` when nothing is left to confirm. */
  readonly clientSecret: string | null;
  readonly paymentType: 'recurring';
  /** Our number of what was granted; `null` until it is paid. */
  readonly grant_id: string | null;
}

/** POST /blaize/payment/stripe/subscription/confirmation, after the browser has confirmed the card. */
export const confirmationBody = z.looseObject({ subscriptionId: id });
export interface ConfirmationAnswer {
  readonly grant_id: string;
}

/** What a checkout call says no with. */
export interface CheckoutError {
  /** A sentence for the reader; for cards Stripe's own, which are meant to be shown. */
  readonly message: string;
  /** Stripe's `code`, and `decline_code` where there is one, for instance `card_declined` and `insufficient_funds`. */
  readonly code?: string;
  readonly declineCode?: string;
  /** With 409 to a sum that has changed: what Stripe would charge, minor units. */
  readonly due?: number;
  readonly retryAfter?: number;
}

/** GET /api/v1/checkout/plans: what can be bought, and what the browser needs to ask for a card. */
export interface PlansAnswer {
  readonly prices: readonly Price[];
  readonly publishableKey: string;
  /** Address of the script that brings the card fields. */
  readonly scriptUrl: string;
  /** What is charged where the reader is, as far as a price is sold in it. Lower case. */
  readonly currency: string;
  /** Where the reader seems to be, two capital letters; `null`: not known. */
  readonly country: string | null;
  /** Whether tax is added, for which it has to be known where the reader lives. */
  readonly tax: boolean;
}

/** GET /api/v1/checkout/currency: what the reader pays in. */
export interface CurrencyAnswer {
  /** Lower case. */
  readonly currency: string;
}

/** A Trial Offer of Stripe's: a sum for the first days, once in a reader's life; then the price that it leads to. */
export interface Promotion {
  /** `to_…`. */
  readonly offer: string;
  /** `price_…` that is billed from then on. */
  readonly next: string;
  readonly days: number;
  /** Minor units for all of these days. */
  readonly amount: number;
  /** As `currencies` of the price. */
  readonly currencies?: Readonly<Record<string, number>>;
}

/** Spec section 3, "Price", from Stripe's catalogue. With a promotion its sums are those of the price that follows. */
export interface Price {
  readonly id: string;
  readonly name: string;
  readonly unit_amount: number;
  /** Lower case, `usd`. */
  readonly currency: string;
  /** Minor units in the other currencies that it is sold in. Absent: none. */
  readonly currencies?: Readonly<Record<string, number>>;
  readonly recurring: { readonly interval: 'day' | 'week' | 'month' | 'year'; readonly interval_count: number };
  readonly zephrPlanId: string;
  /** Set for a promotional price: its heading and the line below, for instance "Read the Sun for a PENNY A DAY". */
  readonly pennyHeading: string | null;
  readonly pennySubheading: string | null;
  /** A first time for less, before what the rest of this says is billed; `null` for ordinary prices. */
  readonly promotion: Promotion | null;
  /** Whether the printed paper comes with it, which takes an address. */
  readonly print: boolean;
  readonly product: {
    readonly id: string;
    readonly name: string;
    readonly metadata: { readonly zephr_product_id: string };
  };
}

/** POST /api/v1/checkout/get-coupon. */
export const couponBody = z.looseObject({ couponCode: code, plan_id: id.optional() });
/** Spec section 3, "Coupon result": 200 with one of the two, 404 or 400 with `error`, 429 with `error` and Retry-After. */
export interface CouponAnswer {
  readonly discount_code: string;
  readonly amount_off: number | null;
  readonly percent_off: number | null;
  readonly error?: string;
}

/** POST /api/v1/checkout/quote: what Stripe would charge. Readers who have a subscription are quoted the switch. */
export const quoteBody = z.looseObject({
  plan_id: id,
  couponCode: code.optional(),
  currency: currency.optional(),
  address: taxAddress.optional(),
});
export interface QuoteAsk {
  readonly planId: string;
  readonly couponCode?: string | undefined;
  readonly currency?: string | undefined;
  readonly address?: TaxAddress | undefined;
}
export interface QuoteAnswer {
  readonly kind: 'new' | 'upgrade' | 'downgrade' | 'same';
  readonly currency: string;
  /** Charged now. */
  readonly dueToday: number;
  /** Charged at the renewal and from then on. */
  readonly dueAfterRenewal: number;
  /** Tax within the two sums. Absent where none is worked out. */
  readonly tax?: { readonly today: Tax | null; readonly renewal: Tax | null };
  /** What has to be known before the sums are whole: where the reader lives. */
  readonly needs?: 'address';
  /** Epoch milliseconds of the renewal. */
  readonly renewalDate: number;
  /** For a switch: the moment for which the proration was worked out, Unix seconds; send it back with the switch. */
  readonly prorationDate: number | null;
  /** Lines of the invoice, as Stripe words them. */
  readonly lines: readonly { readonly description: string; readonly amount: number }[];
}

/** POST /api/v1/me/subscription/switch. */
export const switchBody = z.looseObject({
  plan_id: id,
  prorationDate: z.int().positive().optional(),
  expected: z.int().min(0).optional(),
  attempt: z.uuid().optional(),
});
/** As {@link SubscribeAnswer}; a downgrade takes effect at the renewal and asks for no payment. */
export type SwitchAnswer = SubscribeAnswer & { readonly effective: 'now' | 'renewal' };

/** POST /api/v1/me/subscription/cancel (at the end of the paid period) and /resume (until then). */
export const cancelBody = z.looseObject({ reason: z.string().max(500).optional() });

/** PUT /api/v1/me/subscription/metadata (spec section 3, "Subscription metadata"). */
export const metadataBody = z.looseObject({
  subscriptionId: id,
  metadata: z.looseObject({
    ...Object.fromEntries(
      (
        [
          ...(['created_with', 'customer_email', 'query_url', 'query_utm_campaign', 'query_utm_content'] as const),
          ...(['query_utm_medium', 'query_utm_source', 'device_type', 'geo_city', 'geo_country'] as const),
        ] as const
      ).map((name) => [name, z.string().max(500).optional()]),
    ),
  }),
});

/** GET /api/v1/me/subscription: 200, 401 without a session, 502 with "Failed to fetch subscriptions". */
export interface SubscriptionAnswer {
  readonly subscription: Subscription | null;
}

/** Spec section 3, "Subscription", and what the screens need beside it. */
export interface Subscription {
  readonly id: string;
  readonly currency: string;
  /** Minor units at a renewal without discounts. */
  readonly preDiscountPrice: number;
  /** ISO 8601; `null` when nothing is billed any more. */
  readonly nextBillingDate: string | null;
  /** Minor units of the next bill. */
  readonly price: number;
  /** Tax within it; absent where none is worked out. */
  readonly tax?: Tax;
  readonly productId: string;
  readonly planId: string;
  readonly planName: string;
  readonly interval: 'day' | 'week' | 'month' | 'year';
  readonly print: boolean;
  readonly status: 'trialing' | 'active' | 'past_due' | 'unpaid' | 'canceled' | 'incomplete' | 'paused';
  readonly cancelAtPeriodEnd: boolean;
  /** ISO 8601: until when it opens what it opens. */
  readonly paidUntil: string;
  /** Only while the publisher collects nothing. `resumesAt`: ISO 8601, `null` where that is not known yet. */
  readonly paused?: { readonly resumesAt: string | null };
  /** Only where a change is planned: what begins with the next bill. */
  readonly next?: Pick<Subscription, 'planId' | 'planName' | 'productId' | 'print'>;
}

/** GET /api/v1/me/invoices?after=in_…: newest first, a page of them. */
export interface BillsAnswer {
  readonly bills: readonly Bill[];
  /** Give it as `after` for what is older; `null`: that was all. */
  readonly next: string | null;
}
export interface Bill {
  readonly id: string;
  /** As it is printed on the invoice; `null` before it has one. */
  readonly number: string | null;
  /** ISO 8601. */
  readonly date: string;
  /** Minor units, the whole of it. */
  readonly amount: number;
  /** Tax within it. Absent or `null`: none was worked out. */
  readonly tax?: Tax | null;
  readonly currency: string;
  readonly status: 'paid' | 'open' | 'uncollectible';
  /** Whether there is a PDF, at /account/invoice?id=in_… */
  readonly file: boolean;
}

/** GET /api/v1/me/payment-method: what is charged; `null`: no card is kept. */
export interface CardAnswer {
  readonly card: KeptCard | null;
}
export interface KeptCard {
  /** Lower case, such as `visa`. */
  readonly brand: string;
  readonly last4: string;
  readonly expMonth: number;
  readonly expYear: number;
}

/** GET and POST /api/v1/me/shipping (spec section 3, "Shipping"). */
export const shippingBody = z.looseObject({
  name: z.string().trim().min(1).max(200),
  address: z.looseObject({
    line1: z.string().trim().min(1).max(200),
    line2: z.string().trim().max(200).nullish(),
    city: z.string().trim().min(1).max(200),
    state: z.string().trim().min(1).max(100),
    postal_code: z.string().trim().min(1).max(20),
    country: z.string().trim().length(2),
  }),
  phone: z.string().trim().max(40).nullish(),
});
export type Shipping = z.infer<typeof shippingBody>;
export interface ShippingAnswer {
  readonly shipping: Shipping | null;
}

/** POST /api/v1/me/payment-method: the card that is charged from now on. What is open is paid with it. */
export const paymentMethodBody = z.looseObject({ payment_method: id });
/** The card is kept. 402: it is, too, and what was open could not be paid with it. */
export interface KeptCardAnswer {
  /** `requires_action`: the bank asks about what is open. Ask again with the same card once the reader has answered. */
  readonly paymentIntentStatus: 'succeeded' | 'requires_action';
  /** `pi_…_secret_…`; `null` when nothing is left to confirm. */
  readonly clientSecret: string | null;
}
/** POST /zephr/payment/stripe/setupIntentSecret. */
export interface SetupIntentAnswer {
  readonly clientSecret: string;
}
