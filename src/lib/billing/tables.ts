/**
 * Tables of billing, made by `src/server/migrations/billing.ts`: who buys what (`purchases`, written before Stripe is called), and
 * Stripe's last state (`subscriptions`).
 */

export interface CustomersTable {
  user_id: string;
  /** `cus_…`; `null` until Stripe has created it. */
  customer: string | null;
  /** The shipping address, JSON; `null`: there is none. */
  shipping: string | null;
  /** 1 once Stripe has this address. */
  shipping_sent: number;
  updated: number;
}

export type PurchaseState =
  /** In progress: at most one for each reader. */
  | 'open'
  /** Paid, or nothing was due. */
  | 'done'
  /** Nothing was charged and nothing will be. */
  | 'given up';

export interface PurchasesTable {
  id: string;
  /** `null` after the account was deleted. */
  user_id: string | null;
  kind: 'subscribe' | 'switch';
  /** `zephrPlanId`. */
  plan: string;
  price: string;
  /** Id of the decision to buy, made in the browser. */
  attempt: string | null;
  state: PurchaseState;
  /** Part of the idempotency keys: the same round is the same request. */
  round: number;
  /** As the reader typed it. */
  coupon: string | null;
  /** `pm_…` of the last try. */
  payment_method: string | null;
  subscription: string | null;
  /** `zephrPlanId` of the plan before a switch. */
  before: string | null;
  created: number;
  updated: number;
}

/** Stripe's answer to our last request, never the content of an event. */
export interface SubscriptionsTable {
  id: string;
  customer: string;
  /** `null`: not a reader of this site, or a deleted account. */
  user_id: string | null;
  /** Our id of the access that it gives, made with the row. */
  grant_id: string;
  /** A `StripeState`, JSON; `null` until the first answer. */
  state: string | null;
  /** Shows a difference from Stripe's state, see `digest` of engine/fetch-subscription.server.ts. */
  digest: string | null;
  /** When it renews; `null`: it doesn't, or that isn't announced. */
  renews: number | null;
  /** Number of the last request, and of the last stored answer. */
  asked: number;
  answered: number;
  updated: number;
}

export interface StripeEventsTable {
  /** `evt_…`. */
  id: string;
  type: string;
  received: number;
}

/** Messages that were mailed, so that each is sent only once. */
export interface BillingNoticesTable {
  /** For instance `receipt:in_…`. */
  key: string;
  user_id: string | null;
  at: number;
}

/** Single values: the catalog, times of the last run, open disputes. */
export interface BillingNotesTable {
  key: string;
  value: string;
  at: number;
}

/** Cancellations that readers began, with their outcome. Operators see only counts. */
export interface CancellationsTable {
  id: string;
  /** `null` after the account was deleted; `words` is deleted with it. */
  user_id: string | null;
  subscription: string;
  /** `zephrPlanId`. */
  plan: string;
  /** One of `cancelReasons`; `null`: skipped. */
  reason: string | null;
  words: string | null;
  /** A `RetentionOffer`, JSON; `null`: none was made. */
  offer: string | null;
  outcome: 'open' | 'stayed' | 'cancelled' | 'resumed';
  created: number;
  updated: number;
}

export interface BillingTables {
  customers: CustomersTable;
  purchases: PurchasesTable;
  subscriptions: SubscriptionsTable;
  stripe_events: StripeEventsTable;
  billing_notices: BillingNoticesTable;
  billing_notes: BillingNotesTable;
  cancellations: CancellationsTable;
}
