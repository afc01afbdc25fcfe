import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { html, keepLog, press, readText } from '../testing.ts';
import { closeStores, file, folder, long, open, openFolder, put, stores } from './testing.ts';

beforeEach(openFolder);
afterEach(closeStores);

const damaged = () => readdirSync(folder.dir).filter((name) => name.includes('.damaged-'));

describe('a damaged page store', () => {
  it('loses only the damaged rows', async () => {
    const store = open();
    for (const key of ['/a', '/b', '/c']) await put(store, key, long(key), ['x']);
    const db = new DatabaseSync(file);
    db.exec(`UPDATE pages SET headers = '{"content-type":"text/plain"}' WHERE key = '/a'`);
    db.exec(
      "UPDATE bodies SET bytes = zeroblob(length(bytes)) WHERE id / 4 = (SELECT version FROM pages WHERE key = '/b')",
    );
    db.close();
    expect(store.find('/a', 'public')).toBeUndefined();
    const b = store.find('/b', 'public');
    expect(b && store.body(b, 'br')).toBeUndefined();
    expect(store.find('/b', 'public')).toBeUndefined();
    expect(store.find('/c', 'public')).toBeDefined();
    expect(store.size().pages).toBe(1);
    expect(damaged()).toEqual([]);
  });

  it.each(['garbage', 'empty', 'short'] as const)('is replaced at startup when its file is %s', async (kind) => {
    const first = open();
    for (let i = 0; i < 50; i++) await put(first, `/${i}`, long(`page ${i}`), ['x']);
    first.close();
    if (kind === 'garbage') writeFileSync(file, Buffer.alloc(50_000, 'no database '));
    if (kind === 'empty') truncateSync(file, 0);
    if (kind === 'short') truncateSync(file, Math.floor(statSync(file).size / 2));
    const { log, lines } = keepLog();
    const second = open('one', { log });
    expect(second.find('/1', 'public')).toBeUndefined();
    expect(await put(second, '/1', 'new')).not.toBeNull();
    expect(damaged().length).toBe(kind === 'empty' ? 0 : 1);
    expect(lines.some((line) => line.level === 'error')).toBe(kind !== 'empty');
  });

  it('is replaced without a report of damage when only its table version differs', async () => {
    await put(open(), '/a', 'a');
    stores[0]?.close();
    const db = new DatabaseSync(file);
    db.exec('PRAGMA user_version = 999');
    db.close();
    const before = statSync(file).ino;
    expect(() => open('one', { upgrades: false })).toThrow('The page store is of another version of the site.');
    expect(statSync(file).ino).toBe(before);
    expect(open().find('/a', 'public')).toBeUndefined();
    expect(damaged()).toEqual([]);
  });

  it('is replaced at startup when one of its counters is missing', async () => {
    await put(open(), '/a', 'a');
    stores[0]?.close();
    const db = new DatabaseSync(file);
    db.exec("DELETE FROM meta WHERE name = 'withdrawn'");
    db.close();
    expect(open().find('/a', 'public')).toBeUndefined();
    expect(damaged()).toHaveLength(1);
  });

  it('never yields a wrong page, wherever in the file the damage is', async () => {
    const texts = new Map<string, string>();
    const render = async (key: string) => {
      const page = { ...html(`${key} ${'content '.repeat(300)}`), tags: ['x', `tag:${key}`] };
      texts.set(key, page.body.toString());
      return page;
    };
    const keys = Array.from({ length: 60 }, (_, i) => `/${i}`);
    const first = press(folder.dir, { render });
    for (const key of keys) await first.press.get(key, 'public');
    await first.close();
    const sound = readFileSync(file);
    let seed = 42;
    const random = () => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return seed / 2147483648;
    };
    for (let round = 0; round < 25; round++) {
      for (const companion of [`${file}-wal`, `${file}-shm`]) if (existsSync(companion)) truncateSync(companion, 0);
      writeFileSync(file, sound);
      const handle = openSync(file, 'r+');
      const at = round === 0 ? 0 : Math.floor(random() * sound.length);
      writeSync(handle, Buffer.alloc(64 + Math.floor(random() * 8192), random() < 0.5 ? 0xff : 0x5a), 0, undefined, at);
      closeSync(handle);
      const fixture = press(folder.dir, { render });
      for (const key of keys) expect(await readText(fixture.press, key), `${round} ${key}`).toBe(texts.get(key));
      const result = await fixture.press.invalidate(['x']);
      expect(result.failed).toBe(0);
      for (const key of keys) expect(await readText(fixture.press, key)).toBe(texts.get(key));
      await fixture.close();
    }
  });

  it('is set aside while it is in use, and the press goes on with a new one', async () => {
    const { log, lines } = keepLog();
    const fixture = press(folder.dir, {
      render: async (key) => ({ ...html(long(key)), tags: ['x'] }),
      log,
      memoryBytes: 1,
    });
    for (let i = 0; i < 100; i++) await fixture.press.get(`/${i}`, 'public');
    // Everything but the first page of the file is overwritten, as when a disk fails.
    const db = new DatabaseSync(file);
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    db.close();
    const handle = openSync(file, 'r+');
    writeSync(handle, Buffer.alloc(statSync(file).size - 8192, 0x5a), 0, undefined, 8192);
    closeSync(handle);
    for (let i = 0; i < 300; i++) {
      expect(await readText(fixture.press, `/${i}`)).toBe(long(`/${i}`));
    }
    expect(lines.map(({ level, message }) => [level, message])).toEqual([
      ['error', 'The page store is damaged; it was set aside, and pages are rendered again'],
    ]);
    expect(damaged()).toHaveLength(1);
    expect(fixture.press.stats().store?.pages).toBeGreaterThan(0);
    await fixture.close();
  });
});
