/** Rows of users, their connections to social providers, and their profiles, plain and extended (docs/services/zephr.md). */
import { randomUUID } from 'node:crypto';
import type { AccountsTransaction, Queries } from '../database.ts';
import { type Dependencies, invalid, ok, recordAudit } from './dependencies.server.ts';
import { accountMessages, profileProblems } from './messages.ts';
import { appProblem, extendedText, isSmallEnough, mostApps, profileProblem } from './profile.ts';
import type { Outcome, Profile, Provider, Session } from './service.ts';
import type { UsersTable } from './tables.ts';

export type User = Pick<UsersTable, 'id' | 'email' | 'trackingId'> & { readonly emailVerified: boolean };

const columns = ['users.id', 'users.email', 'users.emailVerified', 'users.trackingId'] as const;
type Row = Pick<UsersTable, 'id' | 'email' | 'emailVerified' | 'trackingId'>;
const userOf = (row: Row | undefined): User | null => (row ? { ...row, emailVerified: row.emailVerified === 1 } : null);

/** These tables store times as ISO text. */
const isoNow = ({ now }: Pick<Dependencies, 'now'>): string => new Date(now()).toISOString();

export async function userByEmail(db: Queries, email: string): Promise<User | null> {
  return userOf(await db.selectFrom('users').select(columns).where('email', '=', email).executeTakeFirst());
}

export async function userByIdentity(db: Queries, provider: Provider, subject: string): Promise<User | null> {
  const found = await db
    .selectFrom('identities')
    .innerJoin('users', 'users.id', 'identities.userId')
    .select(columns)
    .where('identities.providerId', '=', provider)
    .where('identities.accountId', '=', subject)
    .executeTakeFirst();
  return userOf(found);
}

/** Reads a user and locks the row until the transaction ends, so that two sign-ins to it run one after the other. */
export async function lockUser(
  deps: Pick<Dependencies, 'now'>,
  tx: AccountsTransaction,
  id: string,
): Promise<User | null> {
  const found = await tx
    .updateTable('users')
    .set({ updatedAt: isoNow(deps) })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirst();
  return userOf(found);
}

/**
 * @param email in its normal form
 * @returns `null` if there is such a user already; of two simultaneous calls the second waits here
 */
export async function createUser(
  deps: Dependencies,
  tx: AccountsTransaction,
  email: string,
  verified: boolean,
): Promise<User | null> {
  const at = isoNow(deps);
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
}

/** Records that the user has proved to own the address. */
export async function confirmUser(deps: Dependencies, tx: AccountsTransaction, id: string): Promise<void> {
  await tx
    .updateTable('users')
    .set({ emailVerified: 1, updatedAt: isoNow(deps) })
    .where('id', '=', id)
    .execute();
}

/** Connects an account at a provider, unless it is connected to a user already. The provider's token isn't stored. */
export async function addIdentity(
  deps: Dependencies,
  tx: AccountsTransaction,
  userId: string,
  provider: Provider,
  subject: string,
): Promise<void> {
  const at = isoNow(deps);
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
}

export async function readProfile(db: Queries, userId: string): Promise<Profile> {
  const row = await db.selectFrom('profiles').select('data').where('user_id', '=', userId).executeTakeFirst();
  return row ? (JSON.parse(row.data) as Profile) : {};
}

async function writeProfile(
  { now }: Dependencies,
  tx: AccountsTransaction,
  userId: string,
  profile: Profile,
): Promise<void> {
  const values = { data: JSON.stringify(profile), updated: now() };
  await tx
    .insertInto('profiles')
    .values({ user_id: userId, ...values })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(values))
    .execute();
}

/** Records a change at most once a minute, so that a user cannot fill the audit trail. */
async function auditChange(
  deps: Dependencies,
  tx: AccountsTransaction,
  userId: string,
  detail?: string,
): Promise<void> {
  const recent = await tx
    .selectFrom('audit')
    .select('id')
    .where('user_id', '=', userId)
    .where('event', '=', 'profile changed')
    .where('at', '>', deps.now() - 60_000)
    .where('detail', 'is not distinct from', detail ?? null)
    .executeTakeFirst();
  if (!recent) await recordAudit(deps, tx, { event: 'profile changed', userId, detail });
}

/** Adds validated attributes to a profile; if the profile would become too large, it stays unchanged. */
export async function addToProfile(
  deps: Dependencies,
  tx: AccountsTransaction,
  userId: string,
  profile: Profile,
): Promise<void> {
  if (Object.keys(profile).length === 0) return;
  const merged = { ...(await readProfile(tx, userId)), ...profile };
  if (isSmallEnough(merged)) await writeProfile(deps, tx, userId, merged);
}

export async function saveProfile(
  deps: Dependencies,
  { userId }: Session,
  profile: Profile,
  how: 'merge' | 'replace',
): Promise<Outcome<null>> {
  const problem = profileProblem(profile);
  if (problem) return invalid(problem);
  return deps.database.transaction(async (tx) => {
    // Locked, so that simultaneous merges don't undo each other.
    if (!(await lockUser(deps, tx, userId))) return invalid(accountMessages.accountGone);
    const next = how === 'merge' ? { ...(await readProfile(tx, userId)), ...profile } : profile;
    if (!isSmallEnough(next)) return invalid(profileProblems.tooManyFields);
    await writeProfile(deps, tx, userId, next);
    await auditChange(deps, tx, userId);
    return ok(null);
  });
}

/** @returns `null` when the app has stored none */
export async function readExtendedProfile(
  { database }: Dependencies,
  { userId }: Session,
  app: string,
): Promise<unknown> {
  const row = await database.db
    .selectFrom('extended_profiles')
    .select('data')
    .where('user_id', '=', userId)
    .where('app', '=', app)
    .executeTakeFirst();
  return row ? (JSON.parse(row.data) as unknown) : null;
}

export async function saveExtendedProfile(
  deps: Dependencies,
  { userId }: Session,
  app: string,
  value: unknown,
): Promise<Outcome<null>> {
  const problem = appProblem(app);
  if (problem) return invalid(problem);
  const made = extendedText(value);
  if ('problem' in made) return invalid(made.problem);
  return deps.database.transaction(async (tx) => {
    if (!(await lockUser(deps, tx, userId))) return invalid(accountMessages.accountGone);
    const others = await tx
      .selectFrom('extended_profiles')
      .select('app')
      .where('user_id', '=', userId)
      .where('app', '<>', app)
      .execute();
    if (others.length >= mostApps) return invalid(profileProblems.tooManyApps);
    const values = { data: made.text, updated: deps.now() };
    await tx
      .insertInto('extended_profiles')
      .values({ user_id: userId, app, ...values })
      .onConflict((conflict) => conflict.columns(['user_id', 'app']).doUpdateSet(values))
      .execute();
    await auditChange(deps, tx, userId, 'extended');
    return ok(null);
  });
}
