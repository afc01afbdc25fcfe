/** Readers as Stripe's customers, and where their printed paper goes. */
import { createHash } from 'node:crypto';
import type Stripe from 'stripe';
import type { Session } from '../../accounts/service.ts';
import type { Database } from '../../database.ts';
import type { Shipping } from '../wire.ts';
import { isMissing } from './errors.ts';
import { createTurns, type InTurn } from './turns.ts';

export interface Customers {
  /** `cus_…`; `null`: there is none yet. */
  find(userId: string): Promise<string | null>;
  /** Makes one unless there is one; however often and from wherever it is called, a reader has one customer. */
  ensure(reader: Pick<Session, 'userId' | 'email'>): Promise<string>;
  userOf(customer: string): Promise<string | null>;
  shipping(userId: string): Promise<Shipping | null>;
  saveShipping(userId: string, shipping: Shipping): Promise<void>;
  /** Tells Stripe an address that it does not have yet. @throws StripeError */
  sendShipping(userId: string): Promise<void>;
}

export function createCustomers(stripe: Stripe, database: Database, now: () => number): Customers {
  const { db } = database;
  const inTurn: InTurn = createTurns();

  async function find(userId: string): Promise<string | null> {
    const row = await db.selectFrom('customers').select('customer').where('user_id', '=', userId).executeTakeFirst();
    return row?.customer ?? null;
  }

  /** One that was made before a crash, or before the database was restored from a backup. */
  async function made(userId: string, email: string): Promise<string | null> {
    for await (const customer of stripe.customers.list({ email, limit: 100 })) {
      if (customer.metadata.user === userId) return customer.id;
    }
    return null;
  }

  async function shippingRow(userId: string) {
    const row = await db
      .selectFrom('customers')
      .select(['customer', 'shipping', 'shipping_sent'])
      .where('user_id', '=', userId)
      .executeTakeFirst();
    return row && { ...row, shipping: row.shipping === null ? null : (JSON.parse(row.shipping) as Shipping) };
  }

  return {
    find,
    ensure: ({ userId, email }) =>
      inTurn(userId, async () => {
        const known = await find(userId);
        if (known !== null) return known;
        const customer =
          (await made(userId, email)) ??
          (
            await stripe.customers.create(
              { email, metadata: { user: userId } },
              // Of two processes that ask at once both get the same customer.
              { idempotencyKey: `customer:${userId}:${createHash('sha256').update(email).digest('base64url')}` },
            )
          ).id;
        const row = await db
          .insertInto('customers')
          .values({ user_id: userId, customer, shipping: null, shipping_sent: 0, updated: now() })
          .onConflict((conflict) =>
            conflict.column('user_id').doUpdateSet((is) => ({
              customer: is.fn.coalesce('customers.customer', is.val(customer)),
              updated: now(),
            })),
          )
          .returning('customer')
          .executeTakeFirstOrThrow();
        return row.customer ?? customer;
      }),
    async userOf(customer) {
      const row = await db
        .selectFrom('customers')
        .select('user_id')
        .where('customer', '=', customer)
        .executeTakeFirst();
      return row?.user_id ?? null;
    },
    shipping: async (userId) => (await shippingRow(userId))?.shipping ?? null,
    async saveShipping(userId, shipping) {
      const values = { shipping: JSON.stringify(shipping), shipping_sent: 0, updated: now() };
      await db
        .insertInto('customers')
        .values({ user_id: userId, customer: null, ...values })
        .onConflict((conflict) => conflict.column('user_id').doUpdateSet(values))
        .execute();
    },
    async sendShipping(userId) {
      const row = await shippingRow(userId);
      if (!row?.customer || !row.shipping || row.shipping_sent === 1) return;
      try {
        await stripe.customers.update(row.customer, { shipping: stripeShipping(row.shipping) });
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
      await db
        .updateTable('customers')
        .set({ shipping_sent: 1 })
        .where('user_id', '=', userId)
        // A newer one is not sent yet.
        .where('shipping', '=', JSON.stringify(row.shipping))
        .execute();
    },
  };
}

/** An empty text is how Stripe is told to forget a field. */
const stripeShipping = ({ name, address, phone }: Shipping) => ({
  name,
  address: {
    line1: address.line1,
    line2: address.line2 ?? '',
    city: address.city,
    state: address.state,
    postal_code: address.postal_code,
    country: address.country,
  },
  phone: phone ?? '',
});
