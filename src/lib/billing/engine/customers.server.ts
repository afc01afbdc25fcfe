/** Readers as Stripe's customers, and their shipping addresses. */

import { createHash } from 'node:crypto';
import type Stripe from 'stripe';
import type { Session } from '../../accounts/service.ts';
import type { AccountsTransaction, Database } from '../../database.ts';
import { createKeyedMutex } from '../../jobs/keyed-mutex.ts';
import { messages } from '../messages.ts';
import type { Shipping, TaxAddress } from '../wire.ts';
import type { BillingJobs } from './dependencies.ts';
import { isMissing, refuse } from './errors.ts';
import { withIdempotencyKey } from './stripe.server.ts';

export interface Customers {
  /** `cus_…`; `null`: there is none yet. */
  find(userId: string): Promise<string | null>;
  /**
   * Makes one unless there is one; however often and from wherever it is called, a reader has one customer.
   *
   * @throws Refused for whose account is deleted: what was under way meanwhile must not bring them back
   */
  ensure(reader: Pick<Session, 'userId' | 'email'>): Promise<string>;
  userOf(customer: string): Promise<string | null>;
  /** Whether it was a reader's who has left: a late answer must not bring them back. */
  isForgotten(customer: string): Promise<boolean>;
  /** From when on a reader who has left is charged for nothing, epoch milliseconds; `null`: the reader is still here. */
  chargeableUntil(customer: string): Promise<number | null>;
  /** Takes what is known of a reader away, and writes down that Stripe is to forget them too. */
  forget(tx: AccountsTransaction, userId: string): Promise<void>;
  shipping(userId: string): Promise<Shipping | null>;
  /** Takes the shipping address away; Stripe is told by a job. */
  forgetShipping(tx: AccountsTransaction, userId: string): Promise<void>;
  /** @throws Refused as {@link ensure} */
  saveShipping(userId: string, shipping: Shipping): Promise<void>;
  /** Tells Stripe an address that it does not have yet. @throws StripeError */
  sendShipping(userId: string): Promise<void>;
  /**
   * Tells Stripe where a customer lives, as far as tax depends on it.
   *
   * @throws Refused where Stripe finds no such place
   */
  sendTaxAddress(customer: string, address: TaxAddress): Promise<void>;
}

/** What was charged so short before an account was deleted was paid while it was deleted, in milliseconds. */
const meanwhileMs = 60_000;

/** Name of the note that a customer was a reader who is forgotten. */
const forgottenKey = (customer: string): string => `forgotten:${customer}`;

export function createCustomers(
  stripe: Stripe,
  database: Database,
  jobs: Pick<BillingJobs, 'add'>,
  now: () => number,
): Customers {
  const { db } = database;
  const withLock = createKeyedMutex();

  async function find(userId: string): Promise<string | null> {
    const row = await db.selectFrom('customers').select('customer').where('user_id', '=', userId).executeTakeFirst();
    return row?.customer ?? null;
  }

  async function chargeableUntil(customer: string): Promise<number | null> {
    const key = forgottenKey(customer);
    const row = await db.selectFrom('billing_notes').select('at').where('key', '=', key).executeTakeFirst();
    return row ? Number(row.at) - meanwhileMs : null;
  }
  const isForgotten = async (customer: string): Promise<boolean> => (await chargeableUntil(customer)) !== null;

  async function forget(tx: AccountsTransaction, userId: string): Promise<void> {
    const row = await tx
      .selectFrom('customers')
      .select(['customer', 'updated'])
      .where('user_id', '=', userId)
      .executeTakeFirst();
    if (!row) return;
    if (row.customer !== null) {
      // Where the account is gone already, this customer was made while it was being deleted: nothing is to be charged at all.
      const user = await tx.selectFrom('users').select('id').where('id', '=', userId).executeTakeFirst();
      const at = user ? now() : Math.min(now(), Number(row.updated));
      await jobs.add(tx, { kind: 'erase-customer', subject: row.customer, once: true });
      await forgetCardSetup(tx, row.customer);
      await tx
        .insertInto('billing_notes')
        .values({ key: forgottenKey(row.customer), value: '', at })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
    await tx.deleteFrom('customers').where('user_id', '=', userId).execute();
  }

  /**
   * Checked before anything is made for a reader, and once more after it is written down: the call may have waited while the account
   * was deleted, and nothing hangs on the account that would have kept the row out.
   */
  async function stillHere(userId: string): Promise<void> {
    if (await db.selectFrom('users').select('id').where('id', '=', userId).executeTakeFirst()) return;
    await database.transaction((tx) => forget(tx, userId));
    refuse(403, messages.deleted);
  }

  /** One that was made before a crash, or before the database was restored from a backup. */
  async function made(userId: string, email: string): Promise<string | null> {
    for await (const customer of stripe.customers.list({ email, limit: 100 })) {
      if (customer.metadata.user === userId && !(await isForgotten(customer.id))) return customer.id;
    }
    return null;
  }

  async function create(userId: string, email: string): Promise<string> {
    // Of two processes that ask at once both get the same customer.
    const key = `customer:${userId}:${createHash('sha256').update(email).digest('base64url')}`;
    const params = { email, metadata: { user: userId } };
    let { id } = await withIdempotencyKey(key, (options) => stripe.customers.create(params, options));
    // Whose deletion was cut off in the middle is a reader still, and the key leads to the customer that is gone.
    while (await isForgotten(id)) {
      ({ id } = await withIdempotencyKey(`${key}:${id}`, (options) => stripe.customers.create(params, options)));
    }
    return id;
  }

  /**
   * Writes a customer down for a reader who has none yet. Without a target, for the table has two unique indexes: PostgreSQL would
   * report the other one where two processes write the same customer at once.
   */
  async function note(userId: string, customer: string): Promise<void> {
    await db
      .insertInto('customers')
      .values({ user_id: userId, customer, shipping: null, shipping_sent: 0, updated: now() })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await db
      .updateTable('customers')
      .set({ customer, updated: now() })
      .where('user_id', '=', userId)
      .where('customer', 'is', null)
      .execute();
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
      withLock(userId, async () => {
        const known = await find(userId);
        if (known !== null) return known;
        await stillHere(userId);
        const customer = (await made(userId, email)) ?? (await create(userId, email));
        await note(userId, customer);
        await stillHere(userId);
        return (await find(userId)) ?? customer;
      }),
    isForgotten,
    chargeableUntil,
    forget,
    async userOf(customer) {
      const row = await db
        .selectFrom('customers')
        .select('user_id')
        .where('customer', '=', customer)
        .executeTakeFirst();
      return row?.user_id ?? null;
    },
    async forgetShipping(tx, userId) {
      const row = await tx
        .updateTable('customers')
        .set({ shipping: null, shipping_sent: 0, updated: now() })
        .where('user_id', '=', userId)
        .where('shipping', 'is not', null)
        .returning('customer')
        .executeTakeFirst();
      if (row?.customer) await jobs.add(tx, { kind: 'erase-shipping', subject: row.customer, once: true });
    },
    async sendTaxAddress(customer, address) {
      const params: Stripe.CustomerUpdateParams = {
        address: stripeAddress(address),
        tax: { validate_location: 'immediately' },
      };
      await stripe.customers.update(customer, params);
    },
    shipping: async (userId) => (await shippingRow(userId))?.shipping ?? null,
    async saveShipping(userId, shipping) {
      const values = { shipping: JSON.stringify(shipping), shipping_sent: 0, updated: now() };
      await db
        .insertInto('customers')
        .values({ user_id: userId, customer: null, ...values })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      await db.updateTable('customers').set(values).where('user_id', '=', userId).execute();
      await stillHere(userId);
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

/** A buyer's place for tax, as Stripe takes it. */
export const stripeAddress = ({ country, postal_code }: TaxAddress): Stripe.AddressParam =>
  postal_code ? { country, postal_code } : { country };

/** The whole address replaces the one before. Stripe refuses an empty text here, so what is empty is left out. */
const stripeShipping = ({ name, address, phone }: Shipping): Stripe.CustomerUpdateParams.Shipping => ({
  name,
  address: {
    line1: address.line1,
    line2: address.line2 || undefined,
    city: address.city,
    state: address.state,
    postal_code: address.postal_code,
    country: address.country,
  },
  phone: phone || undefined,
});

export const setupKey = (customer: string): string => `setup:${customer}`;

/** Forgets the setup of a customer who leaves. */
async function forgetCardSetup(tx: AccountsTransaction, customer: string): Promise<void> {
  await tx.deleteFrom('billing_notes').where('key', '=', setupKey(customer)).execute();
}
