/**
 * Checkpoints of SQLite files in a worker thread. Otherwise the commit that fills a write-ahead log copies the whole log into
 * the file and waits for the disk: for a tenth of a second nothing would be rendered and no request answered.
 */
import { repeat } from '../jobs/tasks.ts';
import type { Logger } from '../logging.ts';
import { createWorkerPool, PoolClosed, ThreadLost } from './pool.server.ts';

export interface Checkpoints {
  stop(): Promise<void>;
}

export interface CheckpointTask {
  /** Paths of SQLite files. */
  readonly files: readonly string[];
  /** A smaller write-ahead log isn't checkpointed. */
  readonly leastBytes: number;
}

export interface CheckpointProblem {
  readonly file: string;
  readonly problem: string;
}

/**
 * Starts checkpointing at regular intervals. The files need not exist yet; their writers have a higher limit of their own
 * (`wal_autocheckpoint`) in case this falls behind.
 *
 * @param files paths of SQLite files with a write-ahead log
 */
export function keepCheckpointed(
  files: readonly string[],
  log: Logger,
  { everyMs = 500, leastBytes = 1024 * 1024 }: { readonly everyMs?: number; readonly leastBytes?: number } = {},
): Checkpoints {
  const pool = createWorkerPool<CheckpointTask, readonly CheckpointProblem[]>({
    name: 'checkpoints',
    module: new URL('./checkpoints.worker.ts', import.meta.url),
    resourceLimits: { maxOldGenerationSizeMb: 32 },
    // Without a thread the writers checkpoint at their own bound.
    runLocally: () => [],
    log,
  });
  const logged = new Set<string>();

  async function checkpoint(): Promise<void> {
    try {
      for (const { file, problem } of await pool.run({ files, leastBytes })) {
        if (logged.has(file)) continue;
        logged.add(file);
        log.warn({ file, problem }, "A write-ahead log can't be checkpointed in the background; its writer does it");
      }
    } catch (error) {
      // The pool logs a lost thread and starts another one with the next round.
      if (!(error instanceof PoolClosed || error instanceof ThreadLost)) throw error;
    }
  }

  const repeated = repeat(everyMs, checkpoint, (error) =>
    log.error({ err: error }, "Write-ahead logs couldn't be checkpointed"),
  );
  return {
    async stop() {
      await repeated.stop();
      await pool.close();
    },
  };
}
