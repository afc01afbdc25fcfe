/**
 * Tables of billing, made by `src/server/migrations/billing.ts`. Stripe holds the truth about money; here is who buys what
 * (`purchases`, written before Stripe is asked), and what Stripe said last (`subscriptions`).
 */

export interface CustomersTable {
  user_id: string;
  /** `cus_…`; `null` until Stripe has made one. */
  customer: string | null;
  /** Where the printed paper goes, JSON; `null`: nowhere. */
  shipping: string | null;
  /** 1 once Stripe has this address too. */
  shipping_sent: number;
  updated: number;
}

export type PurchaseState =
  /** Being bought: at most one for each reader. */
  | 'open'
  /** Paid, or nothing was due. */
  | 'done'
  /** Nothing was charged and nothing will be. */
  | 'given up';

export interface PurchasesTable {
  id: string;
  /** `null` once the reader is forgotten. */
  user_id: string | null;
  kind: 'subscribe' | 'switch';
  /** `zephrPlanId`. */
  plan: string;
  price: string;
  /** Number of the decision to buy, made by the screen. */
  attempt: string | null;
  state: PurchaseState;
  /** Part of the keys under which Stripe is asked to write: the same round is the same write. */
  round: number;
  /** As the reader typed it. */
  coupon: string | null;
  /** `pm_…` of the newest try. */
  payment_method: string | null;
  subscription: string | null;
  /** `zephrPlanId` of a switch's earlier plan. */
  before: string | null;
  created: number;
  updated: number;
}

/** What Stripe said when it was asked last, never what an event carried. */
export interface SubscriptionsTable {
  id: string;
  customer: string;
  /** `null`: no reader of ours, or one who is deleted. */
  user_id: string | null;
  /** Our number of the grant, made with the row. */
  grant_id: string;
  /** A `StripeState`, JSON; `null` until the first answer. */
  state: string | null;
  /** What a difference from Stripe's would be seen by, see `digestOf`. */
  digest: string | null;
  /** When it is billed next; `null`: not by itself. */
  renews: number | null;
  /** Number of the newest question and of the newest answer that was kept. */
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

/** What was mailed, so that it is mailed once. */
export interface BillingNoticesTable {
  /** For instance `receipt:in_…`. */
  key: string;
  user_id: string | null;
  at: number;
}

/** Single values: the catalogue, when something was done last, disputes that are open. */
export interface BillingNotesTable {
  key: string;
  value: string;
  at: number;
}

/** Made by `0005-cancellations.ts`: readers who were about to leave, and what came of it. Operators see counts alone. */
export interface CancellationsTable {
  id: string;
  /** `null` once the reader is forgotten; their own words go then, too. */
  user_id: string | null;
  subscription: string;
  /** `zephrPlanId`. */
  plan: string;
  /** One of `leavingReasons`; `null`: skipped. */
  reason: string | null;
  words: string | null;
  /** A `StayOffer`, JSON; `null`: none was made. */
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
