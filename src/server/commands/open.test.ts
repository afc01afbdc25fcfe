import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { silent } from '../../lib/logging.ts';
import { compose } from '../compose.ts';
import { parseConfig } from '../config/config.ts';
import { openDatabase } from '../database/open.ts';
import { migrations } from '../migrations/all.ts';
import { listHeld } from './mail.ts';
import { openForCommand } from './open.ts';
import { openPressCommand } from './prerender.ts';

let dir: string;
let env: Record<string, string>;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'command-'));
  env = { DATA_DIR: dir, LOG_LEVEL: 'error', SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'The Sun <news@example.com>' };
});
afterEach(() => rmSync(dir, { recursive: true }));

/** Creates the data, as a site that starts, and changes a file as if another version had written it. */
async function ofAnotherVersion(name: string, sql: string): Promise<void> {
  await (await compose(parseConfig(env), silent)).stop();
  const db = new DatabaseSync(join(dir, name));
  db.exec(sql);
  db.close();
}

/** A value that the content store has about itself. */
function contentMeta(key: string): unknown {
  const db = new DatabaseSync(join(dir, 'content.sqlite'), { readOnly: true });
  const row = db.prepare('select value from meta where key = ?').get(key);
  db.close();
  return row?.value;
}

it('npm run press leaves a content store of another version in place, and a start replaces it', async () => {
  await ofAnotherVersion('content.sqlite', "update meta set value = '0' where key = 'schema'");
  await expect(openPressCommand(env, { concurrency: 1 })).rejects.toThrow(
    'The content store is of another version of the site. Start this version of the site first, then run the command again.',
  );
  expect(contentMeta('schema')).toBe('0');
  await (await compose(parseConfig(env), silent)).stop();
  expect(contentMeta('schema')).not.toBe('0');
});

it('a command leaves the content of another WordPress in place', async () => {
  await ofAnotherVersion('content.sqlite', "insert into meta values ('origin', 'https://old.example.com')");
  const other = { ...env, WORDPRESS_URL: 'https://new.example.com' };
  await expect(openForCommand(other)).rejects.toThrow('from another WordPress (https://old.example.com)');
  expect(contentMeta('origin')).toBe('https://old.example.com');
});

it('npm run support migrates no accounts database of an earlier version', async () => {
  const last = String(migrations.at(-1)?.name);
  await ofAnotherVersion('accounts.sqlite', `delete from migrations where name = '${last}'`);
  await expect(listHeld(env)).rejects.toThrow('The accounts database is of an earlier version of the site.');
  const db = new DatabaseSync(join(dir, 'accounts.sqlite'));
  expect(db.prepare('select name from migrations where name = ?').get(last)).toBeUndefined();
  db.close();
});

it('a command creates what is missing', async () => {
  await (await openForCommand(env)).app.stop();
  expect(contentMeta('schema')).toBeDefined();
});

onBothEngines('an accounts database that is not to be upgraded', (engines) => {
  it('is migrated when it is empty, and refused when a migration is due', async () => {
    const place = { ...(await engines.place()), log: silent, upgrades: false };
    const early = await openDatabase({ ...place, migrations: migrations.slice(0, -1) });
    await early.close();
    await expect(openDatabase(place)).rejects.toThrow('Start this version of the site first');
    const late = await openDatabase({ ...place, upgrades: true });
    await late.close();
    await (await openDatabase(place)).close();
  });
});
