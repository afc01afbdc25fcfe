/** The account service: puts its parts together over a database that somebody else opened. */
import { registeredGrant } from '../access/entitlements.ts';
import type { AccountsTransaction, Database } from '../database.ts';
import type { EmailVerification } from '../email-verification/model.ts';
import { createKeyed } from '../hmacs.server.ts';
import { createLimiter } from '../http/limiter.server.ts';
import { defaultLimits, type Limits } from '../http/limits.ts';
import type { Logger } from '../logging.ts';
import type { Outbox } from '../mail/model.ts';
import { noPersonalData, type PersonalData } from '../personal-data.ts';
import type { Parts } from './dependencies.server.ts';
import { createAudit } from './dependencies.server.ts';
import { createProfiles } from './profiles.server.ts';
import { createProofs } from './proofs.server.ts';
import { type Keeping, startPruning } from './pruning.server.ts';
import { createSending } from './sending.server.ts';
import type { Accounts, Outcome, SignedIn } from './service.ts';
import { type AccessSigner, createSessions, type GrantFor } from './sessions.server.ts';
import { createSigningIn } from './sign-in.server.ts';
import { createSocial } from './social.server.ts';
import { type FacebookSettings, facebook, type GoogleSettings, google } from './social-providers.server.ts';
import { createPeople } from './users.server.ts';

export interface AccountsOptions {
  readonly database: Database;
  readonly outbox: Outbox<AccountsTransaction>;
  /** At least 32 characters of chance; whoever changes it signs everybody out. */
  readonly secret: string;
  /** Origin of the site; cookies are Secure when it is https. */
  readonly siteUrl: string;
  readonly access: AccessSigner;
  /** What a reader may have; what an account alone opens, unless given. */
  readonly grantFor?: GrantFor;
  readonly google: GoogleSettings | null;
  readonly facebook: FacebookSettings | null;
  /** Looks at addresses of new readers; `null`: their form alone is looked at. */
  readonly verification: EmailVerification | null;
  readonly log: Logger;
  readonly limits?: Limits;
  readonly keeping?: Keeping;
  /** What other features keep of a user. */
  readonly others?: PersonalData;
  /** Milliseconds for the requests to a social provider; for tests. */
  readonly socialPatienceMs?: number;
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
  // The trail says that it was another who came before.
  audit: 'kept',
} as const satisfies PersonalData['tables'];

export const defaultKeeping: Keeping = { auditDays: 90, unconfirmedDays: 30 };

export async function createAccounts(options: AccountsOptions): Promise<Accounts> {
  const { database, outbox, siteUrl, log, others = noPersonalData, now = Date.now } = options;
  const keyed = createKeyed(options.secret);
  const secure = new URL(siteUrl).protocol === 'https:';
  const people = await createPeople(database.db, { secret: keyed.derive('better-auth'), siteUrl }, now);
  const audit = createAudit(keyed, now);
  const profiles = createProfiles(database, people, audit, now);
  const { access, grantFor = async () => registeredGrant } = options;
  const sessions = createSessions({ database, people, keyed, access, grantFor, secure, now });
  const parts: Parts = {
    database,
    keyed,
    people,
    audit,
    profiles,
    sessions,
    outbox,
    siteUrl,
    log,
    now,
    others,
    limiter: createLimiter(database, keyed, options.limits ?? defaultLimits, now),
    proofs: createProofs(keyed, now),
    verification: options.verification,
  };
  const sending = createSending(parts);
  const { bySocial, ...signingIn } = createSigningIn(parts);
  const providers = [
    ...(options.google ? [google(options.google, now, options.socialPatienceMs)] : []),
    ...(options.facebook ? [facebook(options.facebook, options.socialPatienceMs)] : []),
  ];
  const social = createSocial(parts, providers, { bySocial, ...signingIn }, secure);

  /** Asked when the sign-in is done: what has been paid is no part of its transaction. */
  async function withAccess<Done extends SignedIn>(signedIn: Done): Promise<Done> {
    return { ...signedIn, cookies: [...signedIn.cookies, ...(await sessions.accessCookies(signedIn.session))] };
  }
  const andAccess = async <Done extends SignedIn>(outcome: Outcome<Done>): Promise<Outcome<Done>> =>
    outcome.ok ? { ok: true, value: await withAccess(outcome.value) } : outcome;

  const stop = startPruning(database, options.keeping ?? defaultKeeping, others.erase, now, log);

  return {
    ...sending,
    async create(...asked) {
      const made = await sending.create(...asked);
      if (!made.ok || !made.value.signedIn) return made;
      return { ok: true, value: { ...made.value, signedIn: await withAccess(made.value.signedIn) } };
    },
    ...signingIn,
    login: async (credentials) => andAccess(await signingIn.login(credentials)),
    register: async (credentials) => andAccess(await signingIn.register(credentials)),
    useLink: async (token, caller) => andAccess(await signingIn.useLink(token, caller)),
    ...social,
    async finishSocial(...given) {
      const end = await social.finishSocial(...given);
      return end.action === 'login' ? { ...end, signedIn: await withAccess(end.signedIn) } : end;
    },
    farewell: sessions.farewell,
    session: sessions.read,
    accessCookies: sessions.accessCookies,
    sessions: sessions.list,

    async logout(session, where) {
      await database.transaction(async (tx) => {
        let ended = tx.deleteFrom('sessions').where('userId', '=', session.userId);
        if (where === 'THIS_DEVICE') ended = ended.where('id', '=', session.id);
        if (where === 'OTHER_DEVICES') ended = ended.where('id', '<>', session.id);
        await ended.execute();
        await audit(tx, { event: 'signed out', userId: session.userId, detail: where });
      });
      return where === 'OTHER_DEVICES' ? [] : sessions.farewell;
    },

    profile: (session) => profiles.read(database.db, session.userId),
    saveProfile: profiles.save,
    extendedProfile: profiles.readExtended,
    saveExtendedProfile: profiles.saveExtended,

    async exportData(session) {
      const { userId } = session;
      const user = await database.db.selectFrom('users').selectAll().where('id', '=', userId).executeTakeFirst();
      const identities = await database.db
        .selectFrom('identities')
        .select(['providerId', 'accountId', 'createdAt'])
        .where('userId', '=', userId)
        .execute();
      const trail = await database.db
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
        profile: await profiles.read(database.db, userId),
        extended_profiles: await profiles.allExtended(userId),
        social_accounts: identities.map((one) => ({
          provider: one.providerId,
          id: one.accountId,
          since: one.createdAt,
        })),
        sessions: (await sessions.list(session)).map((one) => ({
          device: one.device,
          since: iso(one.createdAt),
          last_seen: iso(one.lastSeenAt),
        })),
        events: trail.map((entry) => ({ time: iso(entry.at), event: entry.event, detail: entry.detail })),
        ...(await others.export(session)),
      };
    },

    async forget(session, caller) {
      const { userId, email } = session;
      await others.erase(session);
      await database.transaction(async (tx) => {
        await people.hold(tx, userId);
        await parts.proofs.forget(tx, email);
        await outbox.forget(tx, email);
        await people.remove(tx, userId);
        // What stays in the trail names nobody.
        await tx
          .updateTable('audit')
          .set({ user_id: null, subject: keyed.subject(email) })
          .where('user_id', '=', userId)
          .execute();
        await audit(tx, { event: 'account deleted', email, caller });
      });
      await others.erased?.(session);
      return sessions.farewell;
    },

    stop,
  };
}
