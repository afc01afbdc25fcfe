/** Set-ups of a card at Stripe: a reader has one, which is given again until it is used. */
import type Stripe from 'stripe';
import { publication } from '../../../publication.ts';
import type { AccountsTransaction, Database } from '../../database.ts';
import type { Limiter, Who } from '../../http/limiter.server.ts';
import type { Billed } from '../service.ts';
import { isMissing, no, ok, overLimit, said } from './errors.ts';
import { underKey } from './idempotency.ts';

const noteKey = (customer: string): string => `setup:${customer}`;
const unused = ['requires_payment_method', 'requires_confirmation', 'requires_action'];

interface SetupParts {
  readonly stripe: Stripe;
  readonly database: Database;
  readonly limiter: Limiter;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

async function known(stripe: Stripe, id: string | undefined): Promise<Stripe.SetupIntent | null> {
  try {
    return id === undefined ? null : await stripe.setupIntents.retrieve(id);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** The client secret of a set-up that this customer has not used yet. */
export async function offerSetup(
  { stripe, database: { db }, limiter, now }: SetupParts,
  customer: string,
  who: Who,
): Promise<Billed<{ readonly clientSecret: string }>> {
  const key = noteKey(customer);
  const note = await db.selectFrom('billing_notes').select('value').where('key', '=', key).executeTakeFirst();
  const before = await known(stripe, note?.value);
  if (before?.client_secret && unused.includes(before.status)) return ok({ clientSecret: before.client_secret });
  const over = await limiter.count('setup', who);
  if (over) return overLimit(over);
  const params: Stripe.SetupIntentCreateParams = {
    customer,
    usage: 'off_session',
    allowed_payment_method_types: [...publication.billing.paymentMethodTypes],
  };
  // Of two processes that ask at once both get the same one.
  const made = await underKey(`setup:${customer}:${note?.value ?? 'first'}`, (options) =>
    stripe.setupIntents.create(params, options),
  );
  const values = { value: made.id, at: now() };
  await db
    .insertInto('billing_notes')
    .values({ key, ...values })
    .onConflict((conflict) => conflict.column('key').doUpdateSet(values))
    .execute();
  return made.client_secret === null ? no(503, said.wrong) : ok({ clientSecret: made.client_secret });
}

/** Forgets the set-up of a customer who leaves. */
export const forgetSetup = async (tx: AccountsTransaction, customer: string): Promise<void> =>
  void (await tx.deleteFrom('billing_notes').where('key', '=', noteKey(customer)).execute());
