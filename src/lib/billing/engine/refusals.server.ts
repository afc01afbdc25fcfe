/**
 * Cards that Stripe refuses in the browser, past our calls: a client secret lets its holder try card after card. Each refusal comes
 * as a webhook; it is counted for the account like one of our own calls, and an intent that has had too many is ended.
 */
import { sql } from 'kysely';
import type Stripe from 'stripe';
import type { AccountsTransaction } from '../../database.ts';
import { idOf } from '../read-state.ts';
import { isMissing } from './errors.ts';
import type { Parts } from './parts.ts';
import type { Till } from './paying.server.ts';
import type { Purchase } from './purchases.server.ts';
import type { InTurn } from './turns.ts';

/** Cards that may be refused through one client secret. */
const mostPerIntent = 8;

/** The intent of which an event says that a card was refused; `null`: the event says nothing of the kind. */
export function refusedIntent(type: string, object: { readonly id?: string }): string | null {
  if (type !== 'setup_intent.setup_failed' && type !== 'payment_intent.payment_failed') return null;
  return /^(?:seti|pi)_\w{1,250}$/.test(object.id ?? '') ? (object.id ?? null) : null;
}

const noteKey = (intent: string): string => `refused:${intent}`;
const countedKey = (intent: string): string => `counted:${intent}`;

/** Notes one refusal and asks to look at it, in the transaction that takes the event. */
export async function noteRefusal(
  { questions, now }: Pick<Parts, 'questions' | 'now'>,
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
  await questions.ask(tx, `refused:${intent}`);
}

export interface Ending {
  till(subscription: string): Promise<Till>;
  abandon(purchase: Purchase): Promise<unknown>;
  readonly inTurn: InTurn;
}

/** Counts what was refused of an intent since the last look, and ends it after too many. */
export async function countRefusals(parts: Parts, ending: Ending, id: string): Promise<void> {
  const { stripe, database, customers, purchases, limiter, log, now } = parts;
  const { db } = database;
  const noted = await db
    .selectFrom('billing_notes')
    .select(['key', 'value'])
    .where('key', 'in', [noteKey(id), countedKey(id)])
    .execute();
  const noteOf = (key: string): number => Number(noted.find((note) => note.key === key)?.value ?? 0);
  const refused = noteOf(noteKey(id));
  const intent = id.startsWith('seti_')
    ? await stripe.setupIntents.retrieve(id)
    : await stripe.paymentIntents.retrieve(id);
  const customer = idOf(intent.customer);
  const userId = customer === null ? null : await customers.userOf(customer);
  const user = userId && (await db.selectFrom('users').select('email').where('id', '=', userId).executeTakeFirst());
  const open = userId ? await purchases.open(userId) : null;
  // What our own call tried was counted by it.
  if (user && (open === null || open.payment_method !== refusedMethod(intent))) {
    for (let count = noteOf(countedKey(id)); count < refused; count++)
      await limiter.count('card', { email: user.email });
  }
  const counted = { value: String(refused), at: now() };
  await db
    .insertInto('billing_notes')
    .values({ key: countedKey(id), ...counted })
    .onConflict((conflict) => conflict.column('key').doUpdateSet(counted))
    .execute();
  if (refused < mostPerIntent || intent.status === 'succeeded' || intent.status === 'canceled') return;
  log.warn({ intent: id, refused }, 'Too many cards were refused through one intent; it is ended');
  if (open?.subscription && (await ending.till(open.subscription)).intent?.value.id === id) {
    await ending.inTurn(userId ?? id, () => ending.abandon(open));
  } else if (intent.object === 'setup_intent') await cancel(stripe, id);
}

/** @returns the payment method that was refused last */
function refusedMethod(intent: Stripe.SetupIntent | Stripe.PaymentIntent): string | null {
  const error = intent.object === 'setup_intent' ? intent.last_setup_error : intent.last_payment_error;
  return idOf(error?.payment_method);
}

async function cancel(stripe: Stripe, id: string): Promise<void> {
  try {
    await stripe.setupIntents.cancel(id);
  } catch (error) {
    if (!isMissing(error) && (error as { code?: string }).code !== 'setup_intent_unexpected_state') throw error;
  }
}

/** Deletes notes of intents that have been quiet for long. @param before epoch milliseconds */
export async function pruneRefusals({ database: { db } }: Pick<Parts, 'database'>, before: number): Promise<void> {
  await db
    .deleteFrom('billing_notes')
    .where((is) => is.or([is('key', 'like', noteKey('%')), is('key', 'like', countedKey('%'))]))
    .where('at', '<', before)
    .execute();
}
