import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { seedStore } from '../../../tests/fixtures/content.ts';
import { silent } from '../../lib/logging.ts';
import { removeFiles } from '../../lib/sqlite-files.server.ts';
import { openContentStore } from './content-store.server.ts';
import { createReader } from './reader.server.ts';

vi.mock('../../lib/sqlite-files.server.ts', async (original) => {
  const files = await original<typeof import('../../lib/sqlite-files.server.ts')>();
  return { ...files, removeFiles: vi.fn(files.removeFiles) };
});

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'content-mirror-'));
  file = join(folder, 'deeper', 'mirror.sqlite');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const origin = 'https://cms.example';
const open = (from: string | null = origin) => openContentStore({ file, origin: from, log: silent });
function seed(): void {
  const store = open();
  seedStore(store, 4);
  store.close();
}
function articles(from: string | null = origin): number {
  const store = open(from);
  const { total } = createReader(store).articles({});
  store.close();
  return total;
}

describe('openContentStore', () => {
  it('keeps its content between openings', () => {
    seed();
    expect(articles()).toBe(40);
    expect(articles(null)).toBe(40);
  });

  it('starts over for another WordPress or another schema version', () => {
    seed();
    expect(articles('https://other.example')).toBe(0);
    seed();
    const db = new DatabaseSync(file);
    db.exec("UPDATE meta SET value = '0' WHERE key = 'schema'");
    db.close();
    expect(articles()).toBe(0);
  });

  it('names the cause if an outdated file can’t be deleted', () => {
    seed();
    vi.mocked(removeFiles).mockImplementationOnce(() => {
      throw new Error('EACCES');
    });
    let problem: unknown;
    try {
      open('https://other.example');
    } catch (error) {
      problem = error;
    }
    expect(problem).toMatchObject({ cause: { message: 'EACCES' } });
  });

  it('starts over with a file whose process was killed before or after it created the tables', () => {
    seed();
    rmSync(file);
    writeFileSync(file, '');
    expect(articles()).toBe(0);
    seed();
    const db = new DatabaseSync(file);
    // It is written last, so without it the file is unfinished.
    db.exec("DELETE FROM meta WHERE key = 'schema'");
    db.close();
    expect(articles()).toBe(0);
    expect(existsSync(`${file}.damaged`)).toBe(false);
    seed();
    expect(articles()).toBe(40);
  });

  it('sets a damaged file aside and starts over', () => {
    seed();
    writeFileSync(file, 'this is no database, and long enough to be looked at as one '.repeat(100));
    const errors: string[] = [];
    const store = openContentStore({
      file,
      origin,
      log: { ...silent, error: (_context, message) => errors.push(message) },
    });
    expect(createReader(store).articles({}).total).toBe(0);
    store.close();
    expect(errors).toHaveLength(1);
    expect(readFileSync(`${file}.damaged`, 'utf8')).toContain('no database');
  });

  it('detects a truncated or overwritten file, and starts over', () => {
    seed();
    truncateSync(file, 40_960);
    expect(articles()).toBe(0);
    expect(existsSync(`${file}.damaged`)).toBe(true);
    seed();
    const bytes = readFileSync(file);
    bytes.fill(0x5a, 8192, 60_000);
    writeFileSync(file, bytes);
    expect(articles()).toBe(0);
  });

  it('rolls a failed transaction back as a whole', () => {
    const store = open();
    expect(() =>
      store.transaction(() => {
        seedStore(store, 1);
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(createReader(store).articles({}).total).toBe(0);
    expect(createReader(store).sections()[0]?.id).toBe(0);
    store.close();
  });

  it('can be rebuilt while it is open', () => {
    const store = open();
    seedStore(store, 1);
    store.rebuild('test');
    expect(createReader(store).articles({}).total).toBe(0);
    seedStore(store, 1);
    expect(createReader(store).articles({}).total).toBe(10);
    store.close();
  });
});
