import { expect, it } from 'vitest';
import { pageOf } from '../testing.ts';
import { createEntry, readyIn } from './cached-page.ts';
import { createMemory } from './lru.ts';

async function entryOf(key: string, bytes: number) {
  const { page } = await pageOf(key, 'short');
  const body = Buffer.alloc(bytes, 'x');
  return createEntry({ ...page, etags: { identity: '"x"' } }, (one) => one.headers, { identity: body });
}

it('keeps within its budget, and keeps what is read', async () => {
  const memory = createMemory(100_000);
  const hot = await entryOf('/hot', 8000);
  memory.set('hot', hot);
  for (let i = 0; i < 200; i++) {
    memory.set(`n${i}`, await entryOf(`/n${i}`, 8000));
    hot.visited = true;
    expect(memory.bytes).toBeLessThanOrEqual(100_000);
  }
  expect(memory.size).toBeGreaterThan(8);
  expect(memory.get('hot')).toBe(hot);
  expect(memory.get('n0')).toBeUndefined();
  expect([...memory.entries()].reduce((sum, [, entry]) => sum + entry.bytes, 0)).toBe(memory.bytes);
});

it('counts what an entry grows by', async () => {
  const memory = createMemory(50_000);
  const { page, bodies } = await pageOf('/a', 'x'.repeat(20_000));
  const entry = createEntry(page, (one) => one.headers, {});
  memory.set('a', entry);
  const before = memory.bytes;
  const load = (_page: unknown, encoding: 'br' | 'gzip' | 'identity') => bodies[encoding];
  const dress = () => ({});
  expect(memory.resize('a', entry, () => readyIn(entry, 'identity', dress, load))?.body.length).toBe(20_000);
  expect(memory.bytes - before).toBeGreaterThan(20_000);
  // A second of the same size leaves no room for both.
  const other = createEntry(page, dress, {});
  memory.set('b', other);
  for (let i = 0; i < 2; i++) memory.resize('b', other, () => readyIn(other, 'identity', dress, load));
  memory.set('c', await entryOf('/c', 20_000));
  expect(memory.bytes).toBeLessThanOrEqual(50_000);
});

it('takes an entry that is larger than all room, for as long as it is sent', async () => {
  const memory = createMemory(10_000);
  memory.set('a', await entryOf('/a', 20_000));
  expect(memory.bytes).toBe(0);
  expect(memory.size).toBe(0);
});

it('forgets on demand', async () => {
  const memory = createMemory(100_000);
  memory.set('a', await entryOf('/a', 1000));
  memory.set('a', await entryOf('/a', 2000));
  expect(memory.size).toBe(1);
  expect(memory.delete('a')).toBe(true);
  expect(memory.delete('a')).toBe(false);
  expect(memory.bytes).toBe(0);
});
