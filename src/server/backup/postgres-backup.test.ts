/** Backups of PostgreSQL with its own programs; the round trip needs a server and programs of one version on this machine. */
import { chmodSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepare } from '../../../tests/world/databases.ts';
import { fillAccounts } from '../../../tests/world/filled-accounts.ts';
import { type Cluster, startPostgres } from '../../../tests/world/postgres.ts';
import { silent } from '../../lib/logging.ts';
import { openDatabase } from '../database/open.ts';
import { changeMark, makeBackup } from './backup.ts';
import { moveToPostgres } from './move.ts';
import { withPostgres } from './postgres-connection.ts';
import { findTools } from './postgres-tools.ts';
import { checkBackup, restore } from './restore.ts';

/** A PostgreSQL server installed on the system with its programs, such as Debian's; the tests' npm package has no pg_dump. */
const installed = globSync('/usr/lib/postgresql/*/bin/{pg_dump,initdb}').map(dirname);
const bin = installed.find((folder, at) => installed.indexOf(folder) !== at);

describe('pg_dump and pg_restore', () => {
  const engines = prepare('sqlite');

  async function fake(version: string): Promise<string> {
    const { dataDir } = await engines.place();
    for (const name of ['pg_dump', 'pg_restore']) {
      writeFileSync(join(dataDir, name), `#!/bin/sh\necho "${name} (PostgreSQL) ${version}"\n`);
      chmodSync(join(dataDir, name), 0o755);
    }
    return dataDir;
  }

  it('are reported when they are missing or of the wrong version', async () => {
    const { dataDir: empty } = await engines.place();
    await expect(findTools(16, empty)).rejects.toThrow(/pg_dump isn't on the PATH.*postgresql-client-16/);
    await expect(findTools(16, await fake('15.4 (Debian)'))).rejects.toThrow(
      'is version 15, but the server is version 16',
    );
    await expect(findTools(16, await fake('17.1'))).rejects.toThrow(/pg_restore 17 can't restore.*16/);
    await findTools(16, `${empty}:${await fake('16.2')}`);
    await findTools(17, await fake('18.0'));
  });

  it('receive the database address with an sslmode that they support, and without the password', async () => {
    const path = await fake('16.2');
    writeFileSync(
      join(path, 'pg_dump'),
      '#!/bin/sh\n[ "$1" = --version ] && echo "pg_dump (PostgreSQL) 16.2" && exit\necho "$@" >&2\nexit 1\n',
    );
    const tools = await findTools(16, path);
    const given = (query: string) =>
      tools.run('pg_dump', [], `postgres://sun:secret@db.example/sun${query}`).catch((error: Error) => error.message);
    expect(await given('')).toMatch(/--dbname postgres:\/\/sun@db\.example\/sun$/);
    expect(await given('?ssl=true')).toMatch(/\?sslmode=require$/);
    expect(await given('?sslmode=no-verify')).toMatch(/\?sslmode=require$/);
    expect(await given('?sslmode=verify-full&uselibpqcompat=true')).toMatch(/\?sslmode=verify-full$/);
  });
});

describe('a backup of PostgreSQL at each interval', () => {
  const engines = prepare('postgres');

  it('is due after a change of the accounts, and not after one of what the nodes of a cluster share', async () => {
    const { dataDir, databaseUrl } = await engines.place();
    await (await openDatabase({ dataDir, databaseUrl, log: silent })).close();
    const mark = () => changeMark({ dataDir, databaseUrl });
    // PostgreSQL counts the changes of a connection at the latest when it ends.
    const change = (statement: string) => withPostgres(String(databaseUrl), (client) => client.query(statement));
    const alert = (name: string) =>
      change(
        `insert into alert_pushes (alert, state, detail, created, tries, due) values ('${name}', '', '', 1, 1, 1)`,
      );
    await alert('first');
    const before = await mark();
    await change(`insert into cluster_nodes (id, version, seen, applied, fresh) values ('n', 1, 1, 1, 1)`);
    await change(`update cluster_nodes set seen = 2`);
    expect(await mark()).toBe(before);
    await alert('second');
    expect(await mark()).not.toBe(before);
  });
});

describe.skipIf(!bin)('a backup of PostgreSQL', () => {
  const engines = prepare('sqlite');
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startPostgres({ native: dirname(bin ?? '') });
  });
  afterAll(() => cluster.remove());

  it('is checked in a separate database, and its restore keeps the earlier tables', async () => {
    const { dataDir } = await engines.place();
    const { dataDir: backupDir } = await engines.place();
    const databaseUrl = await cluster.database();
    await (await openDatabase({ dataDir, databaseUrl: null, log: silent })).close();
    fillAccounts(join(dataDir, 'accounts.sqlite'), 20);
    await moveToPostgres({ dataDir, databaseUrl });
    // Some servers end a connection that waits, as a command's does while pg_dump or pg_restore runs. The programs take longer than the limit
    // here, and the limit is longer than a busy machine needs for the first query.
    const endWaiting = (limit: string) =>
      cluster.run(`alter database ${new URL(databaseUrl).pathname.slice(1)} set ${limit} = '1s'`);
    await endWaiting('idle_in_transaction_session_timeout');
    const { dataDir: slow } = await engines.place();
    for (const name of ['pg_dump', 'pg_restore']) {
      const script = `#!/bin/sh\n[ "$1" = --version ] || sleep 1.5\nexec ${bin}/${name} "$@"\n`;
      writeFileSync(join(slow, name), script);
      chmodSync(join(slow, name), 0o755);
    }
    const options = { dataDir, databaseUrl, path: slow };
    const made = await makeBackup({ ...options, backupDir, days: 30, now: Date.now });
    expect(readdirSync(made.path).sort()).toEqual(['accounts.dump', 'manifest.json']);
    expect(made.manifest.tables).toMatchObject({ users: 20, jobs: 20 });

    const site = await openDatabase({ dataDir: '', databaseUrl, log: silent });
    await site.db.deleteFrom('users').execute();
    const restoring = { ...options, now: Date.now() };
    expect(await checkBackup(made.path, restoring)).toEqual(made.manifest);
    await expect(restore(made.path, restoring)).rejects.toThrow('is in use');
    await site.close();

    await endWaiting('idle_session_timeout');
    const { aside } = await restore(made.path, restoring);
    await withPostgres(databaseUrl, async (client) => {
      const count = async (table: string) => (await client.query(`select count(*)::int as n from ${table}`)).rows[0].n;
      expect([await count('users'), await count('profiles'), await count(`${aside}.users`)]).toEqual([20, 20, 0]);
      const { rows } = await client.query(`select datname from pg_database where datname like 'restore_check%'`);
      expect(rows).toEqual([]);
    });
    await (await openDatabase({ dataDir: '', databaseUrl, log: silent })).close();

    // A failed restore puts the previous tables back.
    const manifest = join(made.path, 'manifest.json');
    writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('"users": 20', '"users": 21'));
    const later = { ...restoring, now: restoring.now + 5000 };
    await expect(restore(made.path, later)).rejects.toThrow('users has 20 rows instead of 21');
    await withPostgres(databaseUrl, async (client) => {
      expect((await client.query('select count(*)::int as n from users')).rows[0].n).toBe(20);
      const { rows } = await client.query(`select nspname from pg_namespace where nspname like 'before_restore%'`);
      expect(rows).toEqual([{ nspname: aside }]);
    });

    writeFileSync(join(made.path, 'accounts.dump'), 'no dump');
    await expect(restore(made.path, restoring)).rejects.toThrow(join(made.path, 'accounts.dump'));
  });
});
