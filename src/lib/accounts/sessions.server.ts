/**
 * Sessions and the cookies of a user's browser. Reading one is one indexed query; nothing is cached, so a session that is ended on
 * any device or node has no effect from the next request on.
 */
import { randomUUID } from 'node:crypto';
import { type Grant, trialStart } from '../access/entitlements.ts';
import { isToken, newToken } from '../crypto.server.ts';
import type { AccountsTransaction, Queries } from '../database.ts';
import { readCookies, setCookie } from '../http/cookies.server.ts';
import { type Dependencies, recordAudit } from './dependencies.server.ts';
import { sessionCookie, trackingCookie } from './model.ts';
import type { Accounts, Caller, Session, SessionSummary, SignedIn } from './service.ts';
import type { User } from './users.server.ts';
import { visitorCookie } from './visitor.ts';

const day = 24 * 60 * 60;
/** Seconds. */
export const sessionLife = {
  session: 30 * day,
  slideAfter: day,
  access: 15 * 60,
  renewAccess: 5 * 60,
  tracking: 365 * day,
};

/** Most sessions of one account: more than a household has devices, and too few for hundreds to share it. */
const mostSessions = 50;
/** Milliseconds for which requests with replaced cookies may still arrive. */
export const replacedMs = 60_000;

const hashesOf = ({ hmacs }: Dependencies, header: string | null | undefined): readonly string[] =>
  readCookies(header, sessionCookie)
    .filter(isToken)
    .map((token) => hmacs.token('session', token));

/**
 * Opens a session with a new token. Ends the browser's previous session, and, if there are too many, the least recently used one.
 * The caller adds {@link accessCookies} after the transaction is committed.
 *
 * @param how for the audit trail
 */
export async function openSession(
  deps: Dependencies,
  tx: AccountsTransaction,
  { id: userId, email, emailVerified, trackingId }: User,
  caller: Caller,
  created: boolean,
  how: string,
): Promise<SignedIn> {
  const createdAt = deps.now();
  const at = new Date(createdAt).toISOString();
  for (const old of hashesOf(deps, caller.cookies)) await replace(tx, old, userId, at);
  const token = newToken();
  const id = randomUUID();
  await tx
    .insertInto('sessions')
    .values({
      id,
      userId,
      token: deps.hmacs.token('session', token),
      userAgent: deviceOf(caller.userAgent),
      createdAt: at,
      updatedAt: at,
      expiresAt: new Date(createdAt + sessionLife.session * 1000).toISOString(),
    })
    .execute();
  await endOldest(tx, userId, at);
  await recordAudit(deps, tx, { event: 'sign-in', userId, caller, detail: how });
  return {
    session: { id, userId, trackingId, email, emailVerified },
    created,
    cookies: sessionCookies(deps, token, trackingId),
  };
}

/**
 * Ends a session that another sign-in of the same browser replaces. A request that was sent before still carries its token, and an answer
 * that cleared the cookies would remove the new ones, so a row stays for a while, even for a token that was no longer valid; it is the only
 * kind that expires when last used. It belongs to the new user, because the previous one may delete the account.
 */
async function replace(tx: AccountsTransaction, token: string, userId: string, at: string): Promise<void> {
  const ended = { userId, updatedAt: at, expiresAt: at };
  const { numUpdatedRows } = await tx.updateTable('sessions').set(ended).where('token', '=', token).executeTakeFirst();
  if (numUpdatedRows > 0n) return;
  await tx
    .insertInto('sessions')
    .values({ ...ended, id: randomUUID(), token, userAgent: '', createdAt: at })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function wasReplaced({ database, now }: Dependencies, hashes: readonly string[]): Promise<boolean> {
  if (hashes.length === 0) return false;
  const since = new Date(now() - replacedMs).toISOString();
  const row = await database.db
    .selectFrom('sessions')
    .select('id')
    .where('token', 'in', hashes)
    .where('expiresAt', '>', since)
    .whereRef('expiresAt', '=', 'updatedAt')
    .executeTakeFirst();
  return row !== undefined;
}

async function endOldest(tx: AccountsTransaction, userId: string, at: string): Promise<void> {
  const own = tx.selectFrom('sessions').select('id').where('userId', '=', userId).where('expiresAt', '>', at);
  const kept = own.orderBy('updatedAt', 'desc').orderBy('createdAt', 'desc').limit(mostSessions);
  const open = tx.deleteFrom('sessions').where('userId', '=', userId).where('expiresAt', '>', at);
  await open.where('id', 'not in', kept).execute();
}

/** See {@link Accounts.session}. */
export async function readSession(
  deps: Dependencies,
  header: string | null,
  extend: Parameters<Accounts['session']>[1] = () => true,
): ReturnType<Accounts['session']> {
  const { database, hmacs, grantFor, now } = deps;
  const tokens = readCookies(header, sessionCookie);
  for (const token of tokens.filter(isToken)) {
    const row = await find(database.db, hmacs.token('session', token), now());
    if (!row) continue;
    const { updatedAt, registeredAt, ...rest } = row;
    const emailVerified = row.emailVerified === 1;
    const grant = await grantFor(row.userId, trialStart(registeredAt, emailVerified));
    const slides = now() - Date.parse(updatedAt) > sessionLife.slideAfter * 1000 && extend(grant.level);
    const hasHint = !slides && readCookies(header, visitorCookie).includes(grant.visitor);
    const cookies = [
      ...(slides ? sessionCookies(deps, token, row.trackingId) : []),
      ...(hasHint ? [] : [hintCookie(deps, grant)]),
      ...(accessIsDue(deps, header, grant) ? [accessCookie(deps, grant)] : []),
    ];
    // Another sign-in of this browser, or a sign-out, may have ended it meanwhile: the answer must not replace that one's cookies.
    const isOpen = slides
      ? await slide(database.db, row.id, now())
      : cookies.length === 0 || (await userOf(database.db, row)) !== undefined;
    return isOpen ? { session: { ...rest, emailVerified }, cookies } : { session: null, cookies: [] };
  }
  if (await wasReplaced(deps, hashesOf(deps, header))) return { session: null, cookies: [] };
  // If the cookies of an ended session stayed, pages would look signed in while the server refuses every call.
  const stale = tokens.length > 0 || readCookies(header, visitorCookie).length > 0;
  return { session: null, cookies: stale ? clearedCookies(deps) : [] };
}

/** See {@link Accounts.accessCookies}. */
export async function accessCookies(deps: Dependencies, session: Session): Promise<readonly string[]> {
  const user = await userOf(deps.database.db, session);
  if (!user) return [];
  const grant = await deps.grantFor(session.userId, trialStart(user.createdAt, user.emailVerified === 1));
  return [hintCookie(deps, grant), accessCookie(deps, grant)];
}

/** The user of a session, unless it was ended or replaced. */
const userOf = (db: Queries, { id }: Pick<Session, 'id'>) =>
  db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.userId')
    .select(['users.createdAt as createdAt', 'users.emailVerified as emailVerified'])
    .where('sessions.id', '=', id)
    .whereRef('sessions.expiresAt', '>', 'sessions.updatedAt')
    .executeTakeFirst();

/** Whether the browser is signed in as this user. */
export async function isSignedInAs(
  deps: Dependencies,
  tx: AccountsTransaction,
  header: string | null | undefined,
  userId: string,
): Promise<boolean> {
  for (const hash of hashesOf(deps, header)) if ((await find(tx, hash, deps.now()))?.userId === userId) return true;
  return false;
}

/** @param current id of the session that asks */
export async function listSessions(
  { database, now }: Pick<Dependencies, 'database' | 'now'>,
  userId: string,
  current: string | null,
): Promise<readonly SessionSummary[]> {
  const rows = await database.db
    .selectFrom('sessions')
    .select(['id', 'createdAt', 'updatedAt', 'userAgent'])
    .where('userId', '=', userId)
    .where('expiresAt', '>', new Date(now()).toISOString())
    .orderBy('updatedAt', 'desc')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    current: row.id === current,
    createdAt: Date.parse(row.createdAt),
    lastSeenAt: Date.parse(row.updatedAt),
    device: row.userAgent || deviceOf(null),
  }));
}

/** See {@link Accounts.logout}. */
export async function logout(
  deps: Dependencies,
  { id, userId }: Session,
  where: 'EVERYWHERE' | 'OTHER_DEVICES' | 'THIS_DEVICE',
): Promise<readonly string[]> {
  await deps.database.transaction(async (tx) => {
    let ended = tx.deleteFrom('sessions').where('userId', '=', userId);
    if (where === 'THIS_DEVICE') ended = ended.where('id', '=', id);
    // The rows of sessions that this browser has replaced stay.
    if (where === 'OTHER_DEVICES') ended = ended.where('id', '<>', id).whereRef('expiresAt', '>', 'updatedAt');
    await ended.execute();
    await recordAudit(deps, tx, { event: 'signed out', userId, detail: where });
  });
  return where === 'OTHER_DEVICES' ? [] : clearedCookies(deps);
}

type CookieState = Pick<Dependencies, 'access' | 'secure' | 'now'>;

const cookie = (secure: boolean, name: string, value: string, maxAge: number, httpOnly = true): string =>
  setCookie(name, value, { maxAge, httpOnly, secure });

/** `Set-Cookie` values that remove all cookies of a signed-in browser. */
export const clearedCookies = ({ access, secure }: CookieState): readonly string[] => [
  cookie(secure, sessionCookie, '', 0),
  cookie(secure, trackingCookie, '', 0),
  cookie(secure, visitorCookie, '', 0, false),
  cookie(secure, access.name, '', 0),
];

const sessionCookies = ({ secure }: CookieState, token: string, trackingId: string): readonly string[] => [
  cookie(secure, sessionCookie, token, sessionLife.session),
  cookie(secure, trackingCookie, trackingId, sessionLife.tracking),
];

/** Read by a script before the first paint; it names the kind of visitor and not the user. */
const hintCookie = ({ secure }: CookieState, { visitor }: Grant): string =>
  cookie(secure, visitorCookie, visitor, sessionLife.session, false);

/** Unix second at which a new access cookie expires: never later than what the user paid for. */
const accessEnd = ({ now }: CookieState, { until }: Grant): number =>
  Math.floor(Math.min(now() / 1000 + sessionLife.access, until / 1000));

function accessCookie(state: CookieState, grant: Grant): string {
  const { access, secure, now } = state;
  const expires = accessEnd(state, grant);
  return cookie(secure, access.name, access.sign(grant.level, expires), expires - Math.floor(now() / 1000));
}

/** Whether the browser needs a new access cookie: it has none of this level, or one that ends soon and could last longer. */
function accessIsDue(state: CookieState, header: string | null, grant: Grant): boolean {
  const { access, now } = state;
  const ends = readCookies(header, access.name)
    .filter((value) => access.verify(value) === grant.level)
    .map((value) => Number(value.split('.')[2]));
  return Math.max(0, ...ends) < Math.min(now() / 1000 + sessionLife.renewAccess, accessEnd(state, grant));
}

/** The session with this token, and its user; unless it has expired. */
const find = (db: Queries, hash: string, now: number) =>
  db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.userId')
    .select([
      'sessions.id as id',
      'sessions.userId as userId',
      'sessions.updatedAt as updatedAt',
      'users.email as email',
      'users.emailVerified as emailVerified',
      'users.trackingId as trackingId',
      'users.createdAt as registeredAt',
    ])
    .where('sessions.token', '=', hash)
    .where('sessions.expiresAt', '>', new Date(now).toISOString())
    // A replaced session is over on a node whose clock is behind, too.
    .whereRef('sessions.expiresAt', '>', 'sessions.updatedAt')
    .executeTakeFirst();

/** Extends a session in use to its full lifetime. @returns `false` when it has been ended or replaced meanwhile */
async function slide(db: Queries, id: string, now: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('sessions')
    .set({
      updatedAt: new Date(now).toISOString(),
      expiresAt: new Date(now + sessionLife.session * 1000).toISOString(),
    })
    .where('id', '=', id)
    .whereRef('expiresAt', '>', 'updatedAt')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
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

/** Name of a device in the list of sessions, for instance `Chrome on Windows`. Text from the browser is never stored or shown unchanged. */
function deviceOf(userAgent: string | null): string {
  const find = (list: typeof browsers): string | undefined => list.find(([form]) => form.test(userAgent ?? ''))?.[1];
  const [browser, system] = [find(browsers), find(systems)];
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? system ?? 'Unknown device';
}
