/**
 * Sessions and the cookies of a reader's browser. Reading one is one indexed query; nothing is cached, so a session that was ended
 * anywhere is over with the next request.
 */
import type { Grant } from '../access/entitlements.ts';
import type { AccountsTransaction, Database, Queries } from '../database.ts';
import { type Hmacs, newToken } from '../hmacs.server.ts';
import { readCookies, setCookie } from '../http/cookies.ts';
import type { Caller, Session, SessionSummary } from './service.ts';
import type { User, Users } from './users.server.ts';

/** The signer of the access cookie; src/press/delivery/access-cookie.ts is one. */
export interface AccessSigner {
  readonly name: string;
  /** @param expires Unix seconds */
  sign(level: Grant['level'], expires: number): string;
  /** The level of a value; `null` when it is forged or expired. */
  verify(value: string): string | null;
}

/** What a reader may have now; one or two indexed queries. @param registeredAt epoch milliseconds */
export type GrantFor = (userId: string, registeredAt: number) => Promise<Grant>;

export interface Sessions {
  /**
   * Opens a session with a new token, and ends the one that the browser had. {@link Sessions.accessCookies} follow once the
   * transaction is committed.
   */
  open(tx: AccountsTransaction, user: User, caller: Caller): Promise<{ session: Session; cookies: readonly string[] }>;
  read(header: string | null): Promise<{ readonly session: Session | null; readonly cookies: readonly string[] }>;
  /** The visitor hint and the access cookie for what this reader may have now, as whole `Set-Cookie` values. */
  accessCookies(session: Session): Promise<readonly string[]>;
  /** Whether the browser is signed in as this user. */
  belongs(tx: AccountsTransaction, header: string | null | undefined, userId: string): Promise<boolean>;
  list(session: Session): Promise<readonly SessionSummary[]>;
  readonly farewell: readonly string[];
}

/** Cookies by their names (vendors.md 1.0). */
export const cookieNames = { session: 'blaize_session', tracking: 'blaize_tracking_id', visitor: 'visitor' } as const;

const day = 24 * 60 * 60;
/** Seconds. */
export const sessionLife = {
  session: 30 * day,
  slideAfter: day,
  access: 15 * 60,
  renewAccess: 5 * 60,
  tracking: 365 * day,
};

/** Milliseconds for which a request may be under way with cookies that have been replaced. */
const underWay = 60_000;
const mostReplaced = 10_000;

export interface SessionOptions {
  readonly database: Database;
  readonly users: Users;
  readonly hmacs: Hmacs;
  readonly access: AccessSigner;
  readonly grantFor: GrantFor;
  /** Whether the site is served over HTTPS. */
  readonly secure: boolean;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export function createSessions(options: SessionOptions): Sessions {
  const { database, hmacs, grantFor, now } = options;
  const cookies = createCookies(options);
  const replaced = createReplacedTokens(now);
  const hashesOf = (header: string | null | undefined): readonly string[] =>
    readCookies(header, cookieNames.session)
      .filter(isToken)
      .map((token) => hmacs.token('session', token));

  return {
    farewell: cookies.farewell,

    async open(tx, user, caller) {
      for (const old of hashesOf(caller.cookies)) {
        await options.users.endSession(tx, old);
        replaced.add(old);
      }
      const token = newToken();
      const { id, createdAt } = await options.users.openSession(tx, {
        userId: user.id,
        token: hmacs.token('session', token),
        device: deviceOf(caller.userAgent),
        expires: now() + sessionLife.session * 1000,
      });
      const { email, emailVerified, trackingId } = user;
      return {
        session: { id, userId: user.id, trackingId, email, emailVerified, createdAt },
        cookies: cookies.session(token, trackingId),
      };
    },

    async read(header) {
      const tokens = readCookies(header, cookieNames.session);
      for (const token of tokens.filter(isToken)) {
        const row = await find(database.db, hmacs.token('session', token), now());
        if (!row) continue;
        const { updatedAt, registeredAt, ...rest } = row;
        const slides = now() - Date.parse(updatedAt) > sessionLife.slideAfter * 1000;
        if (slides) await slide(database.db, row.id, now());
        const grant = await grantFor(row.userId, Date.parse(registeredAt));
        const hasHint = !slides && readCookies(header, cookieNames.visitor).includes(grant.visitor);
        return {
          session: { ...rest, emailVerified: row.emailVerified === 1, createdAt: Date.parse(row.createdAt) },
          cookies: [
            ...(slides ? cookies.session(token, row.trackingId) : []),
            ...(hasHint ? [] : [cookies.visitor(grant)]),
            ...(cookies.accessIsDue(header, grant) ? [cookies.access(grant)] : []),
          ],
        };
      }
      if (hashesOf(header).some(replaced.has)) return { session: null, cookies: [] };
      // Cookies of a session that ended elsewhere would make pages promise what the server does not allow.
      const stale = tokens.length > 0 || readCookies(header, cookieNames.visitor).length > 0;
      return { session: null, cookies: stale ? cookies.farewell : [] };
    },

    async accessCookies({ userId }) {
      const user = await database.db
        .selectFrom('users')
        .select('createdAt')
        .where('id', '=', userId)
        .executeTakeFirst();
      if (!user) return [];
      const grant = await grantFor(userId, Date.parse(user.createdAt));
      return [cookies.visitor(grant), cookies.access(grant)];
    },

    async belongs(tx, header, userId) {
      for (const hash of hashesOf(header)) if ((await find(tx, hash, now()))?.userId === userId) return true;
      return false;
    },

    async list(session) {
      const rows = await database.db
        .selectFrom('sessions')
        .select(['id', 'createdAt', 'updatedAt', 'userAgent'])
        .where('userId', '=', session.userId)
        .where('expiresAt', '>', new Date(now()).toISOString())
        .orderBy('updatedAt', 'desc')
        .execute();
      return rows.map((row) => ({
        id: row.id,
        current: row.id === session.id,
        createdAt: Date.parse(row.createdAt),
        lastSeenAt: Date.parse(row.updatedAt),
        device: row.userAgent || deviceOf(null),
      }));
    },
  };
}

const isToken = (text: string): boolean => /^[\w-]{43}$/.test(text);

/** The cookies of a reader's browser, as whole `Set-Cookie` values. */
function createCookies({ access, secure, now }: SessionOptions) {
  const cookie = (name: string, value: string, maxAge: number, httpOnly = true): string =>
    setCookie(name, value, { maxAge, httpOnly, secure });
  /** Unix second at which an access cookie that is made now ends: never later than what it stands for. */
  const accessEnd = ({ until }: Grant): number => Math.floor(Math.min(now() / 1000 + sessionLife.access, until / 1000));

  return {
    farewell: [
      cookie(cookieNames.session, '', 0),
      cookie(cookieNames.tracking, '', 0),
      cookie(cookieNames.visitor, '', 0, false),
      cookie(access.name, '', 0),
    ],
    session: (token: string, trackingId: string): readonly string[] => [
      cookie(cookieNames.session, token, sessionLife.session),
      cookie(cookieNames.tracking, trackingId, sessionLife.tracking),
    ],
    /** Read by a script before first paint; it says what kind of visitor this is and nothing about who. */
    visitor: (grant: Grant): string => cookie(cookieNames.visitor, grant.visitor, sessionLife.session, false),
    access(grant: Grant): string {
      const expires = accessEnd(grant);
      return cookie(access.name, access.sign(grant.level, expires), expires - Math.floor(now() / 1000));
    },
    /** Whether the browser needs a new access cookie: it has none of this level, or one that ends soon and could last longer. */
    accessIsDue(header: string | null, grant: Grant): boolean {
      const ends = readCookies(header, access.name)
        .filter((value) => access.verify(value) === grant.level)
        .map((value) => Number(value.split('.')[2]));
      return Math.max(0, ...ends) < Math.min(now() / 1000 + sessionLife.renewAccess, accessEnd(grant));
    },
  };
}

/**
 * Session tokens that another sign-in of the same browser has just replaced, and when. A request that was under way meanwhile still
 * carries one; were it told to forget its cookies, it would take the new ones away.
 */
function createReplacedTokens(now: () => number) {
  const replaced = new Map<string, number>();
  return {
    add(hash: string): void {
      for (const [old, at] of replaced) {
        if (now() - at < underWay && replaced.size < mostReplaced) break;
        replaced.delete(old);
      }
      replaced.set(hash, now());
    },
    has: (hash: string): boolean => now() - (replaced.get(hash) ?? Number.NEGATIVE_INFINITY) < underWay,
  };
}

/** The session with this token, and its user; unless it has expired. */
const find = (db: Queries, hash: string, now: number) =>
  db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.userId')
    .select([
      'sessions.id as id',
      'sessions.userId as userId',
      'sessions.createdAt as createdAt',
      'sessions.updatedAt as updatedAt',
      'users.email as email',
      'users.emailVerified as emailVerified',
      'users.trackingId as trackingId',
      'users.createdAt as registeredAt',
    ])
    .where('sessions.token', '=', hash)
    .where('sessions.expiresAt', '>', new Date(now).toISOString())
    .executeTakeFirst();

/** Has a session that is in use last its whole time again. */
async function slide(db: Queries, id: string, now: number): Promise<void> {
  await db
    .updateTable('sessions')
    .set({
      updatedAt: new Date(now).toISOString(),
      expiresAt: new Date(now + sessionLife.session * 1000).toISOString(),
    })
    .where('id', '=', id)
    .execute();
}

const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bFBAN\/|\bFBAV\//, 'Facebook'],
  [/\bInstagram\b/, 'Instagram'],
  [/\bChrome\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const systems: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'Mac'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

/** Name of a device in the list of sessions, for instance `Chrome on Windows`. Nothing that a browser sends is stored or shown as it is. */
export function deviceOf(userAgent: string | null): string {
  const find = (list: typeof browsers): string | undefined => list.find(([form]) => form.test(userAgent ?? ''))?.[1];
  const [browser, system] = [find(browsers), find(systems)];
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? system ?? 'Unknown device';
}
