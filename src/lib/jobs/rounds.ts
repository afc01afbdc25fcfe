/** Regular rounds of a service that counts in memory and writes to the database. */
import { createFailureLog, type Logger } from '../logging.ts';
import { oneAtATime, type RepeatedTask, repeat } from './tasks.ts';

export interface RoundsOptions {
  /** Milliseconds between the starts of two rounds. */
  readonly everyMs: number;
  /** If it fails, the next round tries again. */
  readonly work: () => Promise<void>;
  /** Whether something waits to be written. */
  readonly hasWork: () => boolean;
  readonly log: Pick<Logger, 'warn' | 'info'>;
  /** Logged when rounds begin to fail. */
  readonly failing: string;
  /** Logged when they succeed again. */
  readonly again: string;
}

export interface Rounds {
  /** One round now, or once more after the current one. Failures are logged. */
  runRound(): Promise<void>;
  start(): void;
  /** Writes what waits, and stops. */
  stop(): Promise<void>;
}

export function createRounds({ everyMs, work, hasWork, log, failing, again }: RoundsOptions): Rounds {
  const failures = createFailureLog(log, again);
  const runRound = oneAtATime(async () => {
    try {
      await work();
      failures.worked();
    } catch (error) {
      failures.failed({ err: error }, failing);
    }
  });
  let repeated: RepeatedTask | undefined;
  return {
    runRound,
    start() {
      repeated ??= repeat(everyMs, runRound);
      void runRound();
    },
    async stop() {
      await repeated?.stop();
      if (hasWork()) await runRound();
    },
  };
}
