/**
 * Links, codes and the keys of social sign-ins: each proves something once, within ten minutes. Only HMACs of them are kept.
 * Everything is decided by single statements that change a row, so that of many who come at once one wins.
 */
import { sql } from 'kysely';
import type { AccountsTransaction, Queries } from '../database.ts';
import { type Hmacs, newCode, newToken, same } from '../hmacs.server.ts';
import { guessesPerCode, proofSeconds } from './model.ts';
import type { Provider, Purpose } from './service.ts';

export interface LinkProof {
  readonly email: string;
  readonly purpose: Purpose;
  readonly redirect: string;
}

/** Who a provider says it is. */
export interface SocialProof {
  readonly provider: Provider;
  /** The provider's number of the person. */
  readonly subject: string;
  readonly email: string;
  /** Whether the provider has seen that the person reads the mail there. */
  readonly verified: boolean;
  readonly firstName: string | null;
  readonly lastName: string | null;
}

export type LinkState = LinkProof | 'unknown' | 'expired' | 'used';

export interface Proofs {
  /** @returns the token for the mail */
  newLink(tx: AccountsTransaction, link: LinkProof): Promise<string>;
  peekLink(db: Queries, token: string): Promise<LinkState>;
  /** Uses it up, for whoever comes first. */
  spendLink(tx: AccountsTransaction, token: string): Promise<LinkState>;
  /** Whether a link fails for the first time; asked once it has. */
  failsFirst(tx: AccountsTransaction, token: string): Promise<boolean>;
  /** Whether an unused link, whatever it was asked for, is on its way or in the mailbox. */
  hasLink(db: Queries, email: string): Promise<boolean>;

  /** The newest code is the one that counts. @returns six digits for the mail */
  newCode(tx: AccountsTransaction, email: string, purpose: Purpose): Promise<string>;
  /**
   * Tries a code. A wrong one counts, at most {@link guessesPerCode} are looked at.
   *
   * @param use whether the right one is used up
   * @returns what it was asked for; `null` when it is wrong, expired, used, never sent or tried too often
   */
  tryCode(
    tx: AccountsTransaction,
    email: string,
    purposes: readonly Purpose[],
    code: string,
    use: boolean,
  ): Promise<Purpose | null>;

  /** @returns the state key */
  newSocial(tx: AccountsTransaction, proof: SocialProof): Promise<string>;
  spendSocial(tx: AccountsTransaction, key: string): Promise<SocialProof | null>;

  /** Forgets all that was sent to an address. */
  forget(tx: AccountsTransaction, email: string): Promise<void>;
}

/** @param now epoch milliseconds */
export function createProofs(hmacs: Hmacs, now: () => number): Proofs {
  const row = (kind: 'link' | 'code' | 'social', email: string) => ({
    kind,
    subject: hmacs.subject(email),
    tries: 0,
    created: now(),
    expires: now() + proofSeconds * 1000,
    used: null,
  });

  async function stateOf(db: Queries, id: string): Promise<LinkState> {
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

  /** Marks a row as used, if it can be. */
  const consume = (tx: AccountsTransaction, id: string) =>
    tx
      .updateTable('proofs')
      .set({ used: now() })
      .where('id', '=', id)
      .where('used', 'is', null)
      .where('expires', '>', now())
      .returning('payload')
      .executeTakeFirst();

  return {
    async newLink(tx, link) {
      const token = newToken();
      await tx
        .insertInto('proofs')
        .values({
          ...row('link', link.email),
          id: hmacs.token('link', token),
          purpose: link.purpose,
          secret: null,
          payload: JSON.stringify(link),
        })
        .execute();
      return token;
    },
    peekLink: (db, token) => stateOf(db, hmacs.token('link', token)),
    async spendLink(tx, token) {
      const id = hmacs.token('link', token);
      const used = await consume(tx, id);
      return used ? (JSON.parse(used.payload) as LinkProof) : stateOf(tx, id);
    },
    async failsFirst(tx, token) {
      const first = await tx
        .updateTable('proofs')
        .set({ tries: 1 })
        .where('id', '=', hmacs.token('link', token))
        .where('tries', '=', 0)
        .returning('id')
        .executeTakeFirst();
      return first !== undefined;
    },
    async hasLink(db, email) {
      const found = await db
        .selectFrom('proofs')
        .select('id')
        .where('subject', '=', hmacs.subject(email))
        .where('kind', '=', 'link')
        .where('used', 'is', null)
        .where('expires', '>', now())
        .executeTakeFirst();
      return found !== undefined;
    },

    async newCode(tx, email, purpose) {
      const code = newCode();
      const sending = newToken();
      const subject = hmacs.subject(email);
      const made = { ...row('code', email), purpose, secret: hmacs.code(subject, sending, code), payload: sending };
      // One code is open to guesses at a time: five of them would be five times as easy to hit. One row, so that it is one also
      // of many that are sent at once.
      await tx
        .insertInto('proofs')
        .values({ ...made, id: `code:${subject}` })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(made))
        .execute();
      return code;
    },
    async tryCode(tx, email, purposes, code, use) {
      const subject = hmacs.subject(email);
      // The try is taken before anything is compared: whoever comes at the same time finds it gone.
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
        if (secret === null || !same(secret, hmacs.code(subject, payload, code))) continue;
        const right = use ? { used: now() } : { tries: sql<number>`tries - 1` };
        await tx.updateTable('proofs').set(right).where('id', '=', id).execute();
        return purpose as Purpose;
      }
      return null;
    },

    async newSocial(tx, proof) {
      const key = newToken();
      await tx
        .insertInto('proofs')
        .values({
          ...row('social', proof.email),
          id: hmacs.token('social', key),
          purpose: '',
          secret: null,
          payload: JSON.stringify(proof),
        })
        .execute();
      return key;
    },
    async spendSocial(tx, key) {
      const used = await consume(tx, hmacs.token('social', key));
      return used ? (JSON.parse(used.payload) as SocialProof) : null;
    },

    async forget(tx, email) {
      await tx.deleteFrom('proofs').where('subject', '=', hmacs.subject(email)).execute();
    },
  };
}
