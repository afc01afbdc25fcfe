/**
 * Readers who are signed in when their test starts: their account and session are written to the running site's database, without mail
 * or a page. How readers sign in is tested in `sign-in*.spec.ts`.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { BrowserContext } from '@playwright/test';
import { sessionCookie, trackingCookie } from '../../src/lib/accounts/model.ts';
import { sessionLife } from '../../src/lib/accounts/sessions.server.ts';
import type { SessionsTable, UsersTable } from '../../src/lib/accounts/tables.ts';
import { visitorCookie } from '../../src/lib/accounts/visitor.ts';
import { createHmacs } from '../../src/lib/crypto.server.ts';
import { createAccessCookie } from '../../src/press/delivery/access-cookie.ts';
import { accessCookieName, accessKeysOf } from '../../src/server/secrets.ts';

/** An address that no test has used. */
export const newEmail = (name = 'reader'): string => `${name}.${randomUUID().slice(0, 12)}@example.com`;

/**
 * Makes a confirmed account on a site and signs the context in to it.
 *
 * @param email lower case
 * @param site its origin
 * @param dataDir its data folder
 */
export async function signInAt(context: BrowserContext, email: string, site: string, dataDir: string): Promise<void> {
  const token = randomBytes(32).toString('base64url');
  const secret = readFileSync(join(dataDir, 'accounts-secret'), 'utf8').trim();
  const at = new Date();
  const [createdAt, updatedAt] = [at.toISOString(), at.toISOString()];
  const user: UsersTable = {
    id: randomUUID(),
    name: '',
    email,
    emailVerified: 1,
    image: null,
    createdAt,
    updatedAt,
    trackingId: randomUUID(),
  };
  const session: SessionsTable = {
    id: randomUUID(),
    userId: user.id,
    token: createHmacs(secret).token('session', token),
    expiresAt: new Date(at.getTime() + sessionLife.session * 1000).toISOString(),
    createdAt,
    updatedAt,
    ipAddress: '',
    userAgent: 'Chrome on Linux',
  };
  const database = new DatabaseSync(join(dataDir, 'accounts.sqlite'), { timeout: 60_000 });
  try {
    database.exec('BEGIN IMMEDIATE');
    insert(database, 'users', user);
    insert(database, 'sessions', session);
    database.exec('COMMIT');
  } finally {
    database.close();
  }

  const now = Math.floor(at.getTime() / 1000);
  const access = createAccessCookie({ name: accessCookieName, keys: accessKeysOf({ accessKeys: null, dataDir }) });
  const cookie = (name: string, value: string, seconds: number, httpOnly = true) => ({
    name,
    value,
    url: site,
    expires: now + seconds,
    httpOnly,
    sameSite: 'Lax' as const,
  });
  await context.addCookies([
    cookie(sessionCookie, token, sessionLife.session),
    cookie(trackingCookie, user.trackingId, sessionLife.tracking),
    cookie(visitorCookie, 'registered', sessionLife.session, false),
    cookie(access.name, access.sign('registered', now + sessionLife.access), sessionLife.access),
  ]);
}

function insert(database: DatabaseSync, table: string, row: object): void {
  const columns = Object.keys(row);
  const names = columns.map((column) => `"${column}"`).join(', ');
  const values = columns.map(() => '?').join(', ');
  database.prepare(`INSERT INTO ${table} (${names}) VALUES (${values})`).run(...Object.values(row));
}
