import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { onBothEngines, prepare } from '../../../tests/world/databases.ts';
import { startSlowProxy } from '../../../tests/world/slow-proxy.ts';
import { type Database, DatabaseUnavailable } from '../../lib/database.ts';
import { silent } from '../../lib/logging.ts';
import { migrations } from '../migrations/all.ts';
import type { Migration } from './migrate.ts';
import { asUnavailable } from './postgres.ts';

const limit = (key: string, count = 0) => ({ key, since: 0, until: 1_900_000_000_000, count });
const counts = async ({ db }: Database): Promise<Record<string, number>> =>
  Object.fromEntries((await db.selectFrom('limits').selectAll().execute()).map((row) => [row.key, row.count]));
const later: Migration = { name: '9999-later', up: async () => {} };

onBothEngines('the accounts database', (engines) => {
  it('has its tables, and stores times as numbers', async () => {
    const { db } = await engines.open();
    await db.insertInto('limits').values(limit('a')).execute();
    expect(await db.selectFrom('limits').selectAll().executeTakeFirst()).toEqual(limit('a'));
    for (const table of [
      'users',
      'sessions',
      'identities',
      'proofs',
      'profiles',
      'extended_profiles',
      'audit',
    ] as const)
      expect(await db.selectFrom(table).selectAll().execute()).toEqual([]);
  });

  it('loses no update of 200 simultaneous transactions', async () => {
    const database = await engines.open();
    await database.db.insertInto('limits').values(limit('n')).execute();
    const add = () =>
      database.transaction(async (tx) => {
        await tx.updateTable('limits').set({ until: 1 }).where('key', '=', 'n').execute();
        const row = await tx.selectFrom('limits').select('count').where('key', '=', 'n').executeTakeFirstOrThrow();
        await new Promise(setImmediate);
        await tx
          .updateTable('limits')
          .set({ count: row.count + 1 })
          .where('key', '=', 'n')
          .execute();
      });
    await Promise.all(Array.from({ length: 200 }, add));
    expect(await counts(database)).toEqual({ n: 200 });
  });

  it('rolls back a transaction that throws, but not a simultaneous query outside it', async () => {
    const database = await engines.open();
    let inside: () => void = () => {};
    const begun = new Promise<void>((resolve) => {
      inside = resolve;
    });
    const failing = database.transaction(async (tx) => {
      await tx.insertInto('limits').values(limit('undone')).execute();
      inside();
      for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
      throw new Error('no');
    });
    await begun;
    // Issued while the other transaction is open: it must not become part of that transaction.
    const beside = database.db.insertInto('limits').values(limit('beside')).execute();
    await expect(failing).rejects.toThrow('no');
    await beside;
    expect(await counts(database)).toEqual({ beside: 0 });
  });

  it('enforces foreign keys', async () => {
    const { db } = await engines.open();
    await expect(
      db.insertInto('profiles').values({ user_id: 'nobody', data: '{}', updated: 0 }).execute(),
    ).rejects.toThrow(/foreign key/i);
  });

  it('keeps its rows when it is opened again, and runs no migration twice', async () => {
    const place = await engines.place();
    const first = await engines.open(place);
    await first.db.insertInto('limits').values(limit('kept')).execute();
    await first.close();
    const up = vi.fn(async () => {});
    const second = await engines.open({ ...place, migrations: [...migrations, { name: '9998-new', up }] });
    expect(up).toHaveBeenCalledTimes(1);
    expect(await counts(second)).toEqual({ kept: 0 });
    await second.close();
    await engines.open({ ...place, migrations: [...migrations, { name: '9998-new', up }] });
    expect(up).toHaveBeenCalledTimes(1);
  });

  it('stays as it was when a migration fails', async () => {
    const place = await engines.place();
    const failing: Migration = {
      name: '9998-failing',
      async up(db) {
        await sql`create table half (id text)`.execute(db);
        throw new Error('half way');
      },
    };
    await expect(engines.open({ ...place, migrations: [...migrations, failing] })).rejects.toThrow('half way');
    const { db } = await engines.open({ ...place, migrations });
    await expect(sql`select * from half`.execute(db)).rejects.toThrow(/half/);
  });

  it('is refused when it is from a newer version', async () => {
    const place = await engines.place();
    const newer = await engines.open({ ...place, migrations: [...migrations, later] });
    await newer.close();
    await expect(engines.open(place)).rejects.toThrow(/newer version of the site \(it has 9999-later\): start that/);
  });

  it('is migrated once by three processes that start together', async () => {
    const place = await engines.place();
    const module = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
    const script = join(place.dataDir, 'start.mjs');
    writeFileSync(
      script,
      `import { openDatabase } from ${module('./open.ts')};
      import { silent } from ${module('../../lib/logging.ts')};
      process.on('message', async () => {
        const ran = [];
        const log = { ...silent, info: (context) => ran.push(...(context.migrations ?? [])) };
        const database = await openDatabase({ ...${JSON.stringify(place)}, log });
        process.send({ ran });
        await database.close();
        process.disconnect();
      });
      process.send('ready');`,
    );
    const children = Array.from({ length: 3 }, () =>
      spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script], {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      }),
    );
    const messages = children.map(
      (child) =>
        new Promise<{ ran: string[] }>((resolve, reject) => {
          child.on('message', (message: 'ready' | { ran: string[] }) => {
            if (message !== 'ready') resolve(message);
          });
          child.on('exit', (code) => reject(new Error(`ended with ${code}`)));
        }),
    );
    await Promise.all(children.map((child) => new Promise((resolve) => child.once('message', resolve))));
    for (const child of children) child.send('go');
    const ran = (await Promise.all(messages)).flatMap((message) => message.ran);
    expect(ran).toEqual(migrations.map((migration) => migration.name));
  });
});

describe('SQLite', () => {
  const engines = prepare('sqlite');

  it('uses write-ahead logging and full synchronization', async () => {
    const { db } = await engines.open({ durable: true });
    expect((await sql`pragma journal_mode`.execute(db)).rows).toEqual([{ journal_mode: 'wal' }]);
    expect((await sql`pragma synchronous`.execute(db)).rows).toEqual([{ synchronous: 2 }]);
  });

  it('says what to do about a file that is not a database', async () => {
    const place = await engines.place();
    writeFileSync(
      join(place.dataDir, 'accounts.sqlite'),
      'no database at all, but a text that is long enough'.repeat(99),
    );
    await expect(engines.open(place)).rejects.toThrow(/accounts\.sqlite cannot be opened: .* restore a backup/);
  });

  it('refuses a query that would wait for its own transaction', async () => {
    const database = await engines.open();
    const wrong = database.transaction(async (tx) => {
      await tx.insertInto('limits').values(limit('a')).execute();
      await database.db.selectFrom('limits').selectAll().execute();
    });
    await expect(wrong).rejects.toThrow('must use the transaction');
    expect(await counts(database)).toEqual({});
  });

  it('waits for a lock of another process without blocking the main thread', async () => {
    const place = await engines.place();
    const database = await engines.open(place);
    const other = new DatabaseSync(join(place.dataDir, 'accounts.sqlite'));
    other.exec('BEGIN IMMEDIATE');
    let turns = 0;
    const counting = setInterval(() => turns++, 1);
    const written = database.transaction((tx) => tx.insertInto('limits').values(limit('a')).execute());
    await vi.waitFor(() => expect(turns).toBeGreaterThan(5));
    other.exec('COMMIT');
    await written;
    clearInterval(counting);
    other.close();
    expect(await counts(database)).toEqual({ a: 0 });
  });

  it('reports that its disk is full, and that it can be written again', async () => {
    const logged: string[] = [];
    const log = {
      ...silent,
      error: (_context: object, message: string) => void logged.push(message),
      info: (_context: object, message: string) => void logged.push(message),
    };
    const database = await engines.open({ ...(await engines.place()), log });
    const { db } = database;
    logged.length = 0;
    const sizeLimit = (pages: string) => sql`pragma max_page_count = ${sql.raw(pages)}`.execute(db);
    await sizeLimit('1');
    const fill = async () => {
      for (let n = 0; n < 500; n++)
        await db
          .insertInto('limits')
          .values(limit(`${n}-${'x'.repeat(500)}`))
          .execute();
    };
    await expect(fill()).rejects.toThrow(DatabaseUnavailable);
    await expect(
      database.transaction((tx) =>
        tx
          .insertInto('limits')
          .values(limit('x'.repeat(9000)))
          .execute(),
      ),
    ).rejects.toThrow(/The disk can't be written .*: check that DATA_DIR has space/);
    // Neither a read nor a transaction without writes shows that there is room.
    await database.transaction((tx) => tx.selectFrom('limits').select('key').limit(1).execute());
    expect(database.problem()).toMatch(/DATA_DIR has space/);
    expect(logged).toEqual(['The accounts database cannot be written']);
    await sizeLimit('1000000');
    await database.transaction((tx) =>
      tx
        .insertInto('limits')
        .values(limit('x'.repeat(9000)))
        .execute(),
    );
    expect(database.problem()).toBeNull();
    expect(logged).toEqual(['The accounts database cannot be written', 'The accounts database can be written again']);
  });

  it('gives up on a lock that is never released', async () => {
    const place = await engines.place();
    const database = await engines.open({ ...place, timeoutMs: 50 });
    const other = new DatabaseSync(join(place.dataDir, 'accounts.sqlite'));
    other.exec('BEGIN IMMEDIATE');
    await expect(database.db.insertInto('limits').values(limit('a')).execute()).rejects.toThrow(DatabaseUnavailable);
    // Reads continue to work.
    expect(await counts(database)).toEqual({});
    other.exec('ROLLBACK');
    other.close();
    await database.db.insertInto('limits').values(limit('a')).execute();
  });

  it('gives up on a lock for all waiting queries after the same time', async () => {
    const place = await engines.place();
    const database = await engines.open({ ...place, timeoutMs: 500 });
    const other = new DatabaseSync(join(place.dataDir, 'accounts.sqlite'));
    other.exec('BEGIN IMMEDIATE');
    const began = performance.now();
    const results = await Promise.allSettled([
      ...Array.from({ length: 10 }, (_, n) =>
        database.db
          .insertInto('limits')
          .values(limit(`${n}`))
          .execute(),
      ),
      ...Array.from({ length: 10 }, () => database.transaction((tx) => tx.selectFrom('limits').selectAll().execute())),
    ]);
    expect(performance.now() - began).toBeLessThan(5000);
    for (const result of results) expect((result as PromiseRejectedResult).reason).toBeInstanceOf(DatabaseUnavailable);
    other.exec('ROLLBACK');
    other.close();
    await database.db.insertInto('limits').values(limit('a')).execute();
    expect(await counts(database)).toEqual({ a: 0 });
  });
});

describe('PostgreSQL', () => {
  const engines = prepare('postgres', { ownServer: true });

  it('may be down at startup, and is migrated once it is up', async () => {
    const place = await engines.place();
    await engines.cluster().stop();
    const database = await engines.open(place);
    expect(database.problem()).toMatch(/PostgreSQL does not answer: see that it runs/);
    await expect(database.db.selectFrom('users').selectAll().execute()).rejects.toThrow(DatabaseUnavailable);
    await engines.cluster().start();
    await vi.waitFor(async () => expect(await counts(database)).toEqual({}), { interval: 50 });
    expect(database.problem()).toBeNull();
  });

  it('works again after a restart', async () => {
    const database = await engines.open();
    await database.db.insertInto('limits').values(limit('before')).execute();
    await engines.cluster().stop();
    await expect(counts(database)).rejects.toThrow(DatabaseUnavailable);
    expect(database.problem()).not.toBeNull();
    await engines.cluster().start();
    await vi.waitFor(async () => expect(await counts(database)).toEqual({ before: 0 }));
    expect(database.problem()).toBeNull();
  });

  it('reports that all connections are in use, and works again afterward', async () => {
    const database = await engines.open({ timeoutMs: 5000 });
    let release: () => void = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let begun = 0;
    const busy = Array.from({ length: 10 }, () =>
      database.transaction(async (tx) => {
        await sql`select 1`.execute(tx);
        begun++;
        await released;
      }),
    );
    await vi.waitFor(() => expect(begun).toBe(10));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const refused = vi.fn();
    void counts(database).catch(refused);
    // The time limit of the wait for a connection.
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(5000);
      expect(refused).toHaveBeenCalled();
    });
    expect(String(refused.mock.lastCall?.[0])).toContain('All connections to PostgreSQL are in use');
    vi.useRealTimers();
    release();
    await Promise.all(busy);
    expect(await counts(database)).toEqual({});
  });

  it('reports that it accepts no more connections, or offers no encrypted ones', async () => {
    const place = await engines.place();
    const problemWith = async (change: (url: URL) => void): Promise<string | null> => {
      const url = new URL(place.databaseUrl ?? '');
      change(url);
      return (await engines.open({ ...place, databaseUrl: url.href })).problem();
    };
    await engines.cluster().run('create role few login connection limit 0');
    const few = await problemWith((url) => {
      url.username = 'few';
    });
    expect(few).toBe(
      'PostgreSQL accepts no more connections: raise its max_connections, or lower DATABASE_POOL or the number of processes.',
    );
    expect(await problemWith((url) => url.searchParams.set('sslmode', 'verify-full'))).toMatch(
      /offers no encrypted connections: .* sslmode in DATABASE_URL/,
    );
  });

  it.each([
    ['SELF_SIGNED_CERT_IN_CHAIN', /isn't trusted \(SELF_SIGNED_CERT_IN_CHAIN\): .* sslrootcert in DATABASE_URL/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', /is for another host: DATABASE_URL/],
    ['CERT_HAS_EXPIRED', /has expired: renew it/],
    ['53100', /disk of PostgreSQL is full/],
  ])('causes an error that says what to do about %s', (code, sentence) => {
    const known = asUnavailable(Object.assign(new Error('what Node says'), { code })) as Error;
    expect(known).toBeInstanceOf(DatabaseUnavailable);
    expect(known.message).toMatch(sentence);
  });

  /** Opens a database whose server can be silenced. */
  async function openBehindProxy(queryTimeoutMs?: number) {
    const place = await engines.place();
    const url = new URL(place.databaseUrl ?? '');
    const proxy = await startSlowProxy(Number(url.port));
    onTestFinished(() => proxy.close());
    url.port = String(proxy.port);
    if (queryTimeoutMs) url.searchParams.set('query_timeout', String(queryTimeoutMs));
    const database = await engines.open({ ...place, databaseUrl: url.href });
    return { database, proxy };
  }

  it('can be closed while it does not answer, and pending queries are aborted', async () => {
    const { database, proxy } = await openBehindProxy();
    await database.db.insertInto('limits').values(limit('before')).execute();
    proxy.freeze();
    const began = performance.now();
    const waiting = database.transaction((tx) => tx.insertInto('limits').values(limit('late')).execute());
    database.abortQueriesAfter(100);
    await expect(waiting).rejects.toThrow(DatabaseUnavailable);
    await expect(counts(database)).rejects.toThrow(DatabaseUnavailable);
    await database.close();
    // An answer is waited for 20 s otherwise.
    expect(performance.now() - began).toBeLessThan(15_000);
  });

  it.each([
    { what: 'a query', work: counts },
    {
      what: 'a transaction',
      work: (database: Database) => database.transaction((tx) => tx.insertInto('limits').values(limit('a')).execute()),
    },
  ])('is reached again after $what whose connection leads to a server that is gone', async ({ work }) => {
    const { database, proxy } = await openBehindProxy(2000);
    await counts(database);
    proxy.freezePresent();
    const began = performance.now();
    await expect(work(database)).rejects.toThrow(DatabaseUnavailable);
    // The rollback doesn't wait for an answer, too.
    expect(performance.now() - began).toBeLessThan(3500);
    expect(await counts(database)).toEqual({});
  });

  it('is reached again after a query of a connection on which the server only reads', async () => {
    const database = await engines.open();
    await sql`set session characteristics as transaction read only`.execute(database.db);
    const add = () => database.db.insertInto('limits').values(limit('a')).execute();
    await expect(add()).rejects.toThrow(DatabaseUnavailable);
    await add();
    expect(await counts(database)).toEqual({ a: 0 });
  });

  it('can be closed while idle connections get no answer', async () => {
    const { database, proxy } = await openBehindProxy();
    await counts(database);
    proxy.freeze();
    const began = performance.now();
    await database.close();
    expect(performance.now() - began).toBeLessThan(15_000);
  });

  it('is reported with the name of the wrong setting, and without a password', async () => {
    const place = await engines.place();
    const said: unknown[] = [];
    const log = { ...silent, error: (context: object, message: string) => void said.push(context, message) };
    const databaseUrl = `${place.databaseUrl}_missing`.replace('postgres@', 'postgres:geheim@');
    const database = await engines.open({ ...place, databaseUrl, log });
    expect(database.problem()).toMatch(/no such database.*DATABASE_URL/);
    expect(JSON.stringify(said)).not.toContain('geheim');
  });
});
