/** The account service, over a database that the caller opened. */
import { registeredGrant } from '../access/entitlements.ts';
import type { AccountsTransaction, Database } from '../database.ts';
import type { EmailVerification } from '../email-verification/model.ts';
import { createHmacs } from '../hmacs.server.ts';
import { createLimiter } from '../http/limiter.server.ts';
import { defaultLimits, type Limits } from '../http/limits.ts';
import type { Logger } from '../logging.ts';
import type { Outbox } from '../mail/model.ts';
import { noPersonalData, type PersonalData } from '../personal-data.ts';
import { createAudit, type Dependencies, ok } from './dependencies.server.ts';
import { createProfiles } from './profiles.server.ts';
import { createProofs } from './proofs.server.ts';
import { type Keeping, startPruning } from './pruning.server.ts';
import { createSending } from './sending.server.ts';
import type { Accounts, Caller, Outcome, Session, SignedIn } from './service.ts';
import { type AccessSigner, createSessions, type GrantFor } from './sessions.server.ts';
import { createSignIn } from './sign-in.server.ts';
import { createSocial } from './social.server.ts';
import { type FacebookSettings, facebook, type GoogleSettings, google } from './social-providers.server.ts';
import { createUsers } from './users.server.ts';

export interface AccountsOptions {
  readonly database: Database;
  readonly outbox: Outbox<AccountsTransaction>;
  /** At least 32 random characters; a change signs every reader out. */
  readonly secret: string;
  /** Origin of the site; cookies are Secure when it is https. */
  readonly siteUrl: string;
  readonly access: AccessSigner;
  /** What a reader may read; what an account alone opens, unless given. */
  readonly grantFor?: GrantFor;
  readonly google: GoogleSettings | null;
  readonly facebook: FacebookSettings | null;
  /** Checks email addresses of new readers; `null`: only their syntax is checked. */
  readonly verification: EmailVerification | null;
  readonly log: Logger;
  readonly limits?: Limits;
  readonly keeping?: Keeping;
  /** What other features store about a user. */
  readonly others?: PersonalData;
  /** Milliseconds for one request to a social provider; for tests. */
  readonly socialTimeoutMs?: number;
  /** Epoch milliseconds; for tests. */
  readonly now?: () => number;
}

/** Tables of the accounts themselves: what each is for is in tables.ts. */
export const accountTables = {
  users: 'kept',
  sessions: 'gone',
  identities: 'gone',
  profiles: 'gone',
  extended_profiles: 'gone',
  // The trail says that the user before was someone else.
  audit: 'kept',
} as const satisfies PersonalData['tables'];

export const defaultKeeping: Keeping = { auditDays: 90, unconfirmedDays: 30 };

export async function createAccounts(options: AccountsOptions): Promise<Accounts> {
  const { database, outbox, siteUrl, log, others = noPersonalData, now = Date.now } = options;
  const { access, grantFor = async () => registeredGrant } = options;
  const hmacs = createHmacs(options.secret);
  const secure = new URL(siteUrl).protocol === 'https:';
  const users = createUsers(now);
  const audit = createAudit(hmacs, now);
  const deps: Dependencies = {
    database,
    hmacs,
    users,
    audit,
    profiles: createProfiles(database, users, audit, now),
    sessions: createSessions({ database, users, hmacs, access, grantFor, secure, now }),
    outbox,
    siteUrl,
    log,
    now,
    others,
    limiter: createLimiter(database, hmacs, options.limits ?? defaultLimits, now),
    proofs: createProofs(hmacs, now),
    verification: options.verification,
  };
  const { sessions, profiles } = deps;
  const sending = createSending(deps);
  const signIn = createSignIn(deps);
  const providers = [
    ...(options.google ? [google(options.google, now, options.socialTimeoutMs)] : []),
    ...(options.facebook ? [facebook(options.facebook, options.socialTimeoutMs)] : []),
  ];
  const social = createSocial(deps, providers, secure);

  /** Adds the access cookies after the sign-in's transaction: what has been paid is no part of it. */
  async function withAccess<Done extends SignedIn>(signedIn: Done): Promise<Done> {
    return { ...signedIn, cookies: [...signedIn.cookies, ...(await sessions.accessCookies(signedIn.session))] };
  }
  const andAccess = async <Done extends SignedIn>(outcome: Outcome<Done>): Promise<Outcome<Done>> =>
    outcome.ok ? ok(await withAccess(outcome.value)) : outcome;

  return {
    ...sending,
    async create(...given) {
      const made = await sending.create(...given);
      if (!made.ok || !made.value.signedIn) return made;
      return ok({ ...made.value, signedIn: await withAccess(made.value.signedIn) });
    },
    ...signIn,
    login: async (credentials) => andAccess(await signIn.login(credentials)),
    register: async (credentials) => andAccess(await signIn.register(credentials)),
    useLink: async (token, caller) => andAccess(await signIn.useLink(token, caller)),
    ...social,
    async finishSocial(...given) {
      const end = await social.finishSocial(...given);
      return end.action === 'login' ? { ...end, signedIn: await withAccess(end.signedIn) } : end;
    },
    farewell: sessions.farewell,
    session: sessions.read,
    accessCookies: sessions.accessCookies,
    sessions: sessions.list,
    logout: (session, where) => logout(deps, session, where),
    profile: (session) => profiles.read(database.db, session.userId),
    saveProfile: profiles.save,
    extendedProfile: profiles.readExtended,
    saveExtendedProfile: profiles.saveExtended,
    exportData: async (session) => ({ ...(await exportAccount(deps, session)), ...(await others.export(session)) }),
    async forget(session, caller) {
      await others.erase(session);
      await eraseAccount(deps, session, caller);
      await others.erased?.(session);
      return sessions.farewell;
    },
    stop: startPruning(database, options.keeping ?? defaultKeeping, others.erase, now, log),
  };
}

async function logout(
  { database, sessions, audit }: Dependencies,
  session: Session,
  where: 'EVERYWHERE' | 'OTHER_DEVICES' | 'THIS_DEVICE',
): Promise<readonly string[]> {
  await database.transaction(async (tx) => {
    let ended = tx.deleteFrom('sessions').where('userId', '=', session.userId);
    if (where === 'THIS_DEVICE') ended = ended.where('id', '=', session.id);
    if (where === 'OTHER_DEVICES') ended = ended.where('id', '<>', session.id);
    await ended.execute();
    await audit(tx, { event: 'signed out', userId: session.userId, detail: where });
  });
  return where === 'OTHER_DEVICES' ? [] : sessions.farewell;
}

/** What the accounts themselves store about a reader. */
async function exportAccount({ database, profiles, sessions }: Dependencies, session: Session) {
  const { db } = database;
  const { userId } = session;
  const user = await db.selectFrom('users').selectAll().where('id', '=', userId).executeTakeFirst();
  const identities = await db
    .selectFrom('identities')
    .select(['providerId', 'accountId', 'createdAt'])
    .where('userId', '=', userId)
    .execute();
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
    profile: await profiles.read(db, userId),
    extended_profiles: await profiles.allExtended(userId),
    social_accounts: identities.map((one) => ({ provider: one.providerId, id: one.accountId, since: one.createdAt })),
    sessions: (await sessions.list(session)).map((one) => ({
      device: one.device,
      since: iso(one.createdAt),
      last_seen: iso(one.lastSeenAt),
    })),
    events: trail.map((entry) => ({ time: iso(entry.at), event: entry.event, detail: entry.detail })),
  };
}

async function eraseAccount(deps: Dependencies, { userId, email }: Session, caller: Caller): Promise<void> {
  const { database, users, proofs, outbox, hmacs, audit } = deps;
  await database.transaction(async (tx) => {
    await users.lock(tx, userId);
    await proofs.forget(tx, email);
    await outbox.forget(tx, email);
    await users.remove(tx, userId);
    // The entries that stay in the trail hold no personal data.
    await tx
      .updateTable('audit')
      .set({ user_id: null, subject: hmacs.subject(email) })
      .where('user_id', '=', userId)
      .execute();
    await audit(tx, { event: 'account deleted', email, caller });
  });
}
