import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDiskCache } from './disk-cache.server.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'disk-cache-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const picture = (bytes: number) => Buffer.alloc(bytes, 'p');

describe('a file that is being read', () => {
  it('leaves no record behind when it is removed meanwhile', async () => {
    const cache = await openDiskCache(dir, 1000);
    await cache.put('a.avif', picture(100));
    await Promise.all([cache.get('a.avif'), cache.get('a.avif'), cache.remove('a.avif')]);
    expect(await cache.get('a.avif')).toBeNull();
    expect(cache).toMatchObject({ size: 0 });
    expect(cache.written('a.avif')).toBe(0);
  });

  it('has the time and size of the file that replaces it meanwhile', async () => {
    let now = 1000;
    const cache = await openDiskCache(dir, 1000, () => now);
    await cache.put('a.src', picture(100));
    now = 2000;
    await Promise.all([cache.put('a.src', picture(300)), ...Array.from({ length: 8 }, () => cache.get('a.src'))]);
    expect(cache.written('a.src')).toBe(2000);
    expect(cache).toMatchObject({ size: 300 });
  });
});
