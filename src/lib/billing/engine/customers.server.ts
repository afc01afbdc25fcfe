/** Readers as Stripe's customers, and their shipping addresses. */
import { createHash } from 'node:crypto';
import type Stripe from 'stripe';
import type { Session } from '../../accounts/service.ts';
import type { AccountsTransaction, Database, Queries } from '../../database.ts';
import { createKeyedMutex } from '../../jobs/tasks.ts';
import { messages } from '../messages.ts';
import type { Shipping, TaxAddress } from '../schema.ts';
import { isLive } from '../subscription-model.ts';
import type { BillingDependencies, BillingJobs } from './dependencies.ts';
import { findEarlier, forgetEarlier, replaceEarlier } from './earlier-owner.server.ts';
import { addNote, deleteNote, findNote } from './notes.server.ts';
import { ifMissing, isMissing, throwRefused, withIdempotencyKey } from './stripe.server.ts';

export type Customers = ReturnType<typeof createCustomers>;

interface State {
  readonly stripe: Stripe;
  readonly database: Database;
  readonly jobs: Pick<BillingJobs, 'add'>;
  readonly now: () => number;
}

/** A charge so shortly before the account was deleted was made during the deletion, in milliseconds. */
const meanwhileMs = 60_000;

/** Key of the note that a customer's account is deleted. */
const forgottenKey = (customer: string): string => `forgotten:${customer}`;
/** Key of the note that the publisher has deleted a customer at Stripe. */
const droppedKey = (customer: string): string => `dropped:${customer}`;

export function createCustomers(stripe: Stripe, database: Database, jobs: State['jobs'], now: () => number) {
  const state: State = { stripe, database, jobs, now };
  const { db } = database;
  const withLock = createKeyedMutex();
  return {
    /** `cus_…`; `null`: there is none yet. */
    find: (userId: string) => find(db, userId),
    /**
     * Creates the reader's customer unless there is one. A reader has one customer, even if several calls and processes create it
     * at once.
     *
     * @throws Refused if the account is deleted: a call that was under way must not restore it
     */
    ensure: (reader: Pick<Session, 'userId' | 'email'>) => withLock(reader.userId, () => ensure(state, reader)),
    /** Stores a customer that Stripe already has for a reader, unless one is stored. */
    adopt: (userId: string, customer: string) => store(state, userId, customer),
    userOf: (customer: string) => userOf(db, customer),
    /** Whether the customer was a reader's whose account is deleted. */
    isForgotten: (customer: string) => isForgotten(db, customer),
    /** Whether the publisher has deleted the customer at Stripe while the reader's account still exists. */
    isDropped: (customer: string) => isDropped(db, customer),
    /** Forgets a customer whom the publisher has deleted at Stripe. */
    drop: (tx: AccountsTransaction, userId: string, customer: string) => drop(state, tx, userId, customer),
    /** Time after which a deleted reader must not be charged, epoch milliseconds; `null`: the account exists. */
    chargeableUntil: (customer: string) => chargeableUntil(db, customer),
    /** Deletes what is stored of a reader, and adds the job that deletes the customer at Stripe. */
    forget: (tx: AccountsTransaction, userId: string) => forget(state, tx, userId),
    /** The address that the reader has saved. */
    async shipping(userId: string): Promise<Shipping | null> {
      const shipping = (await shippingRow(db, userId))?.shipping ?? null;
      return shipping && (await findEarlier(db, userId)).address ? null : shipping;
    },
    /** Whether an address is stored, be it an earlier owner's. */
    hasShipping: async (userId: string): Promise<boolean> =>
      ((await shippingRow(db, userId))?.shipping ?? null) !== null,
    /** Removes an earlier owner's cards and address, here and at Stripe, before the reader buys. @throws StripeError */
    startAnew: (userId: string, customer: string) => startAnew(state, userId, customer),
    /** Deletes the shipping address here, and adds the job that deletes it at Stripe. */
    forgetShipping: (tx: AccountsTransaction, userId: string) => forgetShipping(state, tx, userId),
    /** @throws Refused as `ensure` */
    saveShipping: (userId: string, shipping: Shipping) => saveShipping(state, userId, shipping),
    /** Sends an address to Stripe, unless Stripe has it. @throws StripeError */
    sendShipping: (userId: string) => sendShipping(state, userId),
    /** Deletes a customer's address at Stripe, unless a new one is stored, which is sent again. @throws StripeError */
    eraseShipping: (customer: string) => eraseShipping(state, customer),
    /** Sends the address that tax depends on. @throws StripeError if Stripe finds no such place */
    async sendTaxAddress(customer: string, address: TaxAddress): Promise<void> {
      const tax = { validate_location: 'immediately' } as const;
      await stripe.customers.update(customer, { address: stripeAddress(address), tax });
    },
  };
}

async function find(db: Queries, userId: string): Promise<string | null> {
  const row = await db.selectFrom('customers').select('customer').where('user_id', '=', userId).executeTakeFirst();
  return row?.customer ?? null;
}

async function userOf(db: Queries, customer: string): Promise<string | null> {
  const row = await db.selectFrom('customers').select('user_id').where('customer', '=', customer).executeTakeFirst();
  return row?.user_id ?? null;
}

async function chargeableUntil(db: Queries, customer: string): Promise<number | null> {
  const note = await findNote(db, forgottenKey(customer));
  return note && note.at - meanwhileMs;
}

const isForgotten = async (db: Queries, customer: string): Promise<boolean> =>
  (await chargeableUntil(db, customer)) !== null;

const isDropped = async (db: Queries, customer: string): Promise<boolean> =>
  (await findNote(db, droppedKey(customer))) !== null;

async function drop({ now }: State, tx: AccountsTransaction, userId: string, customer: string): Promise<void> {
  await addNote(tx, droppedKey(customer), '', now());
  await deleteNote(tx, setupKey(customer));
  await tx
    .updateTable('customers')
    .set({ customer: null, shipping_sent: 0, updated: now() })
    .where('user_id', '=', userId)
    .where('customer', '=', customer)
    .execute();
}

async function ensure(state: State, { userId, email }: Pick<Session, 'userId' | 'email'>): Promise<string> {
  const { db } = state.database;
  const known = await find(db, userId);
  if (known !== null) return known;
  await refuseDeleted(state, userId);
  const customer = (await findAtStripe(state, userId, email)) ?? (await create(state, userId, email));
  await store(state, userId, customer);
  await refuseDeleted(state, userId);
  return (await find(db, userId)) ?? customer;
}

/**
 * Checks that the account exists, before anything is created for it and again after it is stored: the account may have been deleted
 * while the call waited, and no foreign key prevents the row.
 */
async function refuseDeleted(state: State, userId: string): Promise<void> {
  const { database } = state;
  if (await database.db.selectFrom('users').select('id').where('id', '=', userId).executeTakeFirst()) return;
  await database.transaction((tx) => forget(state, tx, userId));
  throwRefused(403, messages.deleted);
}

/** The customer that was created before a crash, or before the database was restored from a backup. */
async function findAtStripe({ stripe, database }: State, userId: string, email: string): Promise<string | null> {
  for await (const customer of stripe.customers.list({ email, limit: 100 })) {
    if (customer.metadata.user === userId && !(await isForgotten(database.db, customer.id))) return customer.id;
  }
  return null;
}

async function create({ stripe, database }: State, userId: string, email: string): Promise<string> {
  // Two processes that call at once get the same customer.
  const key = `customer:${userId}:${createHash('sha256').update(email).digest('base64url')}`;
  const params = { email, metadata: { user: userId } };
  let { id } = await withIdempotencyKey(key, (options) => stripe.customers.create(params, options));
  // After an interrupted deletion, or one in the dashboard, the account exists, and the key leads to the deleted customer.
  while ((await isForgotten(database.db, id)) || (await isDropped(database.db, id))) {
    ({ id } = await withIdempotencyKey(`${key}:${id}`, (options) => stripe.customers.create(params, options)));
  }
  return id;
}

/**
 * Stores the customer of a reader who has none yet. The conflict names no column because the table has two unique indexes: PostgreSQL
 * would report the other one if two processes store the same customer at once.
 */
async function store({ database: { db }, now }: State, userId: string, customer: string): Promise<void> {
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

async function forget({ jobs, now }: State, tx: AccountsTransaction, userId: string): Promise<void> {
  const row = await tx
    .selectFrom('customers')
    .select(['customer', 'updated'])
    .where('user_id', '=', userId)
    .executeTakeFirst();
  if (!row) return;
  if (row.customer !== null) {
    // If the account is already deleted, this customer was created during the deletion, and none of its charges is allowed.
    const user = await tx.selectFrom('users').select('id').where('id', '=', userId).executeTakeFirst();
    const at = user ? now() : Math.min(now(), Number(row.updated));
    await jobs.add(tx, { kind: 'erase-customer', subject: row.customer, once: true });
    await deleteNote(tx, setupKey(row.customer));
    await addNote(tx, forgottenKey(row.customer), '', at);
  }
  await forgetEarlier(tx, userId);
  await tx.deleteFrom('customers').where('user_id', '=', userId).execute();
}

async function forgetShipping({ jobs, now }: State, tx: AccountsTransaction, userId: string): Promise<void> {
  const row = await tx
    .updateTable('customers')
    .set({ shipping: null, shipping_sent: 0, updated: now() })
    .where('user_id', '=', userId)
    .where('shipping', 'is not', null)
    .returning('customer')
    .executeTakeFirst();
  if (row?.customer) await jobs.add(tx, eraseShippingOf(row.customer));
}

async function startAnew(state: State, userId: string, customer: string): Promise<void> {
  const { stripe, database, now } = state;
  const earlier = await findEarlier(database.db, userId);
  if (earlier.address) {
    await database.transaction((tx) => forgetShipping(state, tx, userId));
    await eraseShipping(state, customer);
    await replaceEarlier(database.db, userId, 'address', now());
  }
  if (!earlier.card) return;
  const { data: others } = await stripe.subscriptions.list({ customer, limit: 100 });
  // A subscription that the site doesn't sell keeps its card.
  if (!others.some(isLive)) {
    const { data: cards } = await stripe.paymentMethods.list({ customer, limit: 100 });
    for (const { id } of cards) await stripe.paymentMethods.detach(id);
  }
  await replaceEarlier(database.db, userId, 'card', now());
}

const eraseShippingOf = (subject: string) => ({ kind: 'erase-shipping', subject, once: true }) as const;

async function shippingRow(db: Queries, userId: string) {
  const row = await db
    .selectFrom('customers')
    .select(['customer', 'shipping', 'shipping_sent'])
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row && { ...row, shipping: row.shipping === null ? null : (JSON.parse(row.shipping) as Shipping) };
}

async function saveShipping(state: State, userId: string, shipping: Shipping): Promise<void> {
  const { db } = state.database;
  const values = { shipping: JSON.stringify(shipping), shipping_sent: 0, updated: state.now() };
  // Asked first: a call of an earlier owner's that is under way must not make that owner's address this reader's.
  const earlier = await findEarlier(db, userId);
  await db
    .insertInto('customers')
    .values({ user_id: userId, customer: null, ...values })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await db.updateTable('customers').set(values).where('user_id', '=', userId).execute();
  if (earlier.address) await replaceEarlier(db, userId, 'address', state.now());
  await refuseDeleted(state, userId);
}

/** @param again sends it even if it has been sent */
async function sendShipping({ stripe, database: { db }, jobs }: State, userId: string, again = false): Promise<void> {
  for (let sendAgain = again; ; sendAgain = true) {
    const row = await shippingRow(db, userId);
    if (!row?.customer) return;
    if (!row.shipping) {
      // It was deleted during the request, and Stripe may have received the request last.
      if (sendAgain) await jobs.add(db, eraseShippingOf(row.customer));
      return;
    }
    if (row.shipping_sent === 1 && !sendAgain) return;
    const params = { shipping: stripeShipping(row.shipping) };
    await stripe.customers.update(row.customer, params).catch(ifMissing(null));
    const { numUpdatedRows } = await db
      .updateTable('customers')
      .set({ shipping_sent: 1 })
      .where('user_id', '=', userId)
      .where('shipping', '=', JSON.stringify(row.shipping))
      .executeTakeFirst();
    if (numUpdatedRows > 0n) return;
    // A newer address was saved during the request. It is sent again, even if another call has sent it: Stripe may have
    // received this call's address last.
    await db.updateTable('customers').set({ shipping_sent: 0 }).where('user_id', '=', userId).execute();
  }
}

async function eraseShipping(state: State, customer: string): Promise<void> {
  const { stripe, database } = state;
  if ((await addressee(database.db, customer)) === null) await stripe.customers.update(customer, { shipping: '' });
  // Stripe may have received an address that was saved during this run before the request, or before that of an interrupted try.
  const userId = await addressee(database.db, customer);
  if (userId !== null) await sendShipping(state, userId, true);
}

/** The reader of a customer whose shipping address is stored. */
async function addressee(db: Queries, customer: string): Promise<string | null> {
  const row = await db
    .selectFrom('customers')
    .select('user_id')
    .where('customer', '=', customer)
    .where('shipping', 'is not', null)
    .executeTakeFirst();
  return row?.user_id ?? null;
}

/** The address that tax depends on, as Stripe takes it. */
export const stripeAddress = ({ country, postal_code }: TaxAddress): Stripe.AddressParam =>
  postal_code ? { country, postal_code } : { country };

/** Replaces the whole address at Stripe, which refuses empty texts. */
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

// Customers whom the publisher has deleted in Stripe's dashboard, or whom another Stripe account doesn't know: their readers get a new
// customer with the next purchase.

/** Runs a call, and runs it again with a new customer if Stripe no longer knows the reader's. */
export async function withCustomerAtStripe<T>(
  dependencies: BillingDependencies,
  session: Session,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isMissing(error) || !(await dropDeleted(dependencies, session))) throw error;
    return work();
  }
}

/** @returns whether the reader's customer was deleted at Stripe; the site has forgotten it then */
async function dropDeleted(
  { stripe, database, customers, promotions, subscriptions, log }: BillingDependencies,
  { userId, email }: Session,
): Promise<boolean> {
  const customer = await customers.find(userId);
  if (customer === null) return false;
  const found = await stripe.customers.retrieve(customer).catch(ifMissing(null));
  if (found && !found.deleted) return false;
  const states = await subscriptions.statesOf(userId);
  await database.transaction(async (tx) => {
    // The new customer's subscriptions won't show which promotions the reader has had.
    await promotions.keep(tx, email, states);
    await customers.drop(tx, userId, customer);
  });
  log.warn({ customer }, 'A customer was deleted at Stripe; the reader gets a new one with the next purchase');
  return true;
}
