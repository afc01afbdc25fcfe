/** The thread that copies write-ahead logs into their files; `checkpoints.server.ts` starts it. */
import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { CheckpointProblem, CheckpointTask } from './checkpoints.server.ts';
import { serveTasks } from './pool.server.ts';

/** For each file whose log was copied whole: when the log was last written to. */
const copiedLogs = new Map<string, number>();
/** Milliseconds within which two writes may leave the same file time, on file systems with coarse timestamps. */
const fileTimeStepMs = 2000;

function checkpoint(file: string, leastBytes: number): void {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  if (!log || log.size < leastBytes || copiedLogs.get(file) === log.mtimeMs) return;
  const inode = inodeOf(file);
  if (inode === undefined) return;
  // Opened again each time: after a damaged file was set aside, a new file has the same name.
  const address = pathToFileURL(file);
  // Never creates a file: after one was set aside, only its owner creates the new one.
  address.searchParams.set('mode', 'rw');
  const db = new DatabaseSync(address);
  try {
    // SQLite finds the log by its name: if the file was set aside just now, its successor's log would be copied into it.
    if (inodeOf(file) !== inode) return;
    // Opens the log.
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
    if (inodeOf(file) !== inode) return;
    const result = db.prepare('PRAGMA wal_checkpoint(PASSIVE)').get();
    if (result?.log === result?.checkpointed && Date.now() - log.mtimeMs > fileTimeStepMs)
      copiedLogs.set(file, log.mtimeMs);
  } finally {
    db.close();
  }
}

const inodeOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.ino;

serveTasks(({ files, leastBytes }: CheckpointTask): CheckpointProblem[] =>
  files.flatMap((file) => {
    try {
      checkpoint(file, leastBytes);
      return [];
    } catch (error) {
      return [{ file, problem: String(error) }];
    }
  }),
);
