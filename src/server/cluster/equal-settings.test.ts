/** Nodes of one cluster with different settings, on a real PostgreSQL. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { prepare } from '../../../tests/world/databases.ts';
import type { RepeatedTask } from '../../lib/jobs/tasks.ts';
import { type Logger, silent } from '../../lib/logging.ts';
import { parseConfig } from '../config/config.ts';
import { databaseNow } from './channel.ts';
import { compareSettings, fingerprintsOf } from './equal-settings.ts';

const engines = prepare('postgres');
const hour = 3_600_000;
const tasks: RepeatedTask[] = [];
let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'equal-settings-'));
});
afterEach(async () => {
  await Promise.all(tasks.splice(0).map((task) => task.stop()));
  rmSync(dataDir, { recursive: true, force: true });
});

const key = (id: string): string => `${id}:${id.repeat(20)}`;
const same = {
  ACCESS_KEYS: key('one'),
  ACCOUNTS_SECRET: 'the same on all nodes'.repeat(2),
  NEWSROOM_SECRET: 'of the newsroom plugin',
  SITE_URL: 'https://sun.example',
};

async function cluster() {
  const { db } = await engines.open(await engines.migratedPlace());

  /** A node that answers requests. */
  async function open(name: string, changed: Readonly<Record<string, string>> = {}) {
    const said: string[] = [];
    const note = (_context: object, sentence?: string): void => void said.push(sentence ?? '');
    const log = { ...silent, warn: note, info: note } as unknown as Logger;
    await sql`insert into cluster_nodes (id, version, seen, applied, fresh)
      values (${name}, 1, ${sql.raw(databaseNow)}, 1, 1)`.execute(db);
    const fingerprints = fingerprintsOf(parseConfig({ ...same, DATA_DIR: dataDir, ...changed }));
    const task = compareSettings({ db, node: name, fingerprints, log, everyMs: hour, goneMs: hour });
    tasks.push(task);
    await task.runNow();
    return { said, again: task.runNow };
  }
  const stored = async (): Promise<string> => JSON.stringify((await sql`select * from cluster_nodes`.execute(db)).rows);
  const leave = (name: string) => sql`delete from cluster_nodes where id = ${name}`.execute(db);
  return { open, stored, leave };
}

describe('a node that starts', () => {
  it('logs nothing when all nodes have the same settings', async () => {
    const { open } = await cluster();
    const [first, second] = [await open('first'), await open('second')];
    await first.again();
    expect([first.said, second.said]).toEqual([[], []]);
  });

  it.each([
    ['ACCESS_KEYS', key('two')],
    ['ACCOUNTS_SECRET', 'another secret than the other'.repeat(2)],
    ['NEWSROOM_SECRET', 'of another newsroom plugin'],
    ['NEWSROOM_SECRET', ''],
    ['SITE_URL', 'https://moon.example'],
  ])('logs which setting differs on another node, what follows, and the remedy: %s', async (name, value) => {
    const { open } = await cluster();
    const first = await open('first');
    const second = await open('second', { [name]: value });
    await Promise.all([first.again(), second.again()]);
    for (const { said } of [first, second]) {
      expect(said).toHaveLength(1);
      expect(said[0]).toMatch(
        new RegExp(`^${name} isn't the same on all nodes of the cluster: .+\\. Set it to the same value`),
      );
    }
  });

  it('logs the names of keys that the nodes have generated themselves', async () => {
    const { open } = await cluster();
    mkdirSync(join(dataDir, 'other'));
    await open('first', { ACCESS_KEYS: '', ACCOUNTS_SECRET: '' });
    const second = await open('second', { ACCESS_KEYS: '', ACCOUNTS_SECRET: '', DATA_DIR: join(dataDir, 'other') });
    expect(second.said.map((sentence) => sentence.split(' ')[0])).toEqual(['ACCESS_KEYS', 'ACCOUNTS_SECRET']);
  });

  it('logs a difference once, and logs when it is resolved', async () => {
    const { open, leave } = await cluster();
    await open('first', { SITE_URL: 'https://moon.example' });
    const second = await open('second');
    await second.again();
    expect(second.said).toHaveLength(1);
    await leave('first');
    await second.again();
    await second.again();
    expect(second.said.slice(1)).toEqual(['All nodes of the cluster have the same settings now']);
  });
});

describe('signing keys that are changed on one node after the other', () => {
  it('cause no warning while each node verifies what the other signs', async () => {
    const { open } = await cluster();
    const first = await open('first', { ACCESS_KEYS: `${key('old')},${key('new')}` });
    const second = await open('second', { ACCESS_KEYS: `${key('new')},${key('old')}` });
    const third = await open('third', { ACCESS_KEYS: `${key('new')},${key('old')}` });
    await first.again();
    expect([first.said, second.said, third.said]).toEqual([[], [], []]);
  });

  it('cause a warning when a node signs with a key that another doesn’t have', async () => {
    const { open } = await cluster();
    const first = await open('first', { ACCESS_KEYS: key('old') });
    const second = await open('second', { ACCESS_KEYS: `${key('new')},${key('old')}` });
    await first.again();
    for (const { said } of [first, second])
      expect(said).toEqual([expect.stringMatching(/^ACCESS_KEYS .+ the new keys/)]);
  });
});

it('comparing settings stores none of their values in the database', async () => {
  const { open, stored } = await cluster();
  await open('first');
  const text = await stored();
  expect(text).toContain('NEWSROOM_SECRET');
  for (const secret of [...Object.values(same), 'one'.repeat(20)]) expect(text).not.toContain(secret);
});
