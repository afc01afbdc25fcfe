/**
 * Links, codes and the keys of social sign-ins: each can be used once, within ten minutes. Only their HMACs are stored. A single
 * UPDATE statement marks one as used, so that only one of several simultaneous requests succeeds.
 */
import { sql } from 'kysely';
import { equalInConstantTime, newCode, newToken } from '../crypto.server.ts';
import type { AccountsTransaction, Queries } from '../database.ts';
import type { Dependencies } from './dependencies.server.ts';
import { guessesPerCode, proofSeconds } from './model.ts';
import type { Provider, Purpose } from './service.ts';

type State = Pick<Dependencies, 'hmacs' | 'now'>;

export interface LinkProof {
  readonly email: string;
  readonly purpose: Purpose;
  readonly redirect: string;
}

/** The user as a provider describes them. */
export interface SocialProof {
  readonly provider: Provider;
  /** The provider's id for the user. */
  readonly subject: string;
  readonly email: string;
  /** Whether the provider has verified that the user owns this address. */
  readonly verified: boolean;
  readonly firstName: string | null;
  readonly lastName: string | null;
}

export type LinkState = LinkProof | 'unknown' | 'expired' | 'used';

const row = ({ hmacs, now }: State, kind: 'link' | 'code' | 'social', email: string) => ({
  kind,
  subject: hmacs.subject(email),
  tries: 0,
  created: now(),
  expires: now() + proofSeconds * 1000,
  used: null,
});

async function stateOf({ now }: State, db: Queries, id: string): Promise<LinkState> {
  const found = await db
    .selectFrom('proofs')
    .selectAll()
    .where('id', '=', id)
    .where('kind', '=', 'link')
    .executeTakeFirst();
  if (!found) return 'unknown';
  if (found.used !== null) return 'used';
  if (found.expires <= now()) return 'expired';
  return JSON.parse(found.payload) as LinkProof;
}

/** Marks a row as used, unless it is used or expired. */
const consume = ({ now }: State, tx: AccountsTransaction, id: string) =>
  tx
    .updateTable('proofs')
    .set({ used: now() })
    .where('id', '=', id)
    .where('used', 'is', null)
    .where('expires', '>', now())
    .returning('payload')
    .executeTakeFirst();

/** @returns the token for the mail */
export async function addLink(state: State, tx: AccountsTransaction, link: LinkProof): Promise<string> {
  const token = newToken();
  const id = state.hmacs.token('link', token);
  const { email, purpose } = link;
  await tx
    .insertInto('proofs')
    .values({ ...row(state, 'link', email), id, purpose, secret: null, payload: JSON.stringify(link) })
    .execute();
  return token;
}

export const readLink = (state: State, db: Queries, token: string): Promise<LinkState> =>
  stateOf(state, db, state.hmacs.token('link', token));

/** Marks a link as used. */
export async function spendLink(state: State, tx: AccountsTransaction, token: string): Promise<LinkState> {
  const id = state.hmacs.token('link', token);
  const used = await consume(state, tx, id);
  return used ? (JSON.parse(used.payload) as LinkProof) : stateOf(state, tx, id);
}

/** Records that a link has failed. @returns whether this was the first time */
export async function recordFirstFailure({ hmacs }: State, tx: AccountsTransaction, token: string): Promise<boolean> {
  const first = await tx
    .updateTable('proofs')
    .set({ tries: 1 })
    .where('id', '=', hmacs.token('link', token))
    .where('tries', '=', 0)
    .returning('id')
    .executeTakeFirst();
  return first !== undefined;
}

/** Whether a link or code for this address is valid: unused, not expired, and a code not tried too often. */
export async function hasProof(
  { hmacs, now }: State,
  db: Queries,
  kind: 'link' | 'code',
  email: string,
): Promise<boolean> {
  const found = await db
    .selectFrom('proofs')
    .select('id')
    .where('subject', '=', hmacs.subject(email))
    .where('kind', '=', kind)
    .where('used', 'is', null)
    .where('expires', '>', now())
    // Links don't count up to this.
    .where('tries', '<', guessesPerCode)
    .executeTakeFirst();
  return found !== undefined;
}

/** Creates a code that replaces the address's previous one. @returns six digits for the mail */
export async function addCode(state: State, tx: AccountsTransaction, email: string, purpose: Purpose): Promise<string> {
  const code = newCode();
  const sending = newToken();
  const subject = state.hmacs.subject(email);
  const secret = state.hmacs.code(subject, sending, code);
  const made = { ...row(state, 'code', email), purpose, secret, payload: sending };
  // One code of an address is valid at a time, because five would be five times as easy to guess. It is one row, so that this holds
  // for codes that are sent at the same time, too.
  await tx
    .insertInto('proofs')
    .values({ ...made, id: `code:${subject}` })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(made))
    .execute();
  return code;
}

/**
 * Checks a code. Wrong guesses count, and at most {@link guessesPerCode} are compared.
 *
 * @param use whether the right one is used up
 * @returns what the code was requested for; `null` if it is wrong, expired, used, never sent or tried too often
 */
export async function tryCode(
  { hmacs, now }: State,
  tx: AccountsTransaction,
  email: string,
  purposes: readonly Purpose[],
  code: string,
  use: boolean,
): Promise<Purpose | null> {
  const subject = hmacs.subject(email);
  // The guess is counted before the code is compared, so that simultaneous requests get no extra guesses.
  const open = await tx
    .updateTable('proofs')
    .set({ tries: sql<number>`tries + 1` })
    .where('subject', '=', subject)
    .where('kind', '=', 'code')
    .where('purpose', 'in', purposes)
    .where('used', 'is', null)
    .where('expires', '>', now())
    .where('tries', '<', guessesPerCode)
    .returning(['id', 'secret', 'purpose', 'payload'])
    .execute();
  for (const { id, secret, purpose, payload } of open) {
    if (secret === null || !equalInConstantTime(secret, hmacs.code(subject, payload, code))) continue;
    const right = use ? { used: now() } : { tries: sql<number>`tries - 1` };
    await tx.updateTable('proofs').set(right).where('id', '=', id).execute();
    return purpose as Purpose;
  }
  return null;
}

/** @returns the state key */
export async function addSocialKey(state: State, tx: AccountsTransaction, proof: SocialProof): Promise<string> {
  const key = newToken();
  const id = state.hmacs.token('social', key);
  await tx
    .insertInto('proofs')
    .values({ ...row(state, 'social', proof.email), id, purpose: '', secret: null, payload: JSON.stringify(proof) })
    .execute();
  return key;
}

export async function spendSocialKey(state: State, tx: AccountsTransaction, key: string): Promise<SocialProof | null> {
  const used = await consume(state, tx, state.hmacs.token('social', key));
  return used ? (JSON.parse(used.payload) as SocialProof) : null;
}
