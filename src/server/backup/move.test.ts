/** The move from SQLite to PostgreSQL: every table, every value, after any number of kills. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Kysely, sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { prepare } from '../../../tests/world/databases.ts';
import { fillAccounts } from '../../../tests/world/filled-accounts.ts';
import { sharedSqliteFile } from '../../../tests/world/shared-databases.ts';
import { silent } from '../../lib/logging.ts';
import type { Migration } from '../database/migrate.ts';
import { openDatabase } from '../database/open.ts';
import { migrations } from '../migrations/all.ts';
import { clusterTables } from '../migrations/cluster.ts';
import { moveToPostgres } from './move.ts';
import { skippedTables } from './move-source.ts';
import { progressTable } from './move-target.ts';
import { postgresTables, withPostgres } from './postgres-connection.ts';
import { createTableHash } from './row-hash.ts';

const fixture = join(import.meta.dirname, '../../../tests/fixtures/moving.ts');

/** Types that no table of the site has yet. */
const things: Migration = {
  name: '9999-things',
  async up(db: Kysely<unknown>, engine) {
    await (engine === 'postgres'
      ? sql`create table things (id bigint generated always as identity primary key, parent bigint references things, yes boolean, data jsonb, bytes bytea, half double precision)`
      : sql`create table things (id integer primary key autoincrement, parent bigint references things, yes integer, data text, bytes blob, half double precision)`
    ).execute(db);
  },
};

describe('a move to PostgreSQL', () => {
  const engines = prepare('postgres');

  async function filled(rows = 7) {
    const { dataDir, databaseUrl } = await engines.place();
    const file = join(dataDir, 'accounts.sqlite');
    copyFileSync(await sharedSqliteFile(), file);
    return { dataDir, databaseUrl: String(databaseUrl), file, tables: fillAccounts(file, rows) };
  }

  /** All rows of all tables in SQLite, as texts. */
  function rowsHere(file: string, tables: readonly string[]): Record<string, string[]> {
    const database = new DatabaseSync(file);
    const rows = tables.map((table) => [table, database.prepare(`select * from "${table}"`).all()] as const);
    database.close();
    return Object.fromEntries(rows.map(([table, all]) => [table, all.map(asText).sort()]));
  }

  const rowsThere = (url: string, tables: readonly string[]): Promise<Record<string, string[]>> =>
    withPostgres(url, async (client) => {
      const rows: Record<string, string[]> = {};
      for (const table of tables)
        rows[table] = (await client.query(`select * from "${table}"`)).rows.map(asText).sort();
      return rows;
    });

  const asText = (row: object): string => JSON.stringify(Object.values(row).map((value) => value && String(value)));

  it('copies every table that is not listed as skipped', async () => {
    const { tables: there, ...place } = await filled();
    const moved = await moveToPostgres({ ...place, batchSize: 3 });
    expect([...Object.keys(moved.tables), ...Object.keys(skippedTables)].sort()).toEqual(
      [...there, 'migrations'].sort(),
    );
    const tables = there.filter((table) => !(table in skippedTables));
    expect(moved.tables).toEqual(Object.fromEntries(tables.map((table) => [table, 7])));
    expect(await rowsThere(place.databaseUrl, tables)).toEqual(rowsHere(place.file, tables));
    await withPostgres(place.databaseUrl, async (client) => {
      expect(await postgresTables(client)).toEqual([...there, ...clusterTables, 'migrations', progressTable].sort());
    });
    // The site starts on the target, and a second move changes nothing.
    await (await openDatabase({ dataDir: '', databaseUrl: place.databaseUrl, log: silent })).close();
    expect(await moveToPostgres(place)).toEqual({ ...moved, already: true });
    const database = new DatabaseSync(place.file);
    database.exec('delete from popularity');
    database.close();
    await expect(moveToPostgres(place)).rejects.toThrow('Other accounts were moved into this database already');
  });

  it('resumes where it was killed', async () => {
    const { tables: there, ...place } = await filled(30);
    for (const batches of [4, 9, 14]) {
      // It is killed in one of the next twenty batches, wherever it is when the signal arrives.
      const child = spawn(process.execPath, [fixture, place.dataDir, place.databaseUrl, String(batches + 20)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let seen = 0;
      child.stdout.on('data', (dots: Buffer) => {
        seen += dots.length;
        if (seen >= batches) child.kill('SIGKILL');
      });
      expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
    }
    let batches = 0;
    const moved = await moveToPostgres({ ...place, batchSize: 5, onProgress: () => void batches++ });
    expect(moved.already).toBe(false);
    const tables = there.filter((table) => !(table in skippedTables));
    // Six batches of rows for each table, and one that finds nothing more.
    expect(batches).toBeLessThanOrEqual(tables.length * 7 - 27);
    expect(await rowsThere(place.databaseUrl, tables)).toEqual(rowsHere(place.file, tables));
  }, 240_000);

  it('refuses to resume if the accounts have changed, and starts over only when asked', async () => {
    const { tables: _, ...place } = await filled();
    const broken = { ...place, batchSize: 3, onProgress: breakOff };
    await expect(moveToPostgres(broken)).rejects.toThrow('broken off');
    const database = new DatabaseSync(place.file);
    database.exec(`update users set name = 'Later'`);
    database.close();
    await expect(moveToPostgres(place)).rejects.toThrow('--start-over');
    expect((await moveToPostgres({ ...place, startOver: true })).tables.users).toBe(7);
    const { users } = await rowsThere(place.databaseUrl, ['users']);
    expect(users?.every((row) => row.includes('Later'))).toBe(true);
  });

  function breakOff(table: string): void {
    if (table !== 'users') throw new Error('broken off');
  }

  it('refuses a target that already has rows', async () => {
    const { tables: _, ...place } = await filled();
    const other = await openDatabase({ dataDir: '', databaseUrl: place.databaseUrl, log: silent });
    await other.db.insertInto('popularity').values({ article_id: 1, heat: 1, half_life: 1, total: 1 }).execute();
    await other.close();
    await expect(moveToPostgres(place)).rejects.toThrow('The database of DATABASE_URL already has rows (popularity)');
  });

  it('refuses to run while a site uses the file or the target', async () => {
    const { tables: _, ...place } = await filled();
    const here = await openDatabase({ dataDir: place.dataDir, databaseUrl: null, log: silent });
    await expect(moveToPostgres(place)).rejects.toThrow(`${place.file} is in use`);
    await here.close();
    const there = await openDatabase({ dataDir: '', databaseUrl: place.databaseUrl, log: silent });
    await there.db.selectFrom('users').select('id').execute();
    await expect(moveToPostgres(place)).rejects.toThrow(
      /^The PostgreSQL database of DATABASE_URL is in use\. .* a pooler still has their connections: .*RECONNECT/,
    );
    await there.close();
  });

  it('names the table of a row that PostgreSQL refuses', async () => {
    const { tables: _, ...place } = await filled(1);
    const database = new DatabaseSync(place.file);
    database.prepare('update profiles set data = ?').run('a\0b');
    database.close();
    await expect(moveToPostgres(place)).rejects.toThrow(/PostgreSQL refuses a row of profiles: .*0x00/);
  });

  it('refuses accounts from an older version', async () => {
    const { tables: _, ...place } = await filled();
    await expect(moveToPostgres({ ...place, migrations: [...migrations, things] })).rejects.toThrow('older version');
  });

  it('keeps booleans, JSON, bytes and fractions, and sets identity columns', async () => {
    const { dataDir, databaseUrl } = await engines.place();
    const options = { dataDir, databaseUrl: String(databaseUrl), migrations: [things] };
    await (await openDatabase({ ...options, databaseUrl: null, log: silent })).close();
    const database = new DatabaseSync(join(dataDir, 'accounts.sqlite'));
    const insert = database.prepare('insert into things values (?, ?, ?, ?, ?, ?)');
    insert.run(41, null, 1, '{"b": 1, "a": [true, null, "x"]}', new Uint8Array([0, 255, 10]), 0.1);
    insert.run(9_007_199_254_740_993n, 41, 0, 'null', null, -0);
    database.close();
    expect((await moveToPostgres(options)).tables).toEqual({ things: 2 });
    await withPostgres(options.databaseUrl, async (client) => {
      const { rows } = await client.query('select id, parent, yes, data, bytes, half from things order by id');
      expect(rows[0]).toMatchObject({ id: '41', yes: true, data: { b: 1, a: [true, null, 'x'] }, half: 0.1 });
      expect([...rows[0].bytes]).toEqual([0, 255, 10]);
      expect(rows[1]).toMatchObject({ id: '9007199254740993', parent: '41', yes: false, data: null });
      const next = await client.query('insert into things (yes) values (true) returning id');
      expect(next.rows[0].id).toBe('9007199254740994');
    });
  });
});

describe('the hash of rows', () => {
  const hash = (...rows: (string | null)[][]) => {
    const made = createTableHash(['integer', 'json', 'text']);
    for (const row of rows) made.add(row);
    return made.result().hash;
  };

  it('ignores the order of rows and JSON keys, and changes with every other difference', () => {
    const [a, b] = [
      ['1', '{"x":1,"y":2}', 'a'],
      ['2', null, 'b'],
    ];
    expect(hash(a, b)).toBe(hash(b, a));
    expect(hash(a)).toBe(hash(['01', '{ "y": 2, "x": 1 }', 'a']));
    const others = [hash(a, a), hash(b, b), hash(), hash(['1', null, 'a']), hash(['1', '{"x":1,"y":2}', null])];
    expect(new Set([hash(a), hash(b), ...others]).size).toBe(7);
  });
});
