/**
 * Users, sessions and identities: better-auth's tables, written by better-auth inside our transactions, so that a sign-in, the
 * proof it used up and the mail it causes are one thing. Its routes, cookies and rate limits are not used.
 */
import { randomUUID } from 'node:crypto';
import { betterAuth } from 'better-auth';
import { createInternalAdapter } from 'better-auth/db';
import { getAdapter } from 'better-auth/db/adapter';
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

export interface People {
  byEmail(db: Queries, email: string): Promise<User | null>;
  byIdentity(db: Queries, provider: Provider, subject: string): Promise<User | null>;
  /** Reads a user and holds the row until the transaction ends, so that two who sign in to it come one after the other. */
  hold(tx: AccountsTransaction, id: string): Promise<User | null>;
  /** @returns `null` when there is such a user already */
  create(tx: AccountsTransaction, user: NewUser): Promise<User | null>;
  /** Notes that the owner of the address was seen. */
  confirm(tx: AccountsTransaction, id: string): Promise<void>;
  /** Takes the account's own rows away that were made before its address was proven. */
  disown(tx: AccountsTransaction, id: string): Promise<void>;
  /** Does nothing when it is there already. */
  addIdentity(tx: AccountsTransaction, userId: string, provider: Provider, subject: string): Promise<void>;
  openSession(
    tx: AccountsTransaction,
    session: NewSession,
  ): Promise<{ readonly id: string; readonly createdAt: number }>;
  endSession(tx: AccountsTransaction, token: string): Promise<void>;
  endSessions(tx: AccountsTransaction, userId: string): Promise<void>;
  /** With all that hangs on it. */
  remove(tx: AccountsTransaction, id: string): Promise<void>;
}

const columns = ['users.id', 'users.email', 'users.emailVerified', 'users.trackingId'] as const;
type Row = Pick<UsersTable, 'id' | 'email' | 'emailVerified' | 'trackingId'>;
const known = (row: Row | undefined): User | null => (row ? { ...row, emailVerified: row.emailVerified === 1 } : null);

/**
 * @param options.secret for better-auth, though nothing here is signed by it
 * @param now epoch milliseconds
 */
export async function createPeople(
  db: Queries,
  options: { readonly secret: string; readonly siteUrl: string },
  now: () => number,
): Promise<People> {
  // As for SQLite on both engines: dates are ISO text then, and booleans are numbers.
  const on = (queries: Queries) => ({ db: queries, type: 'sqlite' as const });
  const auth = betterAuth({
    secret: options.secret,
    baseURL: options.siteUrl,
    database: on(db),
    user: {
      modelName: 'users',
      additionalFields: { trackingId: { type: 'string', required: true, unique: true, input: false } },
    },
    session: { modelName: 'sessions' },
    account: { modelName: 'identities' },
    advanced: { database: { generateId: () => randomUUID(), validateSchema: false } },
    logger: { disabled: true },
    telemetry: { enabled: false },
  });
  const { options: settings, logger, generateId } = await auth.$context;
  /** better-auth's ways of writing rows, in our transaction. */
  const rows = async (tx: AccountsTransaction) => {
    const adapter = await getAdapter({ ...settings, database: on(tx) });
    return createInternalAdapter(adapter, { options: settings, logger, hooks: [], generateId });
  };

  return {
    byEmail: async (queries, email) =>
      known(await queries.selectFrom('users').select(columns).where('email', '=', email).executeTakeFirst()),
    byIdentity: async (queries, provider, subject) =>
      known(
        await queries
          .selectFrom('identities')
          .innerJoin('users', 'users.id', 'identities.userId')
          .select(columns)
          .where('identities.providerId', '=', provider)
          .where('identities.accountId', '=', subject)
          .executeTakeFirst(),
      ),
    hold: async (tx, id) =>
      known(
        await tx
          .updateTable('users')
          .set({ updatedAt: new Date(now()).toISOString() })
          .where('id', '=', id)
          .returning(columns)
          .executeTakeFirst(),
      ),
    async create(tx, { email, verified }) {
      // Of two at once the second waits here, and finds it taken.
      const id = randomUUID();
      const at = new Date(now()).toISOString();
      const trackingId = randomUUID();
      const made = await tx
        .insertInto('users')
        .values({
          id,
          name: '',
          email,
          emailVerified: verified ? 1 : 0,
          image: null,
          createdAt: at,
          updatedAt: at,
          trackingId,
        })
        .onConflict((conflict) => conflict.doNothing())
        .returning(columns)
        .executeTakeFirst();
      return known(made);
    },
    async confirm(tx, id) {
      await (await rows(tx)).updateUser(id, { emailVerified: true });
    },
    async disown(tx, id) {
      await (await rows(tx)).deleteUserSessions(id);
      await (await rows(tx)).deleteAccounts(id);
      await tx.deleteFrom('profiles').where('user_id', '=', id).execute();
      await tx.deleteFrom('extended_profiles').where('user_id', '=', id).execute();
    },
    async addIdentity(tx, userId, provider, subject) {
      if (await (await rows(tx)).findAccountByKey({ providerId: provider, accountId: subject })) return;
      await (await rows(tx)).createAccount({ userId, providerId: provider, accountId: subject });
    },
    async openSession(tx, { userId, token, device, expires }) {
      const at = new Date(now());
      const session = await (await rows(tx)).createSession(
        userId,
        false,
        { token, userAgent: device, ipAddress: '', createdAt: at, updatedAt: at, expiresAt: new Date(expires) },
        true,
      );
      return { id: session.id, createdAt: now() };
    },
    async endSession(tx, token) {
      await (await rows(tx)).deleteSession(token);
    },
    async endSessions(tx, userId) {
      await (await rows(tx)).deleteUserSessions(userId);
    },
    async remove(tx, id) {
      await (await rows(tx)).deleteUser(id);
    },
  };
}
