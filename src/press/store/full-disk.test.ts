import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silent } from '../../lib/logging.ts';
import { openPress } from '../press.server.ts';
import { html, keepLog, readText, textOf } from '../testing.ts';
import { openStore } from './page-store.server.ts';
import { type StoreFile, StoreUnavailable } from './sqlite-file.server.ts';
import { closeStores, file, openFolder } from './testing.ts';

beforeEach(openFolder);
afterEach(closeStores);

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
