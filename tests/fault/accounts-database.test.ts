/**
 * The database goes away while readers sign in: clear errors, nothing half-done, and everything works again when it is back.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, vi } from 'vitest';
import { DatabaseUnavailable } from '../../src/lib/database.ts';
import { browser, caller, elsewhere, fixture } from '../world/accounts.ts';
import { prepare } from '../world/databases.ts';

const email = 'ada@example.com';
const send = (by = caller()) => ({ email, purpose: 'login', redirect: '/', caller: by }) as const;

describe('a restart of PostgreSQL', () => {
  const engines = prepare('postgres', { ownServer: true });

  it('leaves each sign-in either complete or undone, and sign-ins work again afterward', async () => {
    const world = await fixture(await engines.open());
    const { accounts, database } = world;
    const { cookies } = await world.join(email);
    let stopping = false;
    const signedIn: string[] = [];
    let failures = 0;
    const reader = async (number: number): Promise<void> => {
      for (let turn = 0; !stopping; turn++) {
        const mine = `reader-${number}-${turn}@example.com`;
        const by = elsewhere(number * 1000 + turn);
        try {
          const sent = await accounts.sendLink({ email: mine, purpose: 'register', redirect: '/', caller: by });
          if (!sent.ok) throw new Error(JSON.stringify(sent.failure));
          const used = await accounts.useLink(world.token(mine), by);
          if (used.ok) signedIn.push(browser(used.value.cookies));
        } catch (error) {
          expect(error).toBeInstanceOf(DatabaseUnavailable);
          failures++;
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      }
    };
    const readers = [1, 2, 3, 4].map(reader);
    await vi.waitFor(() => expect(signedIn.length).toBeGreaterThan(5));
    await engines.cluster().stop();
    await vi.waitFor(() => expect(failures).toBeGreaterThan(5));
    await expect(accounts.session(browser(cookies))).rejects.toThrow(DatabaseUnavailable);
    // A visitor without a session needs no database.
    expect(await accounts.session(null)).toEqual({ session: null, cookies: [] });
    await engines.cluster().start();
    const before = signedIn.length;
    await vi.waitFor(() => expect(signedIn.length).toBeGreaterThan(before + 5));
    stopping = true;
    await Promise.all(readers);

    for (const jar of [browser(cookies), ...signedIn]) expect((await accounts.session(jar)).session).not.toBeNull();
    const users = await database.db.selectFrom('users').select('id').execute();
    const sessions = await database.db.selectFrom('sessions').select('userId').execute();
    expect(new Set(sessions.map((row) => row.userId))).toEqual(new Set(users.map((user) => user.id)));
  });
});

describe('a lock on the SQLite file by another program', () => {
  const engines = prepare('sqlite');

  it('lets reads continue, makes writes wait or fail with an error, and both work afterward', async () => {
    const place = await engines.place();
    const world = await fixture(await engines.open({ ...place, timeoutMs: 200 }));
    const { accounts } = world;
    const { cookies } = await world.join(email);
    const other = new DatabaseSync(join(place.dataDir, 'accounts.sqlite'));
    other.exec('BEGIN IMMEDIATE');
    expect((await accounts.session(browser(cookies))).session?.email).toBe(email);
    await expect(accounts.sendLink(send())).rejects.toThrow(DatabaseUnavailable);
    const waiting = accounts.sendLink(send());
    other.exec('ROLLBACK');
    other.close();
    expect(await waiting).toEqual({ ok: true, value: null });
    expect(await accounts.useLink(world.token(email), caller())).toMatchObject({ ok: true });
  });
});
