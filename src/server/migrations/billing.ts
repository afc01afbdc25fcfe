/** Migrations of billing. */
import { type Kysely, sql } from 'kysely';
import type { Migration } from '../database/migrate.ts';

/** Customers, purchases, copies of Stripe's subscriptions, and jobs for Stripe. */
export const billing: Migration = {
  name: '0003-billing',
  async up(db: Kysely<unknown>): Promise<void> {
    // No references to users: purchases and charges outlive the reader's account.
    await db.schema
      .createTable('customers')
      .addColumn('user_id', 'text', (column) => column.primaryKey())
      .addColumn('customer', 'text', (column) => column.unique())
      .addColumn('shipping', 'text')
      .addColumn('shipping_sent', 'integer', (column) => column.notNull())
      .addColumn('updated', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('purchases')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'text')
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('plan', 'text', (column) => column.notNull())
      .addColumn('price', 'text', (column) => column.notNull())
      .addColumn('attempt', 'text')
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('round', 'integer', (column) => column.notNull())
      .addColumn('coupon', 'text')
      .addColumn('payment_method', 'text')
      .addColumn('subscription', 'text')
      .addColumn('before', 'text')
      .addColumn('created', 'bigint', (column) => column.notNull())
      .addColumn('updated', 'bigint', (column) => column.notNull())
      .execute();
    // If a reader starts two purchases at once, this index refuses the second.
    await sql`create unique index purchases_one_open on purchases (user_id) where state = 'open'`.execute(db);
    await sql`create index purchases_open on purchases (updated) where state = 'open'`.execute(db);
    await db.schema.createIndex('purchases_of_user').on('purchases').columns(['user_id', 'created']).execute();
    await db.schema.createIndex('purchases_of_subscription').on('purchases').column('subscription').execute();
    await db.schema
      .createTable('subscriptions')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('customer', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text')
      .addColumn('grant_id', 'text', (column) => column.notNull())
      .addColumn('state', 'text')
      .addColumn('digest', 'text')
      .addColumn('renews', 'bigint')
      .addColumn('asked', 'integer', (column) => column.notNull())
      .addColumn('answered', 'integer', (column) => column.notNull())
      .addColumn('updated', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('subscriptions_of_user').on('subscriptions').column('user_id').execute();
    await db.schema.createIndex('subscriptions_by_renewal').on('subscriptions').column('renews').execute();
    await db.schema.createIndex('subscriptions_of_customer').on('subscriptions').column('customer').execute();
    await db.schema
      .createTable('stripe_events')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('received', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('stripe_events_by_time').on('stripe_events').column('received').execute();
    await db.schema
      .createTable('stripe_questions')
      .addColumn('subject', 'text', (column) => column.primaryKey())
      .addColumn('causes', 'integer', (column) => column.notNull())
      .addColumn('due', 'bigint', (column) => column.notNull())
      .addColumn('tries', 'integer', (column) => column.notNull())
      .addColumn('claim', 'text')
      .execute();
    await db.schema.createIndex('stripe_questions_due').on('stripe_questions').column('due').execute();
    await db.schema
      .createTable('billing_notices')
      .addColumn('key', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'text')
      .addColumn('at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('billing_notes')
      .addColumn('key', 'text', (column) => column.primaryKey())
      .addColumn('value', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .execute();
  },
};

/** Why readers cancel, the offers they got, and the outcome. */
export const cancellations: Migration = {
  name: '0005-cancellations',
  async up(db: Kysely<unknown>): Promise<void> {
    // No references to users: the counts outlive the account, and the deletion removes the reader from them.
    await db.schema
      .createTable('cancellations')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'text')
      .addColumn('subscription', 'text', (column) => column.notNull())
      .addColumn('plan', 'text', (column) => column.notNull())
      .addColumn('reason', 'text')
      .addColumn('words', 'text')
      .addColumn('offer', 'text')
      .addColumn('outcome', 'text', (column) => column.notNull())
      .addColumn('created', 'bigint', (column) => column.notNull())
      .addColumn('updated', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('cancellations_of_user').on('cancellations').columns(['user_id', 'created']).execute();
    await db.schema.createIndex('cancellations_by_time').on('cancellations').column('created').execute();
  },
};
