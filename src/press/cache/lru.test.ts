import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { pageOf } from '../testing.ts';
import { createCachedPage, encodedIn } from './cached-page.ts';
import { createLru } from './lru.ts';

async function entryOf(key: string, bytes: number) {
  const { page } = await pageOf(key, 'short');
  const body = Buffer.alloc(bytes, 'x');
  return createCachedPage({ ...page, etags: { identity: '"x"' } }, (one) => one.headers, { identity: body });
}

it('the memory cache stays within its budget and keeps an entry that is read again and again', async () => {
  const lru = createLru(100_000);
  const hot = await entryOf('/hot', 8000);
  lru.set('hot', hot);
  for (let i = 0; i < 200; i++) {
    lru.set(`n${i}`, await entryOf(`/n${i}`, 8000));
    hot.visited = true;
    expect(lru.bytes).toBeLessThanOrEqual(100_000);
  }
  expect(lru.size).toBeGreaterThan(8);
  expect(lru.get('hot')).toBe(hot);
  expect(lru.get('n0')).toBeUndefined();
  expect([...lru.entries()].reduce((sum, [, entry]) => sum + entry.bytes, 0)).toBe(lru.bytes);
});

it('the memory cache counts the bytes by which an entry grows', async () => {
  const lru = createLru(50_000);
  const { page, bodies } = await pageOf('/a', 'x'.repeat(20_000));
  const entry = createCachedPage(page, (one) => one.headers, {});
  lru.set('a', entry);
  const before = lru.bytes;
  const load = (_page: unknown, encoding: 'br' | 'identity') => bodies[encoding];
  const headersOf = () => ({});
  expect(lru.resize('a', entry, () => encodedIn(entry, 'identity', headersOf, load))?.body.length).toBe(20_000);
  expect(lru.bytes - before).toBeGreaterThan(20_000);
  // A second page of the same size doesn't fit in addition.
  const other = createCachedPage(page, headersOf, {});
  lru.set('b', other);
  for (let i = 0; i < 2; i++) lru.resize('b', other, () => encodedIn(other, 'identity', headersOf, load));
  lru.set('c', await entryOf('/c', 20_000));
  expect(lru.bytes).toBeLessThanOrEqual(50_000);
});

it('the gzip form of a page is made on the first request, from its one stored encoding', async () => {
  const { page, bodies } = await pageOf('/a', 'words of a story '.repeat(1000));
  expect(Object.keys(bodies)).toEqual(['br']);
  const entry = createCachedPage(page, (one) => one.headers, {});
  let loaded = 0;
  const load = (_page: unknown, encoding: 'br' | 'identity') => {
    loaded++;
    return bodies[encoding];
  };
  const first = encodedIn(entry, 'gzip', () => ({}), load);
  expect(gunzipSync(first?.body ?? Buffer.alloc(0)).toString()).toContain('words of a story');
  expect(encodedIn(entry, 'gzip', () => ({}), load)).toBe(first);
  expect(loaded).toBe(1);
});

it('the memory cache does not keep an entry larger than its budget', async () => {
  const lru = createLru(10_000);
  lru.set('a', await entryOf('/a', 20_000));
  expect(lru.bytes).toBe(0);
  expect(lru.size).toBe(0);
});

it('the memory cache removes an entry on request, and replaces one with the same key', async () => {
  const lru = createLru(100_000);
  lru.set('a', await entryOf('/a', 1000));
  lru.set('a', await entryOf('/a', 2000));
  expect(lru.size).toBe(1);
  expect(lru.delete('a')).toBe(true);
  expect(lru.delete('a')).toBe(false);
  expect(lru.bytes).toBe(0);
});
