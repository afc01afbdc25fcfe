/** The build, with an Astro that does nothing but take time. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { hashSources } from './build.ts';
import { root } from './setup/places.mjs';

let folder = '';
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** Fails if another build is running. */
const astro = `
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
writeFileSync('busy', '', { flag: 'wx' });
appendFileSync('runs', 'x');
await new Promise((resolve) => setTimeout(resolve, 500));
mkdirSync('dist/server', { recursive: true });
mkdirSync('dist/client', { recursive: true });
writeFileSync('dist/server/entry.mjs', 'const _page0 = () => import("./page.mjs");\\n');
rmSync('busy');
`;

it('two commands that need a build at the same time make it once', async () => {
  folder = mkdtempSync(join(tmpdir(), 'build-'));
  for (const name of ['build.ts', 'compress.ts', 'setup'])
    cpSync(join(root, 'scripts', name), join(folder, 'scripts', name), { recursive: true });
  write('scripts/dictionary.ts', '');
  write('node_modules/astro/bin/astro.mjs', astro);
  const code = `await (await import(${JSON.stringify(join(folder, 'scripts', 'build.ts'))})).ensureBuilt()`;
  const builds = [1, 2].map(async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { cwd: folder });
    let errors = '';
    child.stderr.on('data', (data) => {
      errors += data;
    });
    const [exit] = await once(child, 'close');
    return [exit, errors];
  });
  expect(await Promise.all(builds)).toEqual([
    [0, ''],
    [0, ''],
  ]);
  expect(readFileSync(join(folder, 'runs'), 'utf8')).toBe('x');
});

it('the hash of a build’s sources changes with every file that the Astro configuration imports', () => {
  folder = mkdtempSync(join(tmpdir(), 'build-'));
  const config = readFileSync(join(root, 'astro.config.mjs'), 'utf8');
  const imported = [...config.matchAll(/^import .* from '\.\/(.+)';$/gm)].map(([, path = '']) => path);
  expect(imported.length).toBeGreaterThan(5);
  for (const path of imported) {
    write(path, 'before');
    const before = hashSources(folder);
    write(path, 'after');
    expect(hashSources(folder), path).not.toBe(before);
  }
});
