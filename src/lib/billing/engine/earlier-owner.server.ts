/**
 * What was stored for an account before the owner of its email address confirmed it from another browser: perhaps by a person who had
 * mistyped an address. A subscription that this person bought goes on, but the owner neither sees nor uses the person's card, delivery
 * address and invoices.
 */
import type { AccountsTransaction, Queries } from '../../database.ts';
import { messages } from '../messages.ts';
import { storeNote } from './notes.server.ts';
import { throwRefused } from './stripe.server.ts';

type Replaceable = 'card' | 'address';

const earlierKey = (what: Replaceable | 'invoices', userId: string): string => `earlier ${what}:${userId}`;

const keysOf = (userId: string): string[] =>
  (['card', 'address', 'invoices'] as const).map((what) => earlierKey(what, userId));

interface Earlier {
  /** Whether Stripe may still charge the earlier owner's card. */
  readonly card: boolean;
  /** Whether the stored delivery address is the earlier owner's. */
  readonly address: boolean;
  /** Whether an invoice created at this time, in Unix seconds, names the earlier owner's address or card. */
  readonly isEarlier: (created: number) => boolean;
}

export async function findEarlier(db: Queries, userId: string): Promise<Earlier> {
  const rows = await db.selectFrom('billing_notes').select(['key', 'at']).where('key', 'in', keysOf(userId)).execute();
  const at = (what: Parameters<typeof earlierKey>[0]) => rows.find(({ key }) => key === earlierKey(what, userId))?.at;
  const [card, address] = [at('card') !== undefined, at('address') !== undefined];
  const until = Math.floor(Number(at('invoices') ?? 0) / 1000);
  return { card, address, isEarlier: (created) => card || address || created < until };
}

/** Notes that what is stored now isn't the owner's. @param now epoch milliseconds */
export async function noteEarlier(
  tx: AccountsTransaction,
  userId: string,
  parts: readonly Replaceable[],
  now: number,
): Promise<void> {
  for (const what of [...parts, 'invoices'] as const) await storeNote(tx, earlierKey(what, userId), '', now);
}

/** The owner has replaced the card or the address: from now on, it may be shown and used. @param now epoch milliseconds */
export async function replaceEarlier(db: Queries, userId: string, what: Replaceable, now: number): Promise<void> {
  const { numDeletedRows } = await db
    .deleteFrom('billing_notes')
    .where('key', '=', earlierKey(what, userId))
    .executeTakeFirst();
  // Until now, invoices named the earlier owner's.
  if (numDeletedRows > 0n) await storeNote(db, earlierKey('invoices', userId), '', now);
}

export async function forgetEarlier(tx: AccountsTransaction, userId: string): Promise<void> {
  await tx.deleteFrom('billing_notes').where('key', 'in', keysOf(userId)).execute();
}

/** @throws Refused while a change would charge the earlier owner's card */
export async function refuseEarlierCard(db: Queries, userId: string): Promise<void> {
  if ((await findEarlier(db, userId)).card) throwRefused(409, messages.earlierCard, { code: 'earlier_card' });
}
