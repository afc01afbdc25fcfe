/**
 * `npm run prove`: runs the random tests of `npm test` many more times (tests/world/runs.ts) and prints the figures of each: random
 * billing sequences against the sandbox's Stripe, `kill -9` at random moments, and every property. It takes hours.
 */
import { join } from 'node:path';
import { ensureSandbox } from '../sandbox/setup.mjs';
import { ensureBuilt } from './build.ts';
import { Stop } from './setup/explain.mjs';
import { root } from './setup/places.mjs';
import { startChild } from './setup/processes.mjs';
import { duration, step } from './setup/steps.mjs';

interface Proof {
  readonly project: 'unit' | 'fault';
  readonly files: readonly string[];
}

/** Test files that take their number of runs from `runs`. */
const proofs: Record<string, Proof> = {
  'billing sequences': { project: 'unit', files: ['src/lib/billing/model.test.ts'] },
  'kills of the site': { project: 'fault', files: ['tests/fault/kill-site.test.ts'] },
  'kills during sign-ups': { project: 'fault', files: ['tests/fault/accounts-kill.test.ts'] },
  'kills during purchases': { project: 'fault', files: ['tests/fault/billing-kill.test.ts'] },
  'crashes at every step': { project: 'fault', files: ['tests/fault/billing-crash.test.ts'] },
  'lost machines and their backups': { project: 'fault', files: ['tests/fault/backup-kill.test.ts'] },
  'floods and restarts': {
    project: 'fault',
    files: ['tests/fault/press-site.test.ts', 'tests/fault/press-restarts.test.ts'],
  },
  properties: {
    project: 'unit',
    files: ['src/server/cluster', 'src/content', 'src/press', 'src/lib/http/origin.test.ts', 'tests/security'],
  },
};

/** @param args the proofs to run, as words of their names; none: all of them */
export async function run(args: readonly string[]): Promise<number> {
  const names = Object.keys(proofs);
  const unknown = args.filter((word) => !names.some((name) => name.includes(word)));
  if (unknown.length > 0)
    throw new Stop(`There is no proof called ${unknown.join(', ')}. The proofs are:\n  ${names.join('\n  ')}`);
  await step('Setting up the sandbox for the proofs', () => ensureSandbox({ root, onProgress() {} }));
  await ensureBuilt();
  const wanted = Object.entries(proofs).filter(
    ([name]) => args.length === 0 || args.some((word) => name.includes(word)),
  );
  const results: string[] = [];
  let failed = false;
  for (const [name, { project, files }] of wanted) {
    console.log(`\n── ${name}`);
    const began = Date.now();
    const child = startChild(
      process.execPath,
      [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--project', project, ...files],
      {
        cwd: root,
        env: { ...process.env, PROVE: '1' },
        onLine: (line: string) => console.log(line),
        onErrorLine: (line: string) => console.error(line),
      },
    );
    const holds = (await child.ended).code === 0;
    failed ||= !holds;
    results.push(`${name.padEnd(24)} ${holds ? 'holds' : 'FAILED'} (${duration(Date.now() - began)})`);
  }
  console.log(`\n${results.join('\n')}`);
  return failed ? 1 : 0;
}
