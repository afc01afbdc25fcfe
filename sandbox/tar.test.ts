import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, expect, it } from 'vitest';
import { extractFolders } from './tar.mjs';

const work = fs.mkdtempSync(path.join(os.tmpdir(), 'tar-'));
afterAll(() => fs.rmSync(work, { recursive: true, force: true }));

/** An archive made by npm, which also packs the real packages. */
function pack(files: Record<string, string>): string {
  const folder = fs.mkdtempSync(path.join(work, 'package-'));
  for (const [name, content] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), content);
  }
  fs.writeFileSync(path.join(folder, 'package.json'), '{"name":"packed","version":"1.0.0"}');
  const npm = spawnSync('npm', ['pack', '--silent'], {
    cwd: folder,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  return path.join(folder, npm.stdout.trim().split('\n').at(-1) ?? '');
}

it('extractFolders extracts one folder of a package, including long names and large files', async () => {
  const deep = `keep/${'a-rather-long-name-of-a-folder/'.repeat(6)}file.txt`;
  const large = 'x'.repeat(300_000);
  const archive = pack({
    'keep/a.txt': 'a',
    'keep/empty.txt': '',
    [deep]: 'deep',
    'keep/large.txt': large,
    'other/b.txt': 'b',
  });
  const to = path.join(work, 'out');
  expect(await extractFolders(archive, [{ from: 'package/keep/', to }])).toBe(4);
  expect(fs.readFileSync(path.join(to, 'a.txt'), 'utf8')).toBe('a');
  expect(fs.readFileSync(path.join(to, 'empty.txt'), 'utf8')).toBe('');
  expect(fs.readFileSync(path.join(to, deep.slice('keep/'.length)), 'utf8')).toBe('deep');
  expect(fs.readFileSync(path.join(to, 'large.txt'), 'utf8')).toBe(large);
  expect(fs.existsSync(path.join(to, '../other'))).toBe(false);
});

it('extractFolders fails on an archive that is cut off, before or after it was compressed', async () => {
  const archive = pack({ 'keep/a.bin': Array.from({ length: 60_000 }, (_, i) => (i * 7919) % 9973).join() });
  const extract = () => extractFolders(archive, [{ from: 'package/keep/', to: path.join(work, 'cut') }]);
  const whole = fs.readFileSync(archive);
  fs.writeFileSync(archive, whole.subarray(0, whole.length / 2));
  await expect(extract()).rejects.toThrow('unexpected end of file');
  const files = gunzipSync(whole);
  fs.writeFileSync(archive, gzipSync(files.subarray(0, files.length / 2)));
  await expect(extract()).rejects.toThrow('ends in the middle of a file');
});
