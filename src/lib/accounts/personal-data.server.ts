/** What the accounts themselves store about a user, and the pruning of old rows and abandoned accounts. */
import type { AccountsTransaction, Database, Queries } from '../database.ts';
import { type OldRows, rowsUntil } from '../jobs/old-rows.ts';
import type { Owner, PersonalData } from '../personal-data.ts';
import { type Dependencies, recordAudit } from './dependencies.server.ts';
import type { Caller } from './service.ts';
import { listSessions, replacedMs } from './sessions.server.ts';
import { lockUser, readProfile } from './users.server.ts';

type State = Omit<Dependencies, 'personalData'>;

export const accountData = (state: State): PersonalData => ({
  tables: {
    users: 'kept',
    sessions: 'gone',
    identities: 'gone',
    profiles: 'gone',
    extended_profiles: 'gone',
    // The audit trail shows that the account belonged to another user before.
    audit: 'kept',
  },
  export: (user) => exportAccount(state, user),
  erase: (user, caller) => eraseAccount(state, user, caller),
  async disown(tx, id) {
    await tx.deleteFrom('sessions').where('userId', '=', id).execute();
    await tx.deleteFrom('identities').where('userId', '=', id).execute();
    await tx.deleteFrom('profiles').where('user_id', '=', id).execute();
    await tx.deleteFrom('extended_profiles').where('user_id', '=', id).execute();
  },
});

async function exportAccount(state: State, { userId }: Owner) {
  const { db } = state.database;
  const user = await db.selectFrom('users').selectAll().where('id', '=', userId).executeTakeFirst();
  const identities = await db
    .selectFrom('identities')
    .select(['providerId', 'accountId', 'createdAt'])
    .where('userId', '=', userId)
    .execute();
  const apps = await db.selectFrom('extended_profiles').select(['app', 'data']).where('user_id', '=', userId).execute();
  const trail = await db
    .selectFrom('audit')
    .select(['at', 'event', 'detail'])
    .where('user_id', '=', userId)
    .orderBy('at')
    .execute();
  const iso = (time: number): string => new Date(time).toISOString();
  return {
    account: user && {
      email_address: user.email,
      email_verified: user.emailVerified === 1,
      tracking_id: user.trackingId,
      created: user.createdAt,
    },
    profile: await readProfile(db, userId),
    extended_profiles: Object.fromEntries(apps.map(({ app, data }) => [app, JSON.parse(data) as unknown])),
    social_accounts: identities.map((one) => ({ provider: one.providerId, id: one.accountId, since: one.createdAt })),
    sessions: (await listSessions(state, userId, null)).map((one) => ({
      device: one.device,
      since: iso(one.createdAt),
      last_seen: iso(one.lastSeenAt),
    })),
    events: trail.map((entry) => ({ time: iso(entry.at), event: entry.event, detail: entry.detail })),
  };
}

async function eraseAccount(state: State, { userId, email }: Owner, caller: Caller | null): Promise<void> {
  const { database, outbox, hmacs } = state;
  const subject = hmacs.subject(email);
  await database.transaction(async (tx) => {
    const user = await lockUser(state, tx, userId);
    // Checked again inside the transaction: the address may just have been confirmed.
    if (caller === null && !(await isAbandoned(tx, userId))) return;
    // The address of an unconfirmed account may be another person's, who has just requested a link or a code.
    const ownsAddress = caller === null || user?.emailVerified === true;
    const proofs = tx.deleteFrom('proofs').where('subject', '=', subject);
    await (ownsAddress ? proofs : proofs.where('purpose', '=', 'completeRegistration')).execute();
    if (ownsAddress) await outbox.forget(tx, email);
    await tx.deleteFrom('users').where('id', '=', userId).execute();
    // The entries that stay in the audit trail contain no personal data.
    await tx.updateTable('audit').set({ user_id: null, subject }).where('user_id', '=', userId).execute();
    if (caller) await recordAudit(state, tx, { event: 'account deleted', email, caller });
  });
}

/** Accounts whose address was never confirmed and that have no session, no connected provider and no payment. */
const abandoned = (db: Queries) =>
  db
    .selectFrom('users')
    .select(['users.id', 'users.email'])
    .where('emailVerified', '=', 0)
    .where((is) => is.not(is.exists(is.selectFrom('sessions').select('id').whereRef('userId', '=', 'users.id'))))
    .where((is) => is.not(is.exists(is.selectFrom('identities').select('id').whereRef('userId', '=', 'users.id'))))
    .where((is) =>
      is.not(is.exists(is.selectFrom('customers').select('user_id').whereRef('user_id', '=', 'users.id'))),
    );

const isAbandoned = async (db: AccountsTransaction | Queries, userId: string): Promise<boolean> =>
  (await abandoned(db).where('users.id', '=', userId).executeTakeFirst()) !== undefined;

const day = 24 * 60 * 60 * 1000;

export interface Keeping {
  /** Days that the audit trail is kept. */
  readonly auditDays: number;
  /** Days that an abandoned account is kept. */
  readonly unconfirmedDays: number;
}

async function pruneAccounts({ database: { db }, personalData }: Pruned, before: number, most: number) {
  const found = await abandoned(db).where('createdAt', '<=', new Date(before).toISOString()).limit(most).execute();
  let deleted = 0n;
  for (const { id: userId, email } of found) {
    if (!(await isAbandoned(db, userId))) continue;
    await personalData.erase({ userId, email, emailVerified: false }, null);
    deleted++;
  }
  return { numDeletedRows: deleted };
}

interface Pruned {
  readonly database: Database;
  readonly personalData: Pick<PersonalData, 'erase'>;
  readonly now: () => number;
}

/** Sessions, proofs and abandoned accounts that have expired, and old entries of the audit trail. */
export const oldRowsOf = (state: Pruned, { auditDays, unconfirmedDays }: Keeping): OldRows => {
  const { now } = state;
  const { db } = state.database;
  return [
    rowsUntil(db, 'sessions', ['id'], 'expiresAt', () => new Date(now() - replacedMs).toISOString()),
    // Kept a day longer than they are valid, so that a link's page can say that the link has expired.
    rowsUntil(db, 'proofs', ['id'], 'expires', () => now() - day),
    rowsUntil(db, 'audit', ['id'], 'at', () => now() - auditDays * day),
    (most) => pruneAccounts(state, now() - unconfirmedDays * day, most),
  ];
};
