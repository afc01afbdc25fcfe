/**
 * `npm run prove`: the proofs that take too long for every run. The billing model plays 20,000 random sequences, others than before:
 * `BILLING_SEQUENCES` and `BILLING_SEED` say how many and which.
 */
import { join } from 'node:path';
import { ensureSandbox } from '../sandbox/setup.mjs';
import { root } from './setup/places.mjs';
import { startChild } from './setup/processes.mjs';
import { step } from './setup/steps.mjs';

const proofs = ['src/lib/billing/model.test.ts'];

export async function run(): Promise<number> {
  await step('Setting up the sandbox for the proofs', () => ensureSandbox({ root, onProgress() {} }));
  const child = startChild(
    process.execPath,
    [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--project', 'unit', ...proofs],
    {
      cwd: root,
      env: { BILLING_SEQUENCES: '20000', BILLING_SEED: 'random', ...process.env },
      onLine: (line: string) => console.log(line),
      onErrorLine: (line: string) => console.error(line),
    },
  );
  return (await child.ended).code ?? 1;
}
