import { defineConfig } from 'vitest/config';
import { runs } from './tests/world/runs.ts';
import { Sequencer, sharedPool } from './tests/world/shared-pool.ts';

/** The tests of `tests/security` that ask the built site. */
const onBuiltSite = [
  'account-limits',
  'accounts',
  'paid-body',
  'paid-body-access',
  'paid-sound',
  'reader-tools',
  'stored-pages',
].map((name) => `tests/security/${name}.test.ts`);

/**
 * Four projects: the tests of `unit`, most of them next to the code, use only their process, temporary folders and the run's own
 * databases; `contract` and `plugin` talk to the real WordPress of the sandbox, `fault` starts and kills processes.
 */
export default defineConfig({
  test: {
    // The paper's zone is New York, on every machine; a zone far from it shows code that uses the machine's.
    env: { TZ: 'Asia/Kolkata' },
    passWithNoTests: false,
    // Limits are for what hangs; how long something takes is a matter of the benches.
    testTimeout: runs(120_000, 3_600_000),
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    setupFiles: ['tests/world/timeouts.ts'],
    // Every core: by itself vitest leaves one free, which on two is half of the machine.
    maxWorkers: '100%',
    sequence: { sequencer: Sequencer },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{src,sandbox,scripts,bench}/**/*.test.{ts,tsx}', 'tests/*.test.ts', 'tests/security/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...onBuiltSite],
          globalSetup: ['tests/world/shared-databases.ts'],
          setupFiles: ['tests/world/shared-worker.ts'],
          pool: sharedPool,
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'contract',
          include: ['tests/contract/**/*.test.ts', ...onBuiltSite],
          // As the built site runs: otherwise its islands are rendered by React's slow development build.
          env: { NODE_ENV: 'production' },
          globalSetup: ['tests/world/contract-setup.ts'],
          testTimeout: 360_000,
          hookTimeout: 360_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'plugin',
          include: ['wordpress/newsroom/tests/**/*.test.ts'],
          testTimeout: 360_000,
          hookTimeout: 360_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'fault',
          include: ['tests/fault/**/*.test.ts'],
          globalSetup: ['tests/world/shared-databases.ts'],
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
