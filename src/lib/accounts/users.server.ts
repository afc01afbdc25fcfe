/** Users, their sessions and their connections to social providers: rows that are read and written inside the caller's transaction. */
import { randomUUID } from 'node:crypto';
import type { AccountsTransaction, Queries } from '../database.ts';
import type { Provider } from './service.ts';
import type { UsersTable } from './tables.ts';

export type User = Pick<UsersTable, 'id' | 'email' | 'trackingId'> & { readonly emailVerified: boolean };

export interface NewUser {
  /** In its normal form. */
  readonly email: string;
  readonly verified: boolean;
}

export interface NewSession {
  readonly userId: string;
  /** HMAC of what the cookie carries. */
  readonly token: string;
  readonly device: string;
  /** Epoch milliseconds. */
  readonly expires: number;
}

export type Users = ReturnType<typeof createUsers>;

const columns = ['users.id', 'users.email', 'users.emailVerified', 'users.trackingId'] as const;
type Row = Pick<UsersTable, 'id' | 'email' | 'emailVerified' | 'trackingId'>;
const userOf = (row: Row | undefined): User | null => (row ? { ...row, emailVerified: row.emailVerified === 1 } : null);

/** @param now epoch milliseconds; these tables hold it as ISO text */
export function createUsers(now: () => number) {
  const isoNow = (): string => new Date(now()).toISOString();

  return {
    async byEmail(db: Queries, email: string): Promise<User | null> {
      return userOf(await db.selectFrom('users').select(columns).where('email', '=', email).executeTakeFirst());
    },

    async byIdentity(db: Queries, provider: Provider, subject: string): Promise<User | null> {
      const found = await db
        .selectFrom('identities')
        .innerJoin('users', 'users.id', 'identities.userId')
        .select(columns)
        .where('identities.providerId', '=', provider)
        .where('identities.accountId', '=', subject)
        .executeTakeFirst();
      return userOf(found);
    },

    /** Reads a user and locks the row until the transaction ends, so that two sign-ins to it run one after the other. */
    async lock(tx: AccountsTransaction, id: string): Promise<User | null> {
      const found = await tx
        .updateTable('users')
        .set({ updatedAt: isoNow() })
        .where('id', '=', id)
        .returning(columns)
        .executeTakeFirst();
      return userOf(found);
    },

    /** @returns `null` when there is such a user already; of two at once the second waits here */
    async create(tx: AccountsTransaction, { email, verified }: NewUser): Promise<User | null> {
      const at = isoNow();
      const made = await tx
        .insertInto('users')
        .values({
          id: randomUUID(),
          name: '',
          email,
          emailVerified: verified ? 1 : 0,
          createdAt: at,
          updatedAt: at,
          trackingId: randomUUID(),
        })
        .onConflict((conflict) => conflict.doNothing())
        .returning(columns)
        .executeTakeFirst();
      return userOf(made);
    },

    /** Records that the user has proved to own the address. */
    async confirm(tx: AccountsTransaction, id: string): Promise<void> {
      await tx.updateTable('users').set({ emailVerified: 1, updatedAt: isoNow() }).where('id', '=', id).execute();
    },

    /** Deletes the account's own rows that were made before its address was proved. */
    async disown(tx: AccountsTransaction, id: string): Promise<void> {
      await tx.deleteFrom('sessions').where('userId', '=', id).execute();
      await tx.deleteFrom('identities').where('userId', '=', id).execute();
      await tx.deleteFrom('profiles').where('user_id', '=', id).execute();
      await tx.deleteFrom('extended_profiles').where('user_id', '=', id).execute();
    },

    /** Connects an account at a provider, unless it is connected to a user already. No token of the provider is kept. */
    async addIdentity(tx: AccountsTransaction, userId: string, provider: Provider, subject: string): Promise<void> {
      const at = isoNow();
      await tx
        .insertInto('identities')
        .values({
          id: randomUUID(),
          userId,
          providerId: provider,
          accountId: subject,
          createdAt: at,
          updatedAt: at,
        })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },

    async openSession(tx: AccountsTransaction, { userId, token, device, expires }: NewSession) {
      const id = randomUUID();
      const createdAt = now();
      const at = new Date(createdAt).toISOString();
      await tx
        .insertInto('sessions')
        .values({
          id,
          userId,
          token,
          userAgent: device,
          createdAt: at,
          updatedAt: at,
          expiresAt: new Date(expires).toISOString(),
        })
        .execute();
      return { id, createdAt };
    },

    async endSession(tx: AccountsTransaction, token: string): Promise<void> {
      await tx.deleteFrom('sessions').where('token', '=', token).execute();
    },

    /** With every row that refers to it. */
    async remove(tx: AccountsTransaction, id: string): Promise<void> {
      await tx.deleteFrom('users').where('id', '=', id).execute();
    },
  };
}
