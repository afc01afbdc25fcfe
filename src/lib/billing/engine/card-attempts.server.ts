/**
 * Cards that are refused in the browser. A client secret lets its holder try cards there, without our calls: each refusal arrives as a
 * webhook, counts for the account like one of our own calls, and an intent with too many is canceled.
 */
import { sql } from 'kysely';
import type Stripe from 'stripe';
import type { AccountsTransaction, Queries } from '../../database.ts';
import type { BillingDependencies } from './dependencies.ts';
import { idOf } from './fetch-subscription.server.ts';
import { findNote, pruneNotes, storeNote } from './notes.server.ts';
import { fetchAttempt } from './payments.server.ts';
import { abandonAndRestore } from './plan-switches.server.ts';
import { isMissing } from './stripe.server.ts';

/** The most cards that may be refused through one client secret. */
const mostPerIntent = 8;

/** The intent of an event about a refused card; `null` for other events. */
export function refusedIntent(type: string, object: { readonly id?: string }): string | null {
  if (type !== 'setup_intent.setup_failed' && type !== 'payment_intent.payment_failed') return null;
  return /^(?:seti|pi)_\w{1,250}$/.test(object.id ?? '') ? (object.id ?? null) : null;
}

const noteKey = (intent: string): string => `refused:${intent}`;
const countedKey = (intent: string): string => `counted:${intent}`;

/** Records a refused card and adds the job that counts it, in the transaction that stores the event. */
export async function noteRefusedCard(
  { jobs, now }: Pick<BillingDependencies, 'jobs' | 'now'>,
  tx: AccountsTransaction,
  intent: string,
): Promise<void> {
  await tx
    .insertInto('billing_notes')
    .values({ key: noteKey(intent), value: '1', at: now() })
    .onConflict((conflict) =>
      conflict
        .column('key')
        .doUpdateSet({ value: sql<string>`cast(cast(billing_notes.value as integer) + 1 as text)`, at: now() }),
    )
    .execute();
  await jobs.add(tx, { kind: 'refused-card', subject: intent, once: true });
}

/** Counts the refused cards of an intent since the last time, and cancels the intent after too many. */
export async function countRefusedCards(dependencies: BillingDependencies, id: string): Promise<void> {
  const { stripe, database, customers, purchases, limiter, log, now, withLock } = dependencies;
  const { db } = database;
  const countOf = async (key: string): Promise<number> => Number((await findNote(db, key))?.value ?? 0);
  const refused = await countOf(noteKey(id));
  const intent = id.startsWith('seti_')
    ? await stripe.setupIntents.retrieve(id)
    : await stripe.paymentIntents.retrieve(id);
  const customer = idOf(intent.customer);
  const userId = customer === null ? null : await customers.userOf(customer);
  const user = userId && (await db.selectFrom('users').select('email').where('id', '=', userId).executeTakeFirst());
  const open = userId ? await purchases.open(userId) : null;
  const method = refusedMethod(intent);
  // The customer's saved card doesn't count here: Stripe tries it by itself at each renewal, and our own call counted it when
  // it was saved.
  const isSaved = customer !== null && idOf(method?.customer) === customer;
  // Cards that our own call tried were counted there.
  if (user && !isSaved && (open === null || open.payment_method !== (method?.id ?? null))) {
    for (let count = await countOf(countedKey(id)); count < refused; count++)
      await limiter.count('card', { account: user.email });
  }
  await storeNote(db, countedKey(id), String(refused), now());
  if (isSaved) return;
  if (refused < mostPerIntent || intent.status === 'succeeded' || intent.status === 'canceled') return;
  log.warn({ intent: id, refused }, 'Too many cards were refused through one intent; it is canceled');
  if (open?.subscription && (await fetchAttempt(dependencies, open.subscription)).intent?.value.id === id) {
    await withLock(userId ?? id, () => abandonAndRestore(dependencies, open));
  } else if (intent.object === 'setup_intent') await cancelSetup(stripe, id);
}

/** @returns the payment method that was refused last */
function refusedMethod(intent: Stripe.SetupIntent | Stripe.PaymentIntent): Stripe.PaymentMethod | null {
  const error = intent.object === 'setup_intent' ? intent.last_setup_error : intent.last_payment_error;
  return error?.payment_method ?? null;
}

async function cancelSetup(stripe: Stripe, id: string): Promise<void> {
  try {
    await stripe.setupIntents.cancel(id);
  } catch (error) {
    if (!isMissing(error) && (error as { code?: string }).code !== 'setup_intent_unexpected_state') throw error;
  }
}

/** Deletes records of intents without a recent refusal. @param before epoch milliseconds */
export async function pruneRefusedCards(db: Queries, before: number): Promise<void> {
  for (const key of [noteKey(''), countedKey('')]) await pruneNotes(db, key, before);
}
