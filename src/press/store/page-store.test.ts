import { randomBytes } from 'node:crypto';
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
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silent } from '../../lib/logging.ts';
import { openPress } from '../press.server.ts';
import { html, keepLog, pageOf, press, readText, tempDir, textOf } from '../testing.ts';
import { openStore, type PageStore } from './page-store.server.ts';
import { type StoreFile, StoreUnavailable } from './sqlite-file.server.ts';

let folder: ReturnType<typeof tempDir>;
let file: string;
let stores: PageStore[];
beforeEach(() => {
  folder = tempDir();
  file = join(folder.dir, 'pages.sqlite');
  stores = [];
});
afterEach(() => {
  for (const store of stores) store.close();
  folder.remove();
});

function open(build = 'one', more: Partial<Parameters<typeof openStore>[0]> = {}): PageStore {
  const store = openStore({ file, build, log: silent, ...more });
  stores.push(store);
  return store;
}

async function put(store: PageStore, key: string, text: string, tags: readonly string[] = [], began = store.latest()) {
  const { page, bodies } = await pageOf(key, text, tags);
  return store.put({ ...page, build: store.build }, bodies, began);
}

const damaged = () => readdirSync(folder.dir).filter((name) => name.includes('.damaged-'));
const long = (text: string) => text.repeat(500);

describe('the page store', () => {
  it('returns a page as it was stored', async () => {
    const store = open();
    const { page, bodies } = await pageOf('/a', long('text'), ['y', 'x']);
    const version = store.put(page, bodies, 0);
    const found = store.find('/a', 'public');
    expect(found).toEqual({ ...page, version });
    expect(found && store.body(found, 'br')).toEqual(bodies.br);
    expect(found && store.body(found, 'identity')).toBeUndefined();
    expect(store.find('/a', 'full')).toBeUndefined();
    expect(store.size()).toMatchObject({
      pages: 1,
      bytes: bodies.br?.byteLength,
    });
  });

  it('lists the pages left by other builds, most read first', async () => {
    const one = open();
    for (const key of ['/a', '/b', '/c']) await put(one, key, 'text');
    one.addReads(new Map([['p/b', { ref: { key: '/b', variant: 'public' }, count: 3 }]]));
    expect(one.earlierKeys()).toEqual([]);
    const two = open('two');
    await put(two, '/d', 'text');
    const left = two.earlierKeys();
    expect(left[0]).toBe('/b');
    expect(left.toSorted()).toEqual(['/a', '/b', '/c']);
    two.markWarm();
    while (two.pruneSome());
    expect(two.earlierKeys()).toEqual([]);
  });

  it('returns no bytes for a page that was replaced after it was looked up', async () => {
    const store = open();
    await put(store, '/a', long('one'));
    const old = store.find('/a', 'public');
    await put(store, '/a', long('two'));
    expect(old && store.body(old, 'br')).toBeUndefined();
    expect(store.size().pages).toBe(1);
  });

  it('refuses a page if one of its tags changed after its render began', async () => {
    const store = open();
    const began = store.latest();
    store.change(['x'], [], false, 0);
    expect(await put(store, '/a', 'text', ['x'], began)).toBeNull();
    expect(await put(store, '/b', 'text', ['y'], began)).not.toBeNull();
    expect(await put(store, '/a', 'text', ['x'])).not.toBeNull();
    store.change([], [], true, 0);
    expect(await put(store, '/c', 'text', ['z'], began)).toBeNull();
  });

  it('marks pages by tag with their reads, and clears a mark only after a render that saw the change', async () => {
    const store = open();
    await put(store, '/a', 'a', ['x']);
    await put(store, '/b', 'b', ['x', 'y']);
    const early = store.latest();
    store.addReads(new Map([['p/b', { ref: { key: '/b', variant: 'public' }, count: 3 }]]));
    const { affected, seq } = store.change(['x', 'y'], [], false, 0);
    expect(affected.map(({ key, reads }) => [key, reads > 2]).sort()).toEqual([
      ['/a', false],
      ['/b', true],
    ]);
    const { page, bodies } = await pageOf('/a', 'new', ['x']);
    store.put(page, bodies, early, true);
    expect(store.marked()).toHaveLength(2);
    store.put(page, bodies, seq);
    expect(store.marked().map(({ key }) => key)).toEqual(['/b']);
  });

  it('halves the weight of reads every day', async () => {
    let now = 0;
    const store = open('one', { now: () => now });
    await put(store, '/a', 'a', ['x']);
    store.addReads(new Map([['p/a', { ref: { key: '/a', variant: 'public' }, count: 8 }]]));
    now += 48 * 3_600_000;
    expect(store.change(['x'], [], false, 0).affected[0]?.reads).toBeCloseTo(2);
  });

  it('keeps the pages of two builds apart, and prunes those of the older build', async () => {
    const first = open('one');
    for (let i = 0; i < 250; i++) await put(first, `/${i}`, `page ${i}`, ['x']);
    const second = open('two');
    await put(second, '/0', 'new', ['x']);
    expect(second.find('/0', 'public')?.build).toBe('two');
    expect(second.find('/1', 'public')?.build).toBe('one');
    expect(second.has('/1', 'public')).toBe(false);
    expect(first.find('/0', 'public')?.build).toBe('one');
    second.markWarm();
    expect(second.find('/1', 'public')).toBeUndefined();
    while (second.pruneSome());
    expect(second.size().pages).toBe(1);
    const db = new DatabaseSync(file);
    for (const [table, rows] of [
      ['pages', 1],
      ['page_tags', 1],
      ['tags', 1],
      ['stale', 0],
      ['namespaces', 1],
      ['bodies', 1],
    ] as const) {
      expect(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n, table).toBe(rows);
    }
    db.close();
  });

  it('removes a withdrawn page from every build', async () => {
    const first = open('one');
    await put(first, '/a', 'whole', ['article:1']);
    await put(first, '/b', 'other', ['article:2']);
    const second = open('two');
    second.change(['card:1'], ['article:1'], false, 0);
    expect([second.find('/a', 'public'), first.find('/a', 'public')]).toEqual([undefined, undefined]);
    expect(second.find('/b', 'public')?.build).toBe('one');
  });

  it('notices writes by another process', async () => {
    const one = open();
    const other = open();
    const before = one.foreignWrites();
    await put(one, '/mine', 'mine');
    expect(one.foreignWrites()).toBe(before);
    await put(other, '/theirs', 'theirs');
    expect(one.foreignWrites()).not.toBe(before);
    const began = one.latest();
    other.change(['x'], [], false, 0);
    expect(await put(one, '/a', 'text', ['x'], began)).toBeNull();
  });
});

it('the press picks up changes and withdrawals made by another process', async () => {
  const content = { edition: 1 };
  const replaced: (readonly string[] | 'all')[] = [];
  const opened = [1, 2].map(() => {
    const store = openStore({ file, build: 'one', log: silent });
    const render = async (key: string) => ({
      ...html(`${key} edition ${content.edition} `.repeat(100)),
      tags: key === '/gone' ? ['gone'] : ['x'],
      ...(key === '/gone' && content.edition > 1 && { status: 410 }),
    });
    const onReplaced = (names: readonly string[] | 'all') => void replaced.push(names);
    const onDemand = (key: string) => key.includes('?');
    return {
      store,
      press: openPress({ store, memoryBytes: 4 * 1024 * 1024, render, log: silent, onDemand, onReplaced }),
    };
  });
  const [own, other] = opened.map(({ press }) => press);
  if (!own || !other) throw new Error('Two presses were opened.');
  for (const key of ['/a', '/?page=2', '/gone']) await readText(own, key);
  content.edition = 2;
  replaced.length = 0;
  await other.invalidate(['x'], { withdrawn: ['gone'] });
  const shown = (key: string): string => {
    const page = own.peek(key, 'public');
    return page ? `${page.page.status} ${textOf(own, page).slice(0, 20)}` : 'nothing';
  };
  await vi.waitFor(() => expect(shown('/a')).toContain('edition 2'));
  expect([shown('/?page=2'), shown('/gone').slice(0, 3)]).toEqual(['nothing', '410']);
  expect(replaced).toContain('all');
  for (const { store, press } of opened) {
    await press.close();
    store.close();
  }
});

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
    expect(open().find('/a', 'public')).toBeUndefined();
    expect(damaged()).toEqual([]);
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

describe('a full disk', () => {
  /** A file that refuses writes while `full` is set. */
  function fillable() {
    const disk = { full: false };
    const wrap = (inner: StoreFile): StoreFile => ({
      ...inner,
      write: (work) => {
        if (disk.full) throw new StoreUnavailable('database or disk is full');
        return inner.write(work);
      },
    });
    return { disk, wrap };
  }

  it('lets pages be served from memory until the store can be written again', async () => {
    const { disk, wrap } = fillable();
    const { log, lines } = keepLog();
    let edition = 1;
    let published = true;
    const render = async (key: string) =>
      key === '/3' && !published
        ? { ...html('gone'), status: 410, tags: ['x', '3'] }
        : { ...html(`${key} edition ${edition} `.repeat(100)), tags: ['x', key.slice(1)] };
    const store = openStore({ file, build: 'one', log, wrap });
    const opened = openPress({ store, memoryBytes: 4 * 1024 * 1024, render, log });
    const text = async (key: string) => (await readText(opened, key)).slice(0, 12).trim();
    for (const key of ['/1', '/2', '/3']) expect(await text(key)).toBe(`${key} edition 1`);
    disk.full = true;
    edition = 2;
    expect(await opened.invalidate(['x'])).toMatchObject({ failed: 0, refreshed: { length: 3 } });
    for (const key of ['/1', '/2', '/new']) expect((await text(key)).startsWith(`${key} edition`)).toBe(true);
    expect(await text('/1')).toBe('/1 edition 2');
    expect(opened.stats().unwritten).toBe(4);
    published = false;
    const withdrawal = opened.invalidate(['x'], { withdrawn: ['3'] });
    expect(opened.peek('/3', 'public')).toBeUndefined();
    await withdrawal;
    expect((await opened.get('/3', 'public')).page.status).toBe(410);
    const complaints = lines.filter((line) => line.message.includes("can't be used"));
    expect(complaints).toHaveLength(1);
    disk.full = false;
    const end = performance.now() + 60_000;
    while (opened.stats().unwritten > 0 && performance.now() < end)
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(opened.stats().unwritten).toBe(0);
    expect(store.find('/3', 'public')?.status).toBe(410);
    expect(await text('/1')).toBe('/1 edition 2');
    edition = 3;
    await opened.invalidate(['1']);
    expect(await text('/1')).toBe('/1 edition 3');
    await opened.close();
    store.close();
  });

  it('loses no tag that a page gains while the disk is full', async () => {
    const { disk, wrap } = fillable();
    const store = openStore({ file, build: 'one', log: silent, wrap });
    let [text, tags] = ['the same', ['one']];
    const render = async () => ({ ...html(text.repeat(300)), tags });
    const opened = openPress({ store, memoryBytes: 4 * 1024 * 1024, render, log: silent });
    await opened.get('/a', 'public');
    disk.full = true;
    tags = ['one', 'two'];
    expect(await opened.invalidate(['one'])).toMatchObject({ unchanged: 1 });
    disk.full = false;
    text = 'another';
    await opened.invalidate(['two']);
    expect((await readText(opened, '/a')).startsWith('another')).toBe(true);
    await opened.close();
    store.close();
  });

  it('is reported as over once the waiting pages have been rendered again and stored', async () => {
    const { disk, wrap } = fillable();
    const { log, lines } = keepLog();
    const store = openStore({ file, build: 'one', log, wrap });
    let edition = 1;
    const render = async () => ({ ...html(`edition ${edition} `.repeat(100)), tags: [] });
    const opened = openPress({ store, memoryBytes: 4 * 1024 * 1024, render, log });
    disk.full = true;
    await opened.get('/a', 'public');
    expect(opened.stats().unwritten).toBe(1);
    disk.full = false;
    edition = 2;
    await opened.refresh(['/a']);
    expect(opened.stats().unwritten).toBe(0);
    const recovered = () => lines.filter(({ message }) => message === 'The page store works again');
    await vi.waitFor(() => expect(recovered()).toHaveLength(1));
    await opened.close();
    store.close();
  });

  it('hides old pages when the pages of a change cannot even be looked up', async () => {
    const disk = { away: false };
    const wrap = (inner: StoreFile): StoreFile => {
      const guarded =
        <Run extends StoreFile['use']>(run: Run) =>
        <T>(work: () => T): T => {
          if (disk.away) throw new StoreUnavailable('disk I/O error');
          return run(work);
        };
      return { ...inner, use: guarded(inner.use), write: guarded(inner.write) };
    };
    let edition = 1;
    const render = async (key: string) =>
      key === '/gone' && edition > 1
        ? { ...html('gone'), status: 410, tags: ['x', 'gone'] }
        : { ...html(`${key} edition ${edition} `.repeat(100)), tags: ['x', key.slice(1)] };
    const store = openStore({ file, build: 'one', log: silent, wrap });
    const opening = openPress({ store, memoryBytes: 4 * 1024 * 1024, render, log: silent });
    for (const key of ['/a', '/gone']) await opening.get(key, 'public');
    await opening.close();
    // The pages are only in the store now, not in memory.
    const opened = openPress({ store, memoryBytes: 4 * 1024 * 1024, render, log: silent });
    edition = 2;
    disk.away = true;
    await opened.invalidate(['x'], { withdrawn: ['gone'] });
    disk.away = false;
    expect(opened.peek('/gone', 'public')).toBeUndefined();
    expect(opened.peek('/a', 'public')).toBeUndefined();
    expect((await opened.get('/gone', 'public')).page.status).toBe(410);
    expect((await readText(opened, '/a')).startsWith('/a edition 2')).toBe(true);
    // The same once the store has recorded the change.
    await vi.waitFor(() => expect(opened.durable).toBe(true));
    expect((await opened.get('/gone', 'public')).page.status).toBe(410);
    expect((await readText(opened, '/a')).startsWith('/a edition 2')).toBe(true);
    await opened.close();
    store.close();
  });

  it.each([
    ['only in memory, while the store can be neither read nor written', 'away', 'memory'],
    ['in memory and in a read-only store', 'full', 'memory'],
    ['only in a read-only store', 'full', 'store'],
    ['only in memory, when the store has just become writable again', 'was full', 'unwritten'],
  ])('still lets a change refresh a page that is %s', async (_what, trouble, where) => {
    const disk = { full: false, away: false };
    const guarded =
      <Run extends StoreFile['use']>(run: Run, isRefused: () => boolean) =>
      <T>(work: () => T): T => {
        if (isRefused()) throw new StoreUnavailable('disk I/O error');
        return run(work);
      };
    const wrap = (inner: StoreFile): StoreFile => ({
      ...inner,
      use: guarded(inner.use, () => disk.away),
      write: guarded(inner.write, () => disk.away || disk.full),
    });
    let edition = 1;
    const render = async (key: string) =>
      key === '/gone' && edition > 1
        ? { ...html('gone'), status: 410, tags: ['x', 'gone'] }
        : { ...html(`${key} edition ${edition} `.repeat(100)), tags: ['x', key.slice(1)] };
    const store = openStore({ file, build: 'one', log: silent, wrap });
    const openIt = () => openPress({ store, memoryBytes: 4 * 1024 * 1024, render, log: silent });
    let opened = openIt();
    disk.full = where === 'unwritten';
    for (const key of ['/a', '/gone']) await readText(opened, key);
    if (where === 'store') {
      await opened.close();
      opened = openIt();
    }
    disk.full = trouble === 'full';
    disk.away = trouble === 'away';
    edition = 2;
    const change = opened.invalidate(['x'], { withdrawn: ['gone'] });
    expect(opened.peek('/gone', 'public')).toBeUndefined();
    const { refreshed } = await change;
    expect(refreshed.map(({ key }) => key).sort()).toEqual(['/a', '/gone']);
    const page = opened.peek('/a', 'public');
    expect(page && textOf(opened, page)).toMatch(/^\/a edition 2/);
    expect(opened.peek('/gone', 'public')?.page.status).toBe(410);
    [disk.full, disk.away] = [false, false];
    await opened.close();
    store.close();
  });

  it('keeps only as many unwritten pages as fit in memory', async () => {
    const { disk, wrap } = fillable();
    const store = openStore({ file, build: 'one', log: silent, wrap });
    let renders = 0;
    const opened = openPress({
      store,
      memoryBytes: 1024 * 1024,
      log: silent,
      render: async (key) => {
        renders++;
        return { ...html(`${key} ${randomBytes(20_000).toString('hex')}`), tags: [] };
      },
    });
    disk.full = true;
    for (let i = 0; i < 200; i++) await opened.get(`/${i}`, 'public');
    expect(opened.stats().unwritten).toBeLessThan(200);
    expect((await readText(opened, '/0')).startsWith('/0 ')).toBe(true);
    expect(renders).toBe(201);
    disk.full = false;
    await opened.close();
    store.close();
  });
});
