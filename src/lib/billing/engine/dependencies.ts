/** What the functions of billing share; billing.server.ts builds it once. */
import type Stripe from 'stripe';
import type { AccountsTransaction, Database } from '../../database.ts';
import type { Limiter } from '../../http/limiter.server.ts';
import type { JobQueue } from '../../jobs/queue.server.ts';
import type { WithLock } from '../../jobs/tasks.ts';
import type { Logger } from '../../logging.ts';
import type { Outbox } from '../../mail/model.ts';
import type { BillingRules } from '../subscription-model.ts';
import type { Catalog } from './catalog.server.ts';
import type { Customers } from './customers.server.ts';
import type { Promotions, Purchases } from './purchases.server.ts';
import type { Subscriptions } from './subscriptions.server.ts';

/** Kinds of billing's jobs, each with its subject. The names are stored in the database. */
export type BillingJobKind =
  /** Fetches the catalog; `all`. */
  | 'catalogue'
  /** Reconciles a subscription, `sub_…`. */
  | 'subscription'
  /** As `subscription`, when Stripe has announced the next bill. */
  | 'announced'
  /** As `subscription`, until Stripe can state the amount of the next bill. */
  | 'amount'
  /** As `announced` and `amount`. */
  | 'announced-amount'
  /** Plans a change of plan again that an unfinished cancellation has released, `sub_…`. */
  | 'planned'
  /** Reconciles the subscriptions of a customer, `cus_…`. */
  | 'customer'
  /** Reconciles the subscriptions of a charge's customer, `ch_…`. */
  | 'charge'
  /** Cancels the subscriptions of a deleted reader and deletes the customer, `cus_…`. */
  | 'erase-customer'
  /** Deletes a customer's shipping address at Stripe, `cus_…`. */
  | 'erase-shipping'
  /** Counts cards that were refused in the browser, `seti_…` or `pi_…`. */
  | 'refused-card';

export interface BillingJob {
  readonly kind: BillingJobKind;
  readonly subject: string;
}
export type BillingJobs = JobQueue<BillingJobKind>;

export interface BillingDependencies {
  readonly stripe: Stripe;
  readonly database: Database;
  readonly outbox: Outbox<AccountsTransaction>;
  readonly limiter: Limiter;
  readonly catalog: Catalog;
  readonly customers: Customers;
  readonly purchases: Purchases;
  readonly promotions: Promotions;
  readonly subscriptions: Subscriptions;
  readonly jobs: BillingJobs;
  /** By user: one change of a reader's subscription at a time. */
  readonly withLock: WithLock;
  readonly rules: BillingRules;
  readonly siteUrl: string;
  /** Whether Stripe calculates tax. */
  readonly tax: boolean;
  readonly log: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
}
