/** What the parts of billing are built from; billing.server.ts puts them together. */
import type Stripe from 'stripe';
import type { AccountsTransaction, Database } from '../../database.ts';
import type { Limiter } from '../../http/limiter.server.ts';
import type { Logger } from '../../logging.ts';
import type { Outbox } from '../../mail/model.ts';
import type { Catalogue } from './catalogue.server.ts';
import type { Customers } from './customers.server.ts';
import type { Mirror } from './mirror.server.ts';
import type { Promotions } from './promotions.server.ts';
import type { Purchases } from './purchases.server.ts';
import type { Questions } from './questions.server.ts';

export interface BillingRules {
  /** Days for which a reader whose renewal fails keeps access. */
  readonly graceDays: number;
  /** Days before a renewal of which a notice is mailed. */
  readonly renewalNoticeDays: number;
  /** What is offered to readers who are about to leave: a coupon of Stripe's, once in so many days; `null`: nothing. */
  readonly stay?: { readonly coupon: string; readonly everyDays: number } | null;
}

export interface Parts {
  readonly stripe: Stripe;
  readonly database: Database;
  readonly outbox: Outbox<AccountsTransaction>;
  readonly limiter: Limiter;
  readonly catalogue: Catalogue;
  readonly customers: Customers;
  readonly purchases: Purchases;
  readonly promotions: Promotions;
  readonly mirror: Mirror;
  readonly questions: Questions;
  readonly rules: BillingRules;
  readonly siteUrl: string;
  /** Whether Stripe works out tax. */
  readonly tax: boolean;
  readonly log: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
}
