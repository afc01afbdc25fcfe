/**
 * Sessions and the cookies of a reader's browser. Reading one is one indexed query; nothing is kept in memory, so a session
 * that was ended anywhere is over with the next request.
 */
import type { Grant } from '../access/entitlements.ts';
import type { AccountsTransaction, Database } from '../database.ts';
import { type Keyed, newToken } from '../hmacs.server.ts';
import { readCookies, setCookie } from '../http/cookies.ts';
import type { Caller, Session, SessionSummary } from './service.ts';
import type { People, User } from './users.server.ts';

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
   * Opens a session with a token that nobody has seen before, and ends the one that the browser had. What the reader may have
   * is told by {@link Sessions.accessCookies} once the transaction is through.
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
  readonly people: People;
  readonly keyed: Keyed;
  readonly access: AccessSigner;
  readonly grantFor: GrantFor;
  /** Whether the site is served over HTTPS. */
  readonly secure: boolean;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export function createSessions({ database, people, keyed, access, grantFor, secure, now }: SessionOptions): Sessions {
  const cookie = (name: string, value: string, maxAge: number, httpOnly = true): string =>
    setCookie(name, value, { maxAge, httpOnly, secure });
  /** Read by a script before first paint; it says what kind of visitor this is and nothing about who. */
  const visitor = (grant: Grant): string => cookie(cookieNames.visitor, grant.visitor, sessionLife.session, false);
  /** Unix second at which an access cookie that is made now ends: never later than what it stands for. */
  const endOf = ({ until }: Grant): number => Math.floor(Math.min(now() / 1000 + sessionLife.access, until / 1000));
  const signed = (grant: Grant): string => {
    const expires = endOf(grant);
    return cookie(access.name, access.sign(grant.level, expires), expires - Math.floor(now() / 1000));
  };
  const farewell = [
    cookie(cookieNames.session, '', 0),
    cookie(cookieNames.tracking, '', 0),
    cookie(cookieNames.visitor, '', 0, false),
    cookie(access.name, '', 0),
  ];
  /**
   * Tokens that another sign-in of the same browser has just replaced, and when. A request that was under way meanwhile still
   * carries one; were it told to forget its cookies, it would take the new ones away.
   */
  const replaced = new Map<string, number>();
  function replace(token: string): void {
    for (const [old, at] of replaced) {
      if (now() - at < underWay && replaced.size < mostReplaced) break;
      replaced.delete(old);
    }
    replaced.set(token, now());
  }
  const wasReplaced = (token: string): boolean => now() - (replaced.get(token) ?? Number.NEGATIVE_INFINITY) < underWay;

  const tokensOf = (header: string | null | undefined): readonly string[] =>
    readCookies(header, cookieNames.session)
      .filter((token) => /^[\w-]{43}$/.test(token))
      .map((token) => keyed.token('session', token));

  function find(queries: Database['db'], token: string) {
    return queries
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
      .where('sessions.token', '=', token)
      .where('sessions.expiresAt', '>', new Date(now()).toISOString())
      .executeTakeFirst();
  }

  /** Whether the browser needs a new access cookie: it has none of this level, or one that ends soon and could last longer. */
  function accessIsDue(header: string | null, grant: Grant): boolean {
    const ends = readCookies(header, access.name)
      .filter((value) => access.verify(value) === grant.level)
      .map((value) => Number(value.split('.')[2]));
    return Math.max(0, ...ends) < Math.min(now() / 1000 + sessionLife.renewAccess, endOf(grant));
  }

  return {
    farewell,
    async open(tx, user, caller) {
      for (const old of tokensOf(caller.cookies)) {
        await people.endSession(tx, old);
        replace(old);
      }
      const token = newToken();
      const { id, createdAt } = await people.openSession(tx, {
        userId: user.id,
        token: keyed.token('session', token),
        device: deviceOf(caller.userAgent),
        expires: now() + sessionLife.session * 1000,
      });
      const { email, emailVerified, trackingId } = user;
      return {
        session: { id, userId: user.id, trackingId, email, emailVerified, createdAt },
        cookies: [
          cookie(cookieNames.session, token, sessionLife.session),
          cookie(cookieNames.tracking, trackingId, sessionLife.tracking),
        ],
      };
    },

    async read(header) {
      const tokens = readCookies(header, cookieNames.session);
      for (const token of tokens) {
        const hashed = /^[\w-]{43}$/.test(token) ? keyed.token('session', token) : null;
        const row = hashed === null ? undefined : await find(database.db, hashed);
        if (!row || hashed === null) continue;
        const cookies: string[] = [];
        if (now() - Date.parse(row.updatedAt) > sessionLife.slideAfter * 1000) {
          await database.db
            .updateTable('sessions')
            .set({
              updatedAt: new Date(now()).toISOString(),
              expiresAt: new Date(now() + sessionLife.session * 1000).toISOString(),
            })
            .where('token', '=', hashed)
            .execute();
          cookies.push(cookie(cookieNames.session, token, sessionLife.session));
          cookies.push(cookie(cookieNames.tracking, row.trackingId, sessionLife.tracking));
        }
        const grant = await grantFor(row.userId, Date.parse(row.registeredAt));
        const slid = cookies.length > 0;
        if (slid || !readCookies(header, cookieNames.visitor).includes(grant.visitor)) cookies.push(visitor(grant));
        if (accessIsDue(header, grant)) cookies.push(signed(grant));
        const { updatedAt: _, registeredAt: __, ...rest } = row;
        const session = { ...rest, emailVerified: row.emailVerified === 1, createdAt: Date.parse(row.createdAt) };
        return { session, cookies };
      }
      if (tokensOf(header).some(wasReplaced)) return { session: null, cookies: [] };
      // What is left of a session that ended elsewhere would make the page promise what the server does not keep.
      const left = tokens.length > 0 || readCookies(header, cookieNames.visitor).length > 0;
      return { session: null, cookies: left ? farewell : [] };
    },

    async accessCookies({ userId }) {
      const user = await database.db
        .selectFrom('users')
        .select('createdAt')
        .where('id', '=', userId)
        .executeTakeFirst();
      if (!user) return [];
      const grant = await grantFor(userId, Date.parse(user.createdAt));
      return [visitor(grant), signed(grant)];
    },

    async belongs(tx, header, userId) {
      for (const token of tokensOf(header)) if ((await find(tx, token))?.userId === userId) return true;
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

/** What a reader recognises a device by, for the list of sessions. */

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

/** For instance `Chrome on Windows`; a list of what is known, so that nothing a browser sends is kept or shown as it is. */
export function deviceOf(userAgent: string | null): string {
  const find = (list: typeof browsers): string | undefined => list.find(([form]) => form.test(userAgent ?? ''))?.[1];
  const [browser, system] = [find(browsers), find(systems)];
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? system ?? 'Unknown device';
}
