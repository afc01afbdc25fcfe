/**
 * The objects of the sandbox's Stripe, with the fields that its rules use; Stripe's other fields are present, too. References
 * are ids, as on the wire before they are expanded. Fields that begin with `_` are internal and are never sent. Amounts are minor
 * units, moments are Unix seconds.
 */
export interface StripeObject {
  id: string;
  object: string;
  created?: number;
  /** Increases with each new object; determines the order of lists. */
  _n?: number;
  [field: string]: unknown;
}

export type Metadata = Record<string, string>;

export interface ListOf<T> {
  object: 'list';
  data: T[];
  has_more: boolean;
  url: string;
}

export interface Customer extends StripeObject {
  balance: number;
  email: string | null;
  name: string | null;
  metadata: Metadata;
  invoice_settings: { default_payment_method: string | null; [field: string]: unknown };
  shipping: unknown;
  test_clock: string | null;
  deleted?: true;
  _invoices: number;
}

export interface PaymentMethod extends StripeObject {
  customer: string | null;
  type: string;
  card: { last4: string; brand: string; exp_month: number; exp_year: number; [field: string]: unknown };
  metadata: Metadata;
  /** The card number, which decides the result of charges; always that of a test card. */
  _number: string;
  /** Whether the customer has authenticated it for later charges. */
  _setUp: boolean;
  _cvc: string | null;
}

export interface Product extends StripeObject {
  active: boolean;
  name: string;
  metadata: Metadata;
}

export type Interval = 'day' | 'week' | 'month' | 'year';

export interface Price extends StripeObject {
  active: boolean;
  currency: string;
  unit_amount: number;
  product: string;
  nickname: string | null;
  metadata: Metadata;
  lookup_key: string | null;
  recurring: { interval: Interval; interval_count: number; [field: string]: unknown } | null;
  /** Amounts in other currencies, shown as `currency_options` on request. */
  _amounts?: Readonly<Record<string, number>>;
}

/** A first price of a subscription item, and the one that follows (`end_behavior`). */
export interface TrialOffer extends StripeObject {
  active: boolean;
  /** How many intervals of its price it lasts. */
  duration: { relative: { iterations: number }; type: 'relative' };
  end_behavior: { transition: { price: string }; type: 'transition' };
  price: string;
}

export interface Coupon extends StripeObject {
  amount_off: number | null;
  percent_off: number | null;
  currency: string | null;
  duration: 'once' | 'repeating' | 'forever';
  duration_in_months: number | null;
  max_redemptions: number | null;
  redeem_by: number | null;
  times_redeemed: number;
  valid: boolean;
  metadata: Metadata;
  _products: string[];
  /** Amounts off in other currencies. */
  _amounts?: Record<string, number>;
}

export interface PromotionCode extends StripeObject {
  active: boolean;
  code: string;
  customer: string | null;
  expires_at: number | null;
  max_redemptions: number | null;
  times_redeemed: number;
  metadata: Metadata;
  promotion: { type: 'coupon'; coupon: string };
  restrictions: {
    first_time_transaction: boolean;
    minimum_amount: number | null;
    minimum_amount_currency: string | null;
    /** Minimums in other currencies. */
    _minimums?: Record<string, number>;
  };
}

export interface Discount extends StripeObject {
  customer: string | null;
  end: number | null;
  promotion_code: string | null;
  source: { type: 'coupon'; coupon: string };
  start: number;
  subscription: string | null;
  _usedUp?: true;
}

export interface SubscriptionItem extends StripeObject {
  subscription: string;
  price: string;
  quantity: number;
  current_period_start: number;
  current_period_end: number;
  /** While it is in the trial of an offer: `price` is the offer's. */
  current_trial: { start_date: number; end_date: number; trial_offer: string } | null;
  metadata: Metadata;
  /** The last debit of this item, after discounts; credits for unused time are computed from it only. */
  _billed: { amount: number; price: string; start: number; end: number; invoice: string; line: string } | null;
}

export type SubscriptionStatus =
  | 'incomplete'
  | 'incomplete_expired'
  | 'trialing'
  | 'active'
  | 'past_due'
  | 'canceled'
  | 'unpaid'
  | 'paused';

export interface Subscription extends StripeObject {
  created: number;
  automatic_tax: { enabled: boolean; [field: string]: unknown };
  billing_cycle_anchor: number;
  cancel_at: number | null;
  cancel_at_period_end: boolean;
  canceled_at: number | null;
  cancellation_details: { comment: string | null; feedback: string | null; reason: string | null };
  currency: string;
  customer: string;
  default_payment_method: string | null;
  discounts: string[];
  ended_at: number | null;
  items: ListOf<SubscriptionItem>;
  latest_invoice: string | null;
  metadata: Metadata;
  payment_settings: { save_default_payment_method: string | null; [field: string]: unknown };
  pending_setup_intent: string | null;
  schedule: string | null;
  status: SubscriptionStatus;
  test_clock: string | null;
  trial_end: number | null;
  trial_start: number | null;
  trial_settings: { end_behavior: { billing_cycle_anchor: null; missing_payment_method: string } };
  /** The end of the trial and the next renewal for which `trial_will_end` and `invoice.upcoming` have been sent. */
  _announced: { trial?: number; invoice?: number };
}

export interface Phase {
  start_date: number;
  end_date: number;
  items: { price: string; quantity: number; [field: string]: unknown }[];
  proration_behavior: string;
  trial_end: number | null;
  discounts: { coupon: string | null; promotion_code: string | null; discount: string | null }[];
  metadata: Metadata;
  [field: string]: unknown;
}

export interface Schedule extends StripeObject {
  customer: string;
  subscription: string | null;
  status: 'not_started' | 'active' | 'completed' | 'released' | 'canceled';
  phases: Phase[];
  current_phase: { start_date: number; end_date: number } | null;
  end_behavior: 'release' | 'cancel';
  metadata: Metadata;
  test_clock: string | null;
}

export interface Line extends StripeObject {
  amount: number;
  subtotal: number;
  currency: string;
  description: string;
  discount_amounts: { amount: number; discount: string }[];
  discountable: boolean;
  discounts: string[];
  invoice: string;
  period: { start: number; end: number };
  parent: unknown;
  pricing: { type: 'price_details'; price_details: { price: string; product: string }; unit_amount_decimal: string };
  quantity: number;
  /** The subscription item that this line bills. */
  _item?: string;
}

export interface InvoiceItem extends StripeObject {
  customer: string;
  amount: number;
  currency: string;
  description: string;
  discountable: boolean;
  invoice: string | null;
  period: { start: number; end: number };
  proration: boolean;
  quantity: number;
  _subscription: string | null;
  _item: string | null;
  _price: string;
  _product: string;
  _credited: { invoice: string; line: string } | null;
}

export type BillingReason =
  | 'subscription_create'
  | 'subscription_cycle'
  | 'subscription_update'
  | 'manual'
  | 'upcoming';

export interface Invoice extends StripeObject {
  created: number;
  amount_due: number;
  amount_paid: number;
  amount_remaining: number;
  attempt_count: number;
  attempted: boolean;
  auto_advance: boolean;
  automatically_finalizes_at: number | null;
  billing_reason: BillingReason;
  currency: string;
  customer: string;
  default_payment_method: string | null;
  discounts: string[];
  lines: ListOf<Line>;
  metadata: Metadata;
  next_payment_attempt: number | null;
  number: string | null;
  parent: {
    type: 'subscription_details';
    quote_details: null;
    subscription_details: { subscription: string; metadata: Metadata; subscription_proration_date?: number };
  } | null;
  status: 'draft' | 'open' | 'paid' | 'uncollectible' | 'void';
  status_transitions: Record<'finalized_at' | 'marked_uncollectible_at' | 'paid_at' | 'voided_at', number | null>;
  subtotal: number;
  total: number;
  starting_balance: number;
  ending_balance: number | null;
  period_start: number;
  period_end: number;
  total_discount_amounts: { amount: number; discount: string }[];
  /** Its payment intent. */
  _intent: string | null;
  /** Drafted during a pause and never collected, for tests that compare access with payments. */
  _held?: true;
  _token: string;
}

export interface InvoicePayment extends StripeObject {
  invoice: string;
  status: 'open' | 'paid' | 'canceled';
  amount_paid: number | null;
  payment: { type: 'payment_intent'; payment_intent: string };
  status_transitions: { canceled_at: number | null; paid_at: number | null };
}

export interface CardProblem {
  type: 'card_error';
  code: string;
  decline_code?: string;
  message: string;
  param?: string;
  [field: string]: unknown;
}

export type IntentStatus =
  | 'requires_payment_method'
  | 'requires_confirmation'
  | 'requires_action'
  | 'processing'
  | 'succeeded'
  | 'canceled';

interface Intent extends StripeObject {
  client_secret: string;
  customer: string | null;
  metadata: Metadata;
  next_action: unknown;
  payment_method: string | null;
  status: IntentStatus;
  /** Random part of the open challenge's address: see browser.ts. */
  _challenge?: string | null;
}

export interface PaymentIntent extends Intent {
  amount: number;
  amount_received: number;
  currency: string;
  canceled_at: number | null;
  cancellation_reason: string | null;
  description: string | null;
  last_payment_error: CardProblem | null;
  latest_charge: string | null;
  setup_future_usage: string | null;
  /** The invoice that it pays; the current API doesn't show it. */
  _invoice: string | null;
}

export interface SetupIntent extends Intent {
  last_setup_error: CardProblem | null;
  usage: string;
  cancellation_reason: string | null;
  /** The subscription whose `pending_setup_intent` it is. */
  _subscription: string | null;
}

export interface Charge extends StripeObject {
  created: number;
  amount: number;
  amount_captured: number;
  amount_refunded: number;
  currency: string;
  customer: string | null;
  disputed: boolean;
  paid: boolean;
  payment_intent: string;
  payment_method: string;
  refunded: boolean;
  status: 'succeeded' | 'failed';
  failure_code: string | null;
  failure_message: string | null;
}

export interface Refund extends StripeObject {
  amount: number;
  charge: string;
  payment_intent: string;
  currency: string;
}

export interface Dispute extends StripeObject {
  amount: number;
  charge: string;
  currency: string;
  evidence: Record<string, unknown>;
  evidence_details: { due_by: number; [field: string]: unknown };
  /** During an inquiry no money has moved, and the payment can still be refunded. */
  is_charge_refundable: boolean;
  metadata: Metadata;
  payment_intent: string;
  reason: string;
  status:
    | 'needs_response'
    | 'under_review'
    | 'won'
    | 'lost'
    | 'warning_needs_response'
    | 'warning_under_review'
    | 'warning_closed';
}

export interface TestClock extends StripeObject {
  frozen_time: number;
  name: string | null;
  status: 'ready' | 'advancing';
}

export interface Event extends StripeObject {
  type: string;
  created: number;
  data: { object: Record<string, unknown>; previous_attributes?: Record<string, unknown> };
  pending_webhooks: number;
}

/** Every kind of object by the name that Stripe gives it in `object`. */
export interface Kinds {
  customer: Customer;
  payment_method: PaymentMethod;
  product: Product;
  price: Price;
  'product_catalog.trial_offer': TrialOffer;
  coupon: Coupon;
  promotion_code: PromotionCode;
  discount: Discount;
  subscription: Subscription;
  subscription_schedule: Schedule;
  invoice: Invoice;
  invoiceitem: InvoiceItem;
  invoice_payment: InvoicePayment;
  payment_intent: PaymentIntent;
  setup_intent: SetupIntent;
  charge: Charge;
  refund: Refund;
  dispute: Dispute;
  'test_helpers.test_clock': TestClock;
  event: Event;
  webhook_endpoint: StripeObject;
  payment_method_domain: StripeObject;
  /** Answers that are replayed for the same key. */
  answer: StripeObject;
  /** The clock's shift, the requested faults, and the like; one object each. */
  setting: StripeObject;
}
export type Kind = keyof Kinds;
