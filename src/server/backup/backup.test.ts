/** Backups of SQLite: consistent during writes, complete or absent, and restored unchanged. */

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { prepare } from '../../../tests/world/databases.ts';
import { fillAccounts } from '../../../tests/world/filled-accounts.ts';
import { sharedSqliteFile } from '../../../tests/world/shared-databases.ts';
import { silent } from '../../lib/logging.ts';
import { openDatabase } from '../database/open.ts';
import { type BackupOptions, keepBackingUp, type MadeBackup, makeBackup } from './backup.ts';
import { expiredBackups, listBackups } from './backup-folder.ts';
import { checkBackup, findBackup, restore } from './restore.ts';

const fixture = join(import.meta.dirname, '../../../tests/fixtures/backing-up.ts');
const hour = 3_600_000;

describe('outdated backups', () => {
  it('are all except those of the last hour, one per hour of the last day, and one per day for 30 days', () => {
    const now = Date.parse('2026-03-10T12:30:00Z');
    const times: number[] = [];
    for (let age = 0; age < 40 * 24 * hour; age += 10 * 60_000) times.push(now - age);
    const old = new Set(expiredBackups(times, now, 30));
    const kept = times.filter((time) => !old.has(time)).map((time) => (now - time) / hour);
    expect(kept.filter((age) => age < 1)).toHaveLength(6);
    expect(kept.filter((age) => age >= 1 && age < 24).length).toBeGreaterThanOrEqual(23);
    expect(kept.filter((age) => age >= 1 && age < 24).length).toBeLessThanOrEqual(24);
    expect(kept.filter((age) => age >= 24).length).toBeGreaterThanOrEqual(29);
    expect(kept.filter((age) => age >= 24).length).toBeLessThanOrEqual(30);
    expect(Math.max(...kept)).toBeLessThan(30 * 24);
    // The backups that are kept now are still enough after the next run.
    expect(
      expiredBackups(
        times.filter((time) => !old.has(time)),
        now,
        30,
      ),
    ).toEqual([]);
  });

  it('never include the newest', () => {
    expect(expiredBackups([1], 1e12, 30)).toEqual([]);
    expect(expiredBackups([2, 1], 1e12, 30)).toEqual([1]);
  });

  it.each([
    { days: 30, kept: 6 },
    { days: 3, kept: 2 },
  ])(
    'are not the newest of the last days with backups when the clock is years ahead ($days days)',
    ({ days, kept }) => {
      const times: number[] = [];
      for (let age = 0; age < 30 * 24 * hour; age += 12 * hour) times.push(Date.parse('2026-03-10T20:00:00Z') - age);
      const wrong = Date.parse('2036-01-01T00:00:00Z');
      const newestOfEachDay = times.filter((_, at) => at % 2 === 0);
      const old = new Set(expiredBackups([wrong, ...times], wrong, days));
      expect(times.filter((time) => !old.has(time))).toEqual(newestOfEachDay.slice(0, kept));
    },
  );
});

describe('a backup of SQLite', () => {
  const engines = prepare('sqlite');

  async function site(rows = 40) {
    const { dataDir } = await engines.place();
    copyFileSync(await sharedSqliteFile(), join(dataDir, 'accounts.sqlite'));
    fillAccounts(join(dataDir, 'accounts.sqlite'), rows);
    writeFileSync(join(dataDir, 'accounts-secret'), 'the secret of the accounts, long enough\n');
    const { dataDir: backupDir } = await engines.place();
    const base = { dataDir, databaseUrl: null, path: '' };
    const options: BackupOptions = { ...base, backupDir, days: 30, now: Date.now };
    return { dataDir, backupDir, options, restoring: { ...base, now: Date.now() } };
  }

  const names = (dataDir: string): string[] => {
    const database = new DatabaseSync(join(dataDir, 'accounts.sqlite'), { readOnly: true });
    const rows = database.prepare('select name from users order by id').all();
    database.close();
    return rows.map(({ name }) => String(name));
  };

  const rename = (dataDir: string, name: string): void => {
    const database = new DatabaseSync(join(dataDir, 'accounts.sqlite'));
    database.prepare('update users set name = ?').run(name);
    database.close();
  };

  it('is consistent while the site keeps writing', async () => {
    const { dataDir, backupDir, options, restoring } = await site(400);
    const database = await openDatabase({ dataDir, databaseUrl: null, log: silent, durable: false });
    // Each write falls between two steps of the copy, however fast the copy is.
    const writer = new DatabaseSync(join(dataDir, 'accounts.sqlite'));
    const addUser = writer.prepare(
      `insert into users (id, name, email, "emailVerified", "trackingId", "createdAt", "updatedAt") values (?1, ?1, ?1, 0, ?1, '', '')`,
    );
    const addProfile = writer.prepare(`insert into profiles (user_id, data, updated) values (?, '{}', 1)`);
    let [seen, written] = [0, 0];
    const onProgress = (): void => {
      seen++;
      if (written === 30) return;
      const id = `during ${written++}`;
      writer.exec('begin');
      for (const statement of [addUser, addProfile]) statement.run(id);
      writer.exec('commit');
    };
    const made = await makeBackup({ ...options, pagesAtOnce: 5, onProgress });
    writer.close();
    await database.close();
    expect(seen).toBeGreaterThan(written);
    expect(written).toBe(30);
    const { users, profiles } = made.manifest.tables;
    expect([users, profiles]).toEqual([400, 400]);
    expect(readdirSync(made.path).sort()).toEqual(['accounts-secret', 'accounts.sqlite', 'manifest.json']);
    for (const name of readdirSync(made.path)) expect(statSync(join(made.path, name)).mode & 0o777, name).toBe(0o600);
    expect(statSync(made.path).mode & 0o777).toBe(0o700);

    expect((await checkBackup(made.path, restoring)).tables).toEqual(made.manifest.tables);
    const { aside } = await restore(findBackup('latest', backupDir, Date.now()), restoring);
    expect(names(dataDir)).toHaveLength(400);
    expect(names(String(aside))).toHaveLength(400 + written);
    const reopened = await openDatabase({ dataDir, databaseUrl: null, log: silent });
    await reopened.close();
  });

  it('that finds no room has deleted the outdated ones, so that the next one may find some', async () => {
    const { backupDir, options } = await site();
    const good = await makeBackup(options);
    const [outdated, newestOfItsDay] = ['accounts-20200101T000000.000Z', 'accounts-20200101T010000.000Z'] as const;
    for (const name of [outdated, newestOfItsDay]) mkdirSync(join(backupDir, name));
    const onProgress = (): void => {
      throw new Error('ENOSPC: no space left on device');
    };
    await expect(makeBackup({ ...options, pagesAtOnce: 5, onProgress })).rejects.toThrow('ENOSPC');
    expect(listBackups(backupDir).map(({ name }) => name)).toEqual([good.name, newestOfItsDay]);
    const next = await makeBackup(options);
    expect(listBackups(backupDir).map(({ name }) => name)).toEqual([next.name, good.name, newestOfItsDay]);
  });

  it('that is killed leaves the last good backup intact', async () => {
    const { dataDir, backupDir, options, restoring } = await site();
    const good = await makeBackup(options);
    rename(dataDir, 'Later');
    for (const step of ['first', 'last']) {
      const child = spawn(process.execPath, [fixture, dataDir, backupDir, step], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(child.stdout, 'data');
      child.kill('SIGKILL');
      expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
      expect(readdirSync(backupDir).filter((name) => name.startsWith('.unfinished'))).toHaveLength(1);
      expect(listBackups(backupDir).map(({ path }) => path)).toEqual([good.path]);
      expect(await checkBackup(findBackup('latest', backupDir, Date.now()), restoring)).toEqual(good.manifest);
    }
    const next = await makeBackup(options);
    expect(readdirSync(backupDir).filter((name) => name.startsWith('.unfinished'))).toEqual([]);
    expect(listBackups(backupDir).map(({ path }) => path)).toEqual([next.path, good.path]);
  }, 240_000);

  it('made with a clock that was ahead is not taken for the latest', async () => {
    const { backupDir, options } = await site();
    const ahead = await makeBackup({ ...options, now: () => Date.now() + 24 * hour });
    const good = await makeBackup(options);
    expect(() => findBackup('latest', backupDir, Date.now())).toThrow(`${ahead.name} is newer than`);
    expect(findBackup(good.name, backupDir, Date.now())).toBe(good.path);
  });

  it('is refused when damaged; the error names the file, and nothing changes', async () => {
    const { dataDir, options, restoring } = await site();
    const damage: Record<string, (path: string) => void> = {
      'accounts.sqlite': (path) => appendFileSync(path, 'x'),
      'accounts-secret': (path) => writeFileSync(path, readFileSync(path, 'utf8').toUpperCase()),
      'manifest.json': (path) => writeFileSync(path, readFileSync(path, 'utf8').slice(0, -9)),
    };
    const before = readdirSync(dataDir);
    for (const [name, spoil] of Object.entries(damage)) {
      const { path } = await makeBackup(options);
      spoil(join(path, name));
      await expect(restore(path, restoring), name).rejects.toThrow(join(path, name));
      rmSync(join(path, name));
      await expect(checkBackup(path, restoring), name).rejects.toThrow(`${join(path, name)} is missing`);
    }
    expect(readdirSync(dataDir)).toEqual(before);
  });

  it('reports what cannot be read or written as an access problem, not as damage', async () => {
    const { dataDir, backupDir, options, restoring } = await site();
    // A link to itself exists and can't be read, not even by root.
    const loop = (path: string): void => {
      rmSync(path);
      symlinkSync(path, path);
    };
    const { path } = await makeBackup(options);
    loop(join(path, 'manifest.json'));
    await expect(checkBackup(path, restoring)).rejects.toThrow(
      `${join(path, 'manifest.json')} can't be read (ELOOP). Run the command as the user`,
    );
    loop(join(dataDir, 'accounts.sqlite'));
    await expect(makeBackup(options)).rejects.toThrow(`${join(dataDir, 'accounts.sqlite')} can't be read (ELOOP)`);
    const inFile = join(backupDir, '.lock', 'backups');
    await expect(makeBackup(Object.assign({}, options, { backupDir: inFile }))).rejects.toThrow(
      `BACKUP_DIR is ${inFile}, which can't be made or written (ENOTDIR). Set it to a folder that this user can write.`,
    );
  });

  it.skipIf(process.geteuid?.() !== 0)('made and restored by root belongs to the owner of the folder', async () => {
    const { dataDir, backupDir, options, restoring } = await site();
    for (const folder of [dataDir, backupDir]) chownSync(folder, 1234, 1234);
    const { path } = await makeBackup(options);
    const { aside } = await restore(path, restoring);
    const restored = ['accounts.sqlite', 'accounts-secret'].map((name) => join(dataDir, name));
    const made = [path, ...readdirSync(path).map((name) => join(path, name)), join(backupDir, '.lock')];
    for (const each of [...made, ...restored, String(aside)]) expect(statSync(each).uid, each).toBe(1234);
  });

  it('is not restored while a process has the accounts or the content open', async () => {
    const { dataDir, options, restoring } = await site();
    const { path } = await makeBackup(options);
    rename(dataDir, 'Later');
    for (const name of ['accounts.sqlite', 'content.sqlite']) {
      const open = new DatabaseSync(join(dataDir, name));
      open.exec('pragma journal_mode = wal; create table if not exists a (b)');
      await expect(restore(path, restoring), name).rejects.toThrow(/is in use\. Stop the site/);
      open.close();
    }
    expect(new Set(names(dataDir))).toEqual(new Set(['Later']));
    expect(readdirSync(dataDir).filter((name) => name.includes('restor'))).toEqual([]);
  });

  it('is refused when its manifest has another row count or names a file outside the backup', async () => {
    const { dataDir, options, restoring } = await site();
    const before = readdirSync(dataDir);
    const changed = async (change: (manifest: MadeBackup['manifest']) => object): Promise<string> => {
      const { path, manifest } = await makeBackup(options);
      writeFileSync(join(path, 'manifest.json'), JSON.stringify({ ...manifest, ...change(manifest) }));
      return path;
    };
    const other = await changed(({ tables }) => ({ tables: { ...tables, users: (tables.users ?? 0) + 1 } }));
    await expect(restore(other, restoring)).rejects.toThrow(/users has \d+ rows instead of/);
    writeFileSync(join(options.backupDir, 'outside'), 'x');
    const [bytes, sha256] = [1, createHash('sha256').update('x').digest('hex')];
    const outside = await changed(({ files }) => ({ files: [...files, { name: '../outside', bytes, sha256 }] }));
    await expect(restore(outside, restoring)).rejects.toThrow('manifest.json names ../outside');
    expect(readdirSync(dataDir)).toEqual(before);
  });

  it('can be restored over damaged accounts', async () => {
    const { dataDir, options, restoring } = await site();
    const { path } = await makeBackup(options);
    const before = names(dataDir);
    for (const name of ['accounts.sqlite', 'accounts.sqlite-wal'])
      writeFileSync(join(dataDir, name), 'no database '.repeat(999));
    const { aside } = await restore(path, restoring);
    expect(names(dataDir)).toEqual(before);
    expect(readdirSync(String(aside))).toEqual(expect.arrayContaining(['accounts-secret', 'accounts.sqlite']));
    expect(existsSync(join(dataDir, 'accounts.sqlite-wal'))).toBe(false);
  });

  it('is refused when it is for another engine or from a newer version', async () => {
    const { dataDir, options, restoring } = await site();
    const { path } = await makeBackup(options);
    const other = { ...restoring, databaseUrl: 'postgres://127.0.0.1:9/none' };
    await expect(restore(path, other)).rejects.toThrow('The backup is of SQLite');
    const database = new DatabaseSync(join(dataDir, 'accounts.sqlite'));
    database.exec(`insert into migrations (name, at) values ('9999-later', 1)`);
    database.close();
    const { path: newer } = await makeBackup(options);
    await expect(restore(newer, restoring)).rejects.toThrow('9999-later');
  });

  /** Backs up every 50 ms until it is stopped. */
  function backingUp(options: Parameters<typeof keepBackingUp>[0]) {
    const made: MadeBackup[] = [];
    const failed: string[] = [];
    const stopping = new AbortController();
    const running = keepBackingUp(options, {
      seconds: 0.05,
      signal: stopping.signal,
      onMade: (backup) => void made.push(backup),
      onFailed: ({ message }) => void failed.push(message),
    });
    const stop = (): Promise<void> => {
      stopping.abort();
      return running;
    };
    return { made, failed, stop };
  }

  it('is made at each interval in which the accounts changed', async () => {
    const { dataDir, options } = await site();
    const { made, failed, stop } = backingUp(options);
    await expect.poll(() => made.length).toBe(1);
    await wait(500);
    expect(made).toHaveLength(1);
    rename(dataDir, 'Later');
    await expect.poll(() => made.length).toBe(2);
    await stop();
    expect(failed).toEqual([]);
    expect(listBackups(options.backupDir)).toHaveLength(2);
  });

  it('is made even when a change is only in the write-ahead log', async () => {
    const { dataDir, options } = await site();
    const running = new DatabaseSync(join(dataDir, 'accounts.sqlite'));
    running.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0');
    const { made, stop } = backingUp(options);
    await expect.poll(() => made.length).toBe(1);
    const before = statSync(join(dataDir, 'accounts.sqlite')).mtimeMs;
    running.prepare('update users set name = ?').run('Later');
    expect(statSync(join(dataDir, 'accounts.sqlite')).mtimeMs).toBe(before);
    await expect.poll(() => made.length).toBe(2);
    await stop();
    running.close();
    expect(new Set(names(made[1]?.path ?? ''))).toEqual(new Set(['Later']));
  });

  it('that fails is reported and retried at the next interval', async () => {
    const { dataDir, options } = await site();
    renameSync(join(dataDir, 'accounts.sqlite'), join(dataDir, 'elsewhere'));
    const { made, failed, stop } = backingUp(options);
    await expect.poll(() => failed.length).toBeGreaterThan(1);
    expect(failed[0]).toContain('to back up: see DATA_DIR and DATABASE_URL');
    renameSync(join(dataDir, 'elsewhere'), join(dataDir, 'accounts.sqlite'));
    await expect.poll(() => made.length).toBe(1);
    await stop();
  });

  it('includes the site’s keys, and deletes outdated backups', async () => {
    const { dataDir, options } = await site();
    writeFileSync(join(dataDir, 'access-key'), 'the key of the access cookies\n');
    const day = 24 * hour;
    const start = Date.now() - 40 * day;
    const at = (time: number) => makeBackup({ ...options, days: 2, now: () => time });
    const old = await at(start);
    expect(readFileSync(join(old.path, 'access-key'), 'utf8')).toContain('access cookies');
    const kept = await at(start + 20 * day);
    const { deleted, path } = await at(start + 31 * day);
    expect(deleted).toBe(1);
    expect(listBackups(options.backupDir).map((backup) => backup.path)).toEqual([path, kept.path]);
  });
});
