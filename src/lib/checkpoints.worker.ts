/** The thread of checkpoints.server.ts: carries write-ahead logs over into their files, one after another. */
import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';

const { files, everyMs, leastBytes } = workerData as { files: string[]; everyMs: number; leastBytes: number };
/** When each log was last written to and carried over whole. */
const done = new Map<string, number>();
/** Milliseconds in which a file may be written to twice and bear the same time, on the coarsest file systems. */
const clockStep = 2000;

function carryOver(file: string): void {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  if (!log || log.size < leastBytes || done.get(file) === log.mtimeMs) return;
  // Opened anew each time: a file that was set aside as damaged and begun again has the same name.
  const address = pathToFileURL(file);
  // Never made: a file that has just been set aside is its owner's to begin anew.
  address.searchParams.set('mode', 'rw');
  const db = new DatabaseSync(address);
  try {
    const result = db.prepare('PRAGMA wal_checkpoint(PASSIVE)').get();
    if (result?.log === result?.checkpointed && Date.now() - log.mtimeMs > clockStep) done.set(file, log.mtimeMs);
  } finally {
    db.close();
  }
}

function round(): void {
  for (const file of files) {
    try {
      carryOver(file);
    } catch (error) {
      parentPort?.postMessage({ file, problem: String(error) });
    }
  }
}

const timer = setInterval(round, everyMs);
parentPort?.once('message', () => {
  clearInterval(timer);
  parentPort?.close();
});
