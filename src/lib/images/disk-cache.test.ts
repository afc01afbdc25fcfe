import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openDiskCache } from './disk-cache.server.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'disk-cache-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const picture = (bytes: number) => Buffer.alloc(bytes, 'p');

describe('the disk cache, while a file is being read', () => {
  it('keeps no record of the file if it is removed', async () => {
    const cache = await openDiskCache(dir, 1000);
    await cache.put('a.avif', picture(100));
    await Promise.all([cache.get('a.avif'), cache.get('a.avif'), cache.remove('a.avif')]);
    expect(await cache.get('a.avif')).toBeNull();
    expect(cache).toMatchObject({ size: 0 });
    expect(cache.written('a.avif')).toBe(0);
  });

  it('records the time and size of a file that replaces it', async () => {
    let now = 1000;
    const cache = await openDiskCache(dir, 1000, () => now);
    await cache.put('a.src', picture(100));
    now = 2000;
    await Promise.all([cache.put('a.src', picture(300)), ...Array.from({ length: 8 }, () => cache.get('a.src'))]);
    expect(cache.written('a.src')).toBe(2000);
    expect(cache).toMatchObject({ size: 300 });
  });
});

it('the disk cache keeps the most recently used files and their write times across a restart', async () => {
  let now = Date.now();
  const first = await openDiskCache(dir, 1000, () => now);
  const write = async (name: string) => {
    await first.put(name, picture(400));
    now += 60_000;
  };
  await write('a.avif');
  const written = first.written('a.avif');
  await write('b.avif');
  await first.get('a.avif');
  // The time of use is written in the background.
  const usedAt = () => statSync(join(dir, 'a.avif')).atimeMs;
  await vi.waitFor(() => expect(usedAt()).toBeGreaterThan(written + 60_000));
  const second = await openDiskCache(dir, 1000, () => now);
  expect(Math.round(second.written('a.avif'))).toBe(written);
  await second.put('c.avif', picture(400));
  expect([second.written('a.avif') > 0, second.written('b.avif')]).toEqual([true, 0]);
  expect(await second.get('a.avif', 120_000)).not.toBeNull();
  expect(await second.get('a.avif', 119_000)).toBeNull();
});
