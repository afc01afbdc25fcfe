/** The account service, over a database that the caller opened. */
import { registeredGrant } from '../access/entitlements.ts';
import { createHmacs } from '../crypto.server.ts';
import type { OldRows } from '../jobs/old-rows.ts';
import type { PersonalData } from '../personal-data.ts';
import { type Dependencies, ok } from './dependencies.server.ts';
import { accountData, type Keeping, oldRowsOf } from './personal-data.server.ts';
import { createSending } from './sending.server.ts';
import type { Accounts, Outcome, SignedIn } from './service.ts';
import { accessCookies, clearedCookies, listSessions, logout, readSession } from './sessions.server.ts';
import { createSignIn } from './sign-in.server.ts';
import { createSocial } from './social.server.ts';
import { type FacebookSettings, facebook, type GoogleSettings, google } from './social-providers.server.ts';
import { readExtendedProfile, readProfile, saveExtendedProfile, saveProfile } from './users.server.ts';

/**
 * By default, users may read what a free account may read (`grantFor`), and only the accounts' own personal data is deleted and exported
 * (`personalData`).
 */
export interface AccountsOptions
  extends Pick<Dependencies, 'database' | 'outbox' | 'siteUrl' | 'access' | 'verification' | 'log' | 'limiter'>,
    Partial<Pick<Dependencies, 'grantFor' | 'personalData' | 'now'>> {
  /** At least 32 random characters; a change signs every reader out. */
  readonly secret: string;
  readonly google: GoogleSettings | null;
  readonly facebook: FacebookSettings | null;
  readonly keeping?: Keeping;
  /** Milliseconds for one request to a social provider; for tests. */
  readonly socialTimeoutMs?: number;
}

export interface RunningAccounts extends Accounts {
  /** The personal data that the accounts themselves store. */
  readonly personalData: PersonalData;
  readonly oldRows: OldRows;
}

export const defaultKeeping: Keeping = { auditDays: 90, unconfirmedDays: 30 };

export async function createAccounts(options: AccountsOptions): Promise<RunningAccounts> {
  const { database, limiter, outbox, siteUrl, log, verification, access, now = Date.now } = options;
  const { grantFor = async () => registeredGrant } = options;
  const hmacs = createHmacs(options.secret);
  const own: Omit<Dependencies, 'personalData'> = {
    database,
    hmacs,
    limiter,
    outbox,
    verification,
    access,
    grantFor,
    siteUrl,
    secure: new URL(siteUrl).protocol === 'https:',
    log,
    now,
  };
  const personalData = accountData(own);
  const deps: Dependencies = { ...own, personalData: options.personalData ?? personalData };
  const sending = createSending(deps);
  const signIn = createSignIn(deps);
  const providers = [
    ...(options.google ? [google(options.google, now, options.socialTimeoutMs)] : []),
    ...(options.facebook ? [facebook(options.facebook, options.socialTimeoutMs)] : []),
  ];
  const social = createSocial(deps, providers, options.secret);

  /** Adds the access cookies after the sign-in's transaction is committed, because that transaction reads no payments. */
  async function withAccess<Done extends SignedIn>(signedIn: Done): Promise<Done> {
    return { ...signedIn, cookies: [...signedIn.cookies, ...(await accessCookies(deps, signedIn.session))] };
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
    signedOutCookies: clearedCookies(deps),
    session: (header, extend) => readSession(deps, header, extend),
    accessCookies: (session) => accessCookies(deps, session),
    sessions: ({ userId, id }) => listSessions(deps, userId, id),
    logout: (session, where) => logout(deps, session, where),
    profile: ({ userId }) => readProfile(database.db, userId),
    saveProfile: (session, profile, how) => saveProfile(deps, session, profile, how),
    extendedProfile: (session, app) => readExtendedProfile(deps, session, app),
    saveExtendedProfile: (session, app, value) => saveExtendedProfile(deps, session, app, value),
    exportData: (session) => deps.personalData.export(session),
    async forget(session, caller) {
      await deps.personalData.erase(session, caller);
      return clearedCookies(deps);
    },
    personalData,
    oldRows: oldRowsOf(deps, options.keeping ?? defaultKeeping),
  };
}
