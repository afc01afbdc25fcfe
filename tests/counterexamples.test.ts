/** What a failed random check leaves behind (world/counterexamples.ts). */
import { readFileSync, rmSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, expect, it } from 'vitest';
import { checkRandomly } from './world/counterexamples.ts';

const isSmall = (name: string) => () =>
  checkRandomly(
    name,
    fc.property(fc.nat(), (value) => value < 10),
    1000,
  );
const files: string[] = [];
afterEach(() => {
  delete process.env.CHECK_SEED;
  for (const file of files.splice(0)) rmSync(file);
});

function failure(check: () => void): { readonly message: string; readonly seed: string; readonly file: string } {
  let message = '';
  try {
    check();
  } catch (error) {
    ({ message } = error as Error);
  }
  const [, seed = '', file = ''] = /CHECK_SEED=(\d+) .*the order is in (.+)\.$/u.exec(message) ?? [];
  if (file !== '') files.push(file);
  return { message, seed, file };
}

it('a failed random check names its seed in the message and in a file, and the seed repeats the failure', () => {
  const first = failure(isSmall('example'));
  const written = JSON.parse(readFileSync(first.file, 'utf8'));
  expect(written).toEqual({
    seed: Number(first.seed),
    path: expect.stringMatching(/^\d+/u),
    error: expect.stringContaining('Property failed by returning false'),
    counterexample: [10],
  });
  process.env.CHECK_SEED = first.seed;
  expect(failure(isSmall('repeated')).message).toContain(`path ${written.path}`);
});
