/**
 * Bodies, answers and form fields of the checkout, the subscription and its cancellation (spec sections 3 and 7; docs/services/zephr.md and
 * stripe.md). Amounts are whole minor units of the currency. The bodies are checked in routes.server.ts.
 */
import { publication } from '../../publication.ts';
import type { Fields } from '../http/form-fields.ts';

/** Maximum lengths in characters. `line`: a name, a city, or a line of an address. */
export const limits = {
  id: 255,
  coupon: 100,
  line: 200,
  region: 100,
  country: 2,
  postalCode: 20,
  phone: 40,
  metadata: 500,
  reason: 500,
} as const;

/** The part of an address that tax depends on. */
export interface TaxAddress {
  /** ISO 3166-1 alpha-2, upper case. */
  country: string;
  postal_code?: string | undefined;
}

/** The form field of a coupon. */
export const couponFields = {
  code: { label: 'Coupon', longest: limits.coupon },
} satisfies Fields<'code'>;

/** The form fields of a buyer's address, as far as tax depends on it. */
export const taxFields = {
  country: { label: 'Country', autoComplete: 'billing country', longest: limits.country },
  postal_code: { label: 'Postal code', autoComplete: 'billing postal-code', longest: limits.postalCode },
} satisfies Fields<'country' | 'postal_code'>;

/** Tax within an amount: added to the price, or included in it. */
export interface Tax {
  /** Minor units. */
  readonly amount: number;
  readonly included: boolean;
}

/** POST /blaize/payment/stripe/subscribe. */
export interface SubscribeBody {
  /** `pm_…`, made in the browser: card numbers never reach this server. */
  payment_method: string;
  /** `zephr_product_id` of the price's product, such as `sun-reader`. */
  product_id: string;
  /** `zephrPlanId` of the price. */
  plan_id: string;
  discount_code?: string | undefined;
  /** UUID of one decision to buy, created in the browser; sending it again means the same purchase. */
  attempt?: string | undefined;
  /** The sum on the button, minor units. If Stripe would charge another sum, nothing is charged and the answer is 409. */
  expected?: number | undefined;
  /** Lower case, `usd`. If the plan isn't sold in this currency, the price's own is used. */
  currency?: string | undefined;
  address?: TaxAddress | undefined;
}

/** Stripe's status of a payment intent or a setup intent. */
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
  /** Of the payment, or of the card's setup if nothing is due now. */
  readonly paymentIntentStatus: IntentStatus;
  /** `pi_…_secret_…`, or `seti_…_secret_…` if nothing is due now; `null` if nothing has to be confirmed. */
  readonly clientSecret: string | null;
  readonly paymentType: 'recurring';
  /** Our id of the access that was granted; `null` until it is paid. */
  readonly grant_id: string | null;
}

/** POST /blaize/payment/stripe/subscription/confirmation, after the browser has confirmed the card. */
export interface ConfirmationAnswer {
  readonly grant_id: string;
}

/** The body of a refused checkout call. */
export interface CheckoutError {
  /** A sentence for the reader. For refused cards it is Stripe's own, which is meant to be shown. */
  readonly message: string;
  /** Stripe's `code` and `decline_code`, such as `card_declined` and `insufficient_funds`. */
  readonly code?: string;
  readonly declineCode?: string;
  /** With 409 after the amount has changed: what Stripe would charge, minor units. */
  readonly due?: number;
  readonly retryAfter?: number;
}

/** GET /api/v1/checkout/plans: what can be bought, and what the browser needs to ask for a card. */
export interface PlansAnswer {
  readonly prices: readonly Price[];
  readonly publishableKey: string;
  /** URL of Stripe.js. */
  readonly scriptUrl: string;
  /** The currency of the reader's country, lower case; a price may not be sold in it. */
  readonly currency: string;
  /** Where the reader seems to be, two capital letters; `null`: not known. */
  readonly country: string | null;
  /** Whether Stripe adds tax, which requires the reader's address. */
  readonly tax: boolean;
}

/** GET /api/v1/checkout/currency: the currency in which the reader pays. */
export interface CurrencyAnswer {
  /** Lower case. */
  readonly currency: string;
}

/** One of Stripe's Trial Offers: a reduced amount for the first days, sold once to each reader; then the full price. */
export interface Promotion {
  /** `to_…`. */
  readonly offer: string;
  /** `price_…` that is billed afterward. */
  readonly next: string;
  readonly days: number;
  /** Minor units for all of these days. */
  readonly amount: number;
  /** As `currencies` of the price. */
  readonly currencies?: Readonly<Record<string, number>>;
}

/** Spec section 3, "Price", from Stripe's catalog. With a promotion the sums are those of the full price that follows. */
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
  /** The reduced first period; `null` for ordinary prices. */
  readonly promotion: Promotion | null;
  /** Whether the print edition is included, which requires a shipping address. */
  readonly print: boolean;
  readonly product: {
    readonly id: string;
    readonly name: string;
    readonly metadata: { readonly zephr_product_id: string };
  };
}

/** Answer of POST /api/v1/checkout/get-coupon (spec section 3, "Coupon result"); 400, 404 and 429 carry `error`. */
export interface CouponAnswer {
  readonly discount_code: string;
  readonly amount_off: number | null;
  readonly percent_off: number | null;
  readonly error?: string;
}

/** POST /api/v1/checkout/quote: what Stripe would charge; for subscribers, what the change of plan costs. */
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
  /** Tax within the two sums; absent if none is calculated. */
  readonly tax?: { readonly today: Tax | null; readonly renewal: Tax | null };
  /** The sums lack tax until the reader's address is known. */
  readonly needs?: 'address';
  /** Epoch milliseconds of the renewal. */
  readonly renewalDate: number;
  /** For a change of plan: the time that the proration was calculated for, Unix seconds. The change sends it back. */
  readonly prorationDate: number | null;
  /** For a change of plan: the subscription that would change. The change sends it back. */
  readonly subscriptionId?: string;
  /** Lines of the invoice, as Stripe words them. */
  readonly lines: readonly { readonly description: string; readonly amount: number }[];
}

/** A change of plan, as the reader agreed to it. */
export interface SwitchAsk {
  readonly planId: string;
  /** As in the quote. */
  readonly prorationDate?: number | undefined;
  /** As in the quote: of several subscriptions, another one may be shown in the meantime. */
  readonly subscriptionId?: string | undefined;
  /** As in {@link SubscribeBody}. */
  readonly expected?: number | undefined;
  readonly attempt?: string | undefined;
}

/** Answer of POST /api/v1/me/subscription/switch; a downgrade takes effect at the renewal and asks for no payment. */
export type SwitchAnswer = SubscribeAnswer & { readonly effective: 'now' | 'renewal' };

/** GET /api/v1/me/subscription: 200, 401 without a session, 502 with "Failed to fetch subscriptions". */
export interface SubscriptionAnswer {
  readonly subscription: Subscription | null;
}

/** Spec section 3, "Subscription", with further fields that the pages show. */
export interface Subscription {
  readonly id: string;
  readonly currency: string;
  /** Minor units at a renewal without discounts. */
  readonly preDiscountPrice: number;
  /** ISO 8601; `null` if no further bill follows. */
  readonly nextBillingDate: string | null;
  /** Minor units of the next bill. */
  readonly price: number;
  /** Tax within it; absent if none is calculated. */
  readonly tax?: Tax;
  readonly productId: string;
  readonly planId: string;
  readonly planName: string;
  readonly interval: 'day' | 'week' | 'month' | 'year';
  /** Intervals from one bill to the next; absent: one. */
  readonly intervalCount?: number;
  readonly print: boolean;
  readonly status: 'trialing' | 'active' | 'past_due' | 'unpaid' | 'canceled' | 'incomplete' | 'paused';
  readonly cancelAtPeriodEnd: boolean;
  /** ISO 8601: the end of the reader's access. */
  readonly paidUntil: string;
  /** Set while the bill of a renewal exists but isn't charged yet: a cancellation then ends the subscription at once. */
  readonly renewalDue?: boolean;
  /** Set if Stripe mails its invoices instead of charging a card. */
  readonly byInvoice?: boolean;
  /** Set while such an invoice is open, but not overdue. */
  readonly invoiceOpen?: boolean;
  /** Set while billing is paused. `resumesAt`: ISO 8601, `null` if not known yet. */
  readonly paused?: { readonly resumesAt: string | null };
  /** Set if a change is planned: the plan that starts with the next bill. `fixed`: by the publisher, so the reader can't take it back. */
  readonly next?: Pick<Subscription, 'planId' | 'planName' | 'productId' | 'print'> & { readonly fixed?: boolean };
}

/** Metadata that the browser may write (spec section 3, "Subscription metadata"). */
export const metadataFields = [
  'created_with',
  'customer_email',
  'query_url',
  'query_utm_campaign',
  'query_utm_content',
  'query_utm_medium',
  'query_utm_source',
  'device_type',
  'geo_city',
  'geo_country',
] as const;

/** GET /api/v1/me/invoices?after=in_…: a page of invoices, newest first. */
export interface InvoicesAnswer {
  readonly bills: readonly Invoice[];
  /** The `after` of the next page; `null`: there is none. */
  readonly next: string | null;
}
export interface Invoice {
  readonly id: string;
  /** The invoice number; `null` until it is assigned. */
  readonly number: string | null;
  /** ISO 8601. */
  readonly date: string;
  /** Minor units, tax included. */
  readonly amount: number;
  /** Tax within it; absent or `null`: none was calculated. */
  readonly tax?: Tax | null;
  readonly currency: string;
  /** `refunded`: everything paid was refunded or lost in a dispute. */
  readonly status: 'paid' | 'refunded' | 'open' | 'uncollectible';
  /** Name of its subscription; absent unless the reader has several that run. */
  readonly plan?: string | undefined;
  /** Whether there is a PDF, at /account/invoice?id=in_… */
  readonly file: boolean;
}

/** GET /api/v1/me/payment-method: the card that is charged; `null`: there is none. */
export interface CardAnswer {
  readonly card: SavedCard | null;
}
export interface SavedCard {
  /** Lower case, such as `visa`. */
  readonly brand: string;
  readonly last4: string;
  readonly expMonth: number;
  readonly expYear: number;
}
/** A card with the subscriptions that are charged to it. */
export interface ChargedCard {
  readonly card: SavedCard;
  /** Ids; none: no subscription runs. */
  readonly subscriptions: readonly string[];
}

/** GET and POST /api/v1/me/shipping (spec section 3, "Shipping"). */
export interface Shipping {
  name: string;
  address: {
    line1: string;
    line2?: string | null | undefined;
    city: string;
    state: string;
    postal_code: string;
    country: string;
  };
  phone?: string | null | undefined;
}
export interface ShippingAnswer {
  readonly shipping: Shipping | null;
}

/** POST /api/v1/me/payment-method. The card is always saved; 402: an open invoice could not be paid with it. */
export interface SavedCardAnswer {
  /** `requires_action`: the bank has to confirm an open invoice; then the same card is sent once more. */
  readonly paymentIntentStatus: 'succeeded' | 'requires_action';
  /** `pi_…_secret_…`; `null` if nothing has to be confirmed. */
  readonly clientSecret: string | null;
}
/** POST /zephr/payment/stripe/setupIntentSecret. */
export interface SetupIntentAnswer {
  readonly clientSecret: string;
}

/** Countries that a buyer can choose where tax depends on the address: ISO 3166-1 alpha-2. */
const countryCodes = `AD AE AG AL AM AR AT AU AZ BA BB BD BE BG BH BM BN BO BR BS BW BZ CA CH CL CO CR CY CZ DE DK DM DO DZ EC EE EG ES ET FI FJ FR GB GD
GE GH GR GT GY HK HN HR HU ID IE IL IN IS IT JM JO JP KE KH KN KR KW KZ LC LI LK LT LU LV MA MC MD ME MK MM MN MT MU MV MX MY MZ NA NG NI NL NO NP
NZ OM PA PE PH PK PL PR PT PY QA RO RS RW SA SE SG SI SK SM SN SV TH TN TR TT TW TZ UA UG US UY UZ VA VC VE VN ZA ZM ZW`;

/** The countries with their names in the publication's language, sorted by name. */
export function countries(): readonly { readonly code: string; readonly name: string }[] {
  const names = new Intl.DisplayNames(publication.language, { type: 'region' });
  const all = countryCodes.split(/\s+/).map((code) => ({ code, name: names.of(code) ?? code }));
  return all.toSorted((a, b) => a.name.localeCompare(b.name, publication.language));
}

/** Whether tax differs within a country, so that the postal code is required. */
export const needsPostalCode = (country: string): boolean => country === 'US' || country === 'CA';

/** The cookie with the currency that prices are shown in. Only a hint: the checkout decides what is charged. */
export const currencyCookie = 'currency';
/** Seconds until the cookie expires. */
export const currencyLife = 7 * 24 * 60 * 60;

/** The value of the currency cookie. */
export interface CurrencyHint {
  readonly currency: string;
  /** Whether it is the currency of the reader's subscription, which doesn't change with the country. */
  readonly own: boolean;
}
export const currencyHint = ({ currency, own }: CurrencyHint): string => (own ? `${currency}.own` : currency);

/** Reads the currency cookie from a `document.cookie`; `null`: there is none. */
export function readCurrency(cookies: string): CurrencyHint | null {
  const found = /(?:^|; )currency=([a-z]{3})(\.own)?(?:;|$)/.exec(cookies);
  return found?.[1] ? { currency: found[1], own: found[2] !== undefined } : null;
}

/** The page on which readers cancel, its forms and their fields. */
export const cancelPath = '/cancel';
/** Names the subscription, in the page's address and in every form that changes one. */
export const subscriptionParam = 'subscription';
export const cancelSteps = { why: 'why', stay: 'stay', cancel: 'cancel', resume: 'resume' } as const;
export const cancelFields = {
  reason: { label: 'Why are you leaving?', longest: 40 },
  words: { label: 'In your own words', kind: 'lines', longest: limits.reason },
} satisfies Fields<'reason' | 'words'>;

/** Reasons for a cancellation, in the order of the form; `feedback` is Stripe's name of the same reason. */
export const cancelReasons = [
  { id: 'too-expensive', words: 'It costs too much', feedback: 'too_expensive' },
  { id: 'no-time', words: 'I don’t find the time to read it', feedback: 'unused' },
  { id: 'missing', words: 'It doesn’t have what I look for', feedback: 'missing_features' },
  { id: 'reporting', words: 'I’m not happy with the reporting', feedback: 'low_quality' },
  { id: 'elsewhere', words: 'I read another paper instead', feedback: 'switched_service' },
  { id: 'service', words: 'Delivery or service went wrong', feedback: 'customer_service' },
  { id: 'site', words: 'The site is hard to use', feedback: 'too_complex' },
  { id: 'other', words: 'Something else', feedback: 'other' },
] as const;
export type CancelReason = (typeof cancelReasons)[number]['id'];

/** The reason with this id; `null` if there is none. */
export const cancelReason = (id: string | null | undefined): CancelReason | null =>
  cancelReasons.find((reason) => reason.id === id)?.id ?? null;

/** Why a reader cancels; both answers are optional. */
export interface CancelFeedback {
  readonly reason: CancelReason | null;
  readonly words: string | null;
}

/** A discount for a reader who is about to cancel. Amounts are in minor units, times in epoch milliseconds. */
export interface RetentionOffer {
  /** Stripe's id of the coupon. */
  readonly coupon: string;
  readonly currency: string;
  /** Amount of each bill without and with the discount. */
  readonly from: number;
  readonly to: number;
  /** Tax within `to`; absent from old rows. */
  readonly tax?: Tax | null;
  /** When the first discounted bill is due. */
  readonly at: number;
  /** How many bills are discounted; `null`: all of them. */
  readonly bills: number | null;
}

/** Answer of POST /api/churnkey; 500 with "Error generating user hash" (spec section 8). */
export interface ChurnAnswer {
  /** `null` for readers who have never bought. */
  readonly hash: string | null;
  /** Stripe's id, `cus_…`. */
  readonly customerId: string | null;
  /** The subscription to cancel. */
  readonly subscriptionId: string | null;
}
