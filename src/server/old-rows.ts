/** Deletes the old rows of all features. */
import { deleteOldRows, type OldRows } from '../lib/jobs/old-rows.ts';
import { type RepeatedTask, repeat } from '../lib/jobs/tasks.ts';
import type { Logger } from '../lib/logging.ts';

/** Old rows by the name of their feature. */
export type OldRowsList = Readonly<Record<string, OldRows>>;

const everyMs = 10 * 60 * 1000;

/** Deletes old rows every ten minutes until it is stopped. A feature whose rows can't be deleted doesn't keep those of others. */
export const startPruning = (list: OldRowsList, log: Logger): RepeatedTask =>
  repeat(everyMs, async (signal) => {
    for (const [feature, oldRows] of Object.entries(list)) {
      try {
        const rows = await deleteOldRows(oldRows, () => !signal.aborted);
        if (rows > 0) log.debug({ feature, rows }, 'Old rows were deleted');
      } catch (error) {
        log.warn({ err: error, feature }, "Old rows couldn't be deleted; the next run tries again");
      }
    }
  });
