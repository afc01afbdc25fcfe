/** Which test files of the unit tests share a worker's process, and the order in which files start. */
import { readFileSync } from 'node:fs';
import {
  BaseSequencer,
  ForksPoolWorker,
  type PoolOptions,
  type PoolWorker,
  type TestSpecification,
  type WorkerRequest,
} from 'vitest/node';

/**
 * What may outlive a test file: documents, mocks, clocks, variables, servers, processes, threads, databases and the fixtures that start
 * them.
 */
const leavesSomethingBehind =
  /jsdom|\bvi\b|process\b|Worker|[sS]erver|listen|spawn|fetch\b|globalThis|world\/|fixtures\/|\bmsw\b|sandbox|setTimeout|setInterval|await import|beforeAll|afterAll|beforeEach|afterEach/;
const known = new Map<string, boolean>();

/** Whether a test file only calls what it imports, so that it leaves nothing behind. */
function isPlain(file: string): boolean {
  let plain = known.get(file);
  if (plain === undefined) {
    plain = !leavesSomethingBehind.test(readFileSync(file, 'utf8'));
    known.set(file, plain);
  }
  return plain;
}

/**
 * Runs plain files one after another in one process, which saves its start for each of them, and every other file in a separate process.
 */
class SharedWorker extends ForksPoolWorker {
  override readonly name = 'shared forks';
  #plain = false;

  override send(message: WorkerRequest): void {
    if (message.type === 'run') this.#plain = message.context.files.every(({ filepath }) => isPlain(filepath));
    super.send(message);
  }

  canReuse(task: Parameters<NonNullable<PoolWorker['canReuse']>>[0]): boolean {
    return this.#plain && task.context.files.every(({ filepath }) => isPlain(filepath));
  }
}

export const sharedPool = {
  name: 'shared forks',
  createPoolWorker: (options: PoolOptions): PoolWorker => new SharedWorker(options),
};

/** The files that take longest: they start first, so that no core waits for one of them at the end. */
const longest = [
  ...['sandbox/wordpress/kept-data.test.ts', 'src/lib/billing/model.test.ts', 'src/lib/billing/engine/coupons.test.ts'],
  ...['tests/fault/two-builds.test.ts', 'tests/fault/press-restarts.test.ts', 'tests/fault/kill-site.test.ts'],
  ...['tests/fault/billing-crash.test.ts', 'tests/fault/clock.test.ts'],
  // content-wordpress starts the WordPress with an edition for which others wait.
  ...['tests/contract/content-wordpress.test.ts', 'tests/security/paid-body.test.ts'],
  ...['tests/security/paid-body-access.test.ts', 'tests/security/reader-tools.test.ts'],
];

/** The longest files first, plain ones last: a process is reused only if the next file is plain, too. */
export class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number => {
      if (longest.some((name) => moduleId.endsWith(name))) return 0;
      return isPlain(moduleId) ? 2 : 1;
    };
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
