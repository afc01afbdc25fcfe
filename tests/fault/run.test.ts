/** The entry script, run as a downloaded Node runs it: watched through a channel by the Node that was too old. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { root } from '../../scripts/setup/places.mjs';

let folder: string;
beforeAll(() => {
  // The real entry script with commands that do nothing but end.
  folder = mkdtempSync(join(tmpdir(), 'run-'));
  mkdirSync(join(folder, 'scripts'));
  cpSync(join(root, 'scripts', 'run.mjs'), join(folder, 'scripts', 'run.mjs'));
  cpSync(join(root, 'scripts', 'setup'), join(folder, 'scripts', 'setup'), { recursive: true });
  for (const name of ['package.json', 'package-lock.json']) cpSync(join(root, name), join(folder, name));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const command = (name: string, run: string): void =>
    writeFileSync(join(folder, 'scripts', `${name}.ts`), `export async function run(args) { ${run} }\n`);
  command('build', 'return args[0] === "nothing" ? undefined : 0;');
  command('press', 'return 3;');
  command('serve', 'throw new Error("It does not work.");');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(...args: string[]): Promise<readonly [code: number, signal: string | null, errors: string]> {
  const child = spawn(process.execPath, [join(folder, 'scripts', 'run.mjs'), ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let errors = '';
  child.stderr?.on('data', (data) => {
    errors += data;
  });
  const [code, signal] = (await once(child, 'close')) as [number, string | null];
  return [code, signal, errors];
}

it('the entry script exits with 0 after a successful command, while the watching Node still listens', async () => {
  expect(await run('build')).toEqual([0, null, '']);
  expect(await run('build', 'nothing')).toEqual([0, null, '']);
});

it('the entry script exits with the code of a failed command', async () => {
  expect(await run('press')).toEqual([3, null, '']);
  const [code, signal, errors] = await run('serve');
  expect([code, signal]).toEqual([1, null]);
  expect(errors).toContain('It does not work.');
  expect((await run('nonsense'))[0]).toBe(2);
});
