/**
 * Checkpoints of SQLite files in a thread of their own. Without it the commit that fills a write-ahead log carries all of it
 * over into the file, and waits for the disk: a tenth of a second in which nothing is rendered and nobody is answered.
 */
import { Worker } from 'node:worker_threads';
import type { Logger } from './logging.ts';

export interface Checkpoints {
  stop(): Promise<void>;
}

/**
 * Begins. The files need not be there yet; whoever writes them keeps a higher bound of its own (`wal_autocheckpoint`), in case
 * this falls behind.
 *
 * @param files paths of SQLite files with a write-ahead log
 */
export function keepCheckpointed(
  files: readonly string[],
  log: Logger,
  { everyMs = 500, leastBytes = 1024 * 1024 }: { readonly everyMs?: number; readonly leastBytes?: number } = {},
): Checkpoints {
  const worker = new Worker(new URL('./checkpoints.worker.ts', import.meta.url), {
    workerData: { files, everyMs, leastBytes },
    resourceLimits: { maxOldGenerationSizeMb: 32 },
  });
  worker.unref();
  const said = new Set<string>();
  worker.on('message', ({ file, problem }: { file: string; problem: string }) => {
    if (said.has(file)) return;
    said.add(file);
    log.warn({ file, problem }, 'A write-ahead log cannot be carried over by the side; its writer does it');
  });
  worker.on('error', (error) => {
    log.warn({ err: error }, 'The thread of the checkpoints has ended; the writers do them');
  });
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  return {
    stop: () => {
      // Whoever waits for its end must not run out of things to wait for.
      worker.ref();
      worker.postMessage('stop');
      return ended;
    },
  };
}
