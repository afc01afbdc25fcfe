import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silent } from '../../lib/logging.ts';
import { openPress } from '../press.server.ts';
import { html, pageOf, readText, textOf } from '../testing.ts';
import { openStore } from './page-store.server.ts';
import { closeStores, file, long, open, openFolder, put } from './testing.ts';

beforeEach(openFolder);
afterEach(closeStores);

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

  it('lists the pages that only other builds have, most read first', async () => {
    const one = open();
    for (const key of ['/a', '/b', '/c']) await put(one, key, 'text');
    one.addReads(new Map([['p/b', { ref: { key: '/b', variant: 'public' }, count: 3 }]]));
    expect(one.earlierKeys()).toEqual([]);
    const two = open('two');
    await put(two, '/d', 'text');
    const left = two.earlierKeys();
    expect(left[0]).toBe('/b');
    expect(left.toSorted()).toEqual(['/a', '/b', '/c']);
    await put(two, '/a', 'text');
    expect(two.earlierKeys()).not.toContain('/a');
    expect(two.isWarm()).toBe(false);
    two.markWarm();
    expect(two.isWarm()).toBe(true);
    while (two.pruneSome('all'));
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
    while (second.pruneSome('all'));
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
