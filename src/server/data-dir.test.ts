import { chmodSync, existsSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { silent } from '../lib/logging.ts';
import { tempDir } from '../press/testing.ts';
import { openDataDir, warnOfRelativePath } from './data-dir.ts';

let folder: ReturnType<typeof tempDir>;
beforeEach(() => {
  folder = tempDir();
});
afterEach(() => folder.remove());

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

it('the data folder and the folders above it are created for their own user alone', () => {
  const dir = join(folder.dir, 'a', 'b');
  openDataDir(dir, silent);
  expect([modeOf(dir), modeOf(join(folder.dir, 'a'))]).toEqual(['700', '700']);
  openDataDir(dir, silent);
});

it('opening the data folder restricts what an earlier version left open, without following links', () => {
  const dir = join(folder.dir, 'data');
  const outside = join(folder.dir, 'outside');
  mkdirSync(join(dir, 'images'), { recursive: true });
  writeFileSync(outside, '');
  for (const name of ['accounts.sqlite', 'images/a.avif']) writeFileSync(join(dir, name), '');
  for (const path of [dir, join(dir, 'images')]) chmodSync(path, 0o755);
  for (const path of [outside, join(dir, 'accounts.sqlite'), join(dir, 'images/a.avif')]) chmodSync(path, 0o644);
  symlinkSync(outside, join(dir, 'link'));
  openDataDir(dir, silent);
  expect([dir, join(dir, 'images')].map(modeOf)).toEqual(['700', '700']);
  expect([join(dir, 'accounts.sqlite'), join(dir, 'images/a.avif')].map(modeOf)).toEqual(['600', '600']);
  expect(modeOf(outside)).toBe('644');
});

it.each(['/proc/no-such-folder', '/dev/null/data'])('an error says that the data folder %s can’t be made', (dir) => {
  expect(() => openDataDir(dir, silent)).toThrow(
    /^DATA_DIR is .*, which can't be made or written \(E[A-Z]+\)\. Set it/,
  );
});

it('a file in place of the data folder is refused, and opening a folder leaves no file behind', () => {
  const file = join(folder.dir, 'file');
  writeFileSync(file, '');
  expect(() => openDataDir(file, silent)).toThrow(/DATA_DIR is .*file, which can't be made or written \(ENOTDIR\)/);
  openDataDir(folder.dir, silent);
  expect(existsSync(join(folder.dir, `.writable-${process.pid}`))).toBe(false);
});

it.each(['assets', 'images', 'pages'])(
  'a file in place of the subfolder %s is refused by name, and a link to a folder is accepted',
  (name) => {
    const path = join(folder.dir, name);
    writeFileSync(path, '');
    const sentence = `${path} isn't a folder, and the site needs one there. Move it away; the site makes the folder.`;
    expect(() => openDataDir(folder.dir, silent)).toThrow(sentence);
    rmSync(path);
    symlinkSync(join(folder.dir, 'none'), path);
    expect(() => openDataDir(folder.dir, silent)).toThrow(sentence);
    mkdirSync(join(folder.dir, 'none'));
    openDataDir(folder.dir, silent);
  },
);

it('a data folder that is relative to the checkout is warned of', () => {
  const warn = vi.fn();
  warnOfRelativePath('/var/lib/broadsheet', { ...silent, warn });
  expect(warn).not.toHaveBeenCalled();
  warnOfRelativePath('var/site', { ...silent, warn });
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    { dir: join(process.cwd(), 'var/site') },
    expect.stringContaining('Set an absolute path'),
  );
});
