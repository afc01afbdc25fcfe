import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { runs } from './tests/world/runs.ts';

/** These take longest: they begin first, so that no core waits for one of them at the end. */
const longest = [
  ...['sandbox/wordpress/kept-data.test.ts', 'src/lib/billing/model.test.ts', 'src/lib/billing/engine/coupons.test.ts'],
  ...['tests/fault/two-builds.test.ts', 'tests/fault/press-restarts.test.ts', 'tests/fault/kill-site.test.ts'],
  ...['tests/fault/billing-crash.test.ts', 'tests/fault/clock.test.ts'],
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => longest.some((name) => moduleId.endsWith(name));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/**
 * Four projects: `unit` stands beside the code and touches nothing outside its process but temporary folders; `contract`
 * and `plugin` talk to the real WordPress of the sandbox, `fault` starts and kills processes.
 */
export default defineConfig({
  test: {
    // The paper's zone is New York, on every machine; a zone far from it shows code that uses the machine's.
    env: { TZ: 'Asia/Kolkata' },
    passWithNoTests: false,
    // Limits are for what hangs; how long something takes is a matter of the benches.
    testTimeout: runs(30_000, 3_600_000),
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    setupFiles: ['tests/world/patience.ts'],
    // Every core: by itself vitest leaves one free, which on two is half of the machine.
    maxWorkers: '100%',
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{src,sandbox,scripts,bench}/**/*.test.{ts,tsx}', 'tests/*.test.ts', 'tests/security/**/*.test.ts'],
          // It asks the built site.
          exclude: ['**/node_modules/**', 'tests/security/{accounts,paid-body,reader-tools}.test.ts'],
          globalSetup: ['tests/world/shared-databases.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'contract',
          include: ['tests/contract/**/*.test.ts', 'tests/security/{accounts,paid-body,reader-tools}.test.ts'],
          globalSetup: ['tests/world/contract-setup.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'plugin',
          include: ['wordpress/newsroom/tests/**/*.test.ts'],
          globalSetup: ['wordpress/newsroom/tests/harness.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'fault',
          include: ['tests/fault/**/*.test.ts'],
          globalSetup: ['tests/world/shared-databases.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
