import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { silent } from '../../lib/logging.ts';
import { tempDir } from '../testing.ts';
import { openEarlierAssets } from './earlier-assets.server.ts';

let folder: ReturnType<typeof tempDir>;
beforeEach(() => {
  folder = tempDir();
});
afterEach(() => folder.remove());

const hour = 3_600_000;
let now = 1_800_000_000_000;

/** Builds a site with these files and opens it. */
function build(name: string, files: Record<string, string>) {
  const source = join(folder.dir, 'dist', name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(source, path, '..'), { recursive: true });
    writeFileSync(join(source, path), text);
  }
  mkdirSync(source, { recursive: true });
  return openEarlierAssets({ dir: join(folder.dir, 'assets'), build: name, source, log: silent, now: () => now });
}

it('the files of the previous build are kept for a day after it last ran', async () => {
  const first = await build('a', { 'page.1.css': 'one', 'deep/x.2.js': 'two' });
  expect(await first.find('page.1.css')).toBeUndefined();
  now += 48 * hour;
  await first.prune();
  now += hour;
  const second = await build('b', { 'page.3.css': 'three' });
  expect(String(await second.find('page.1.css'))).toBe('one');
  expect(String(await second.find('deep/x.2.js'))).toBe('two');
  expect(await second.find('page.3.css')).toBeUndefined();
  expect(await second.find('../b/page.3.css')).toBeUndefined();
  expect(await second.find('.running')).toBeUndefined();
  now += 22 * hour;
  await second.prune();
  expect(readdirSync(join(folder.dir, 'assets'))).toEqual(['a', 'b']);
  now += 2 * hour;
  await second.prune();
  expect(readdirSync(join(folder.dir, 'assets'))).toEqual(['b']);
  expect(await second.find('page.1.css')).toBeUndefined();
});

it('an earlier file is found while the folders are read again', async () => {
  await build('a', { 'a.css': 'a' });
  const second = await build('b', { 'b.css': 'b' });
  const found: ReturnType<typeof second.find>[] = [];
  let pruned = false;
  const pruning = second.prune().then(() => {
    pruned = true;
  });
  while (!pruned) {
    found.push(second.find('a.css'));
    await setImmediate();
  }
  await pruning;
  expect(new Set((await Promise.all(found)).map(String))).toEqual(new Set(['a']));
});

it('after a rollback, the files of the build in between are still found', async () => {
  await build('a', { 'a.css': 'a' });
  await build('b', { 'b.css': 'b' });
  const again = await build('a', {});
  expect(String(await again.find('b.css'))).toBe('b');
});

it('a build name that contains a path is rejected', async () => {
  await expect(build('../x', {})).rejects.toThrow("isn't the name of a build");
});

it('on a full disk, the files copied earlier are still found', async () => {
  await build('a', { 'a.css': 'a' });
  // A disk without room for another folder: a file takes the folder's place.
  writeFileSync(join(folder.dir, 'assets', 'b'), '');
  const second = await build('b', { 'b.css': 'b' });
  expect(String(await second.find('a.css'))).toBe('a');
});
