import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { silent } from '../logging.ts';
import { type Checkpoints, keepCheckpointed } from './checkpoints.server.ts';

let dir: string;
let running: Checkpoints | null = null;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'checkpoints-'));
});
afterEach(async () => {
  await running?.stop();
  running = null;
  rmSync(dir, { recursive: true });
});

const often = { everyMs: 5, leastBytes: 1 };

function open(file: string): DatabaseSync {
  const db = new DatabaseSync(file);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (text TEXT)');
  return db;
}

it('checkpointing copies the SQLite WAL into the database during writes, so that the WAL is reused', async () => {
  const file = join(dir, 'a.sqlite');
  const db = open(file);
  const insert = db.prepare('INSERT INTO t VALUES (?)');
  for (let n = 0; n < 50; n++) insert.run(`first ${n}`);
  expect(readFileSync(file).includes('first 49')).toBe(false);
  running = keepCheckpointed([file], silent, often);
  await vi.waitFor(() => expect(readFileSync(file).includes('first 49')).toBe(true));
  // The database file is written shortly before the log can be reused.
  const size = () => readFileSync(`${file}-wal`).length;
  await vi.waitFor(() => {
    const before = size();
    insert.run('second');
    expect(size()).toBe(before);
  });
  await vi.waitFor(() => expect(readFileSync(file).includes('second')).toBe(true));
  db.close();
});

it('checkpointing continues after a database file is replaced, and waits for a missing one', async () => {
  const file = join(dir, 'a.sqlite');
  running = keepCheckpointed([join(dir, 'missing.sqlite'), file], silent, often);
  for (const word of ['before', 'after']) {
    for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
    const db = open(file);
    db.prepare('INSERT INTO t VALUES (?)').run(word);
    await vi.waitFor(() => expect(readFileSync(file).includes(word)).toBe(true));
    db.close();
  }
});

it('checkpointing warns once about an unreadable database and continues with the others', async () => {
  const [broken, good] = [join(dir, 'broken.sqlite'), join(dir, 'good.sqlite')];
  writeFileSync(broken, 'no database'.repeat(1000));
  writeFileSync(`${broken}-wal`, 'nor is this');
  const db = open(good);
  db.prepare('INSERT INTO t VALUES (?)').run('carried');
  const warn = vi.fn();
  running = keepCheckpointed([broken, good], { ...silent, warn }, often);
  await vi.waitFor(() => expect(readFileSync(good).includes('carried')).toBe(true));
  await vi.waitFor(() => expect(warn).toHaveBeenCalled());
  db.prepare('INSERT INTO t VALUES (?)').run('again');
  await vi.waitFor(() => expect(readFileSync(good).includes('again')).toBe(true));
  expect(warn).toHaveBeenCalledOnce();
  db.close();
});
