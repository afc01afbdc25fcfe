/** Rows that a feature stores for a limited time. Each feature declares them; `src/server/old-rows.ts` deletes those of all features. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Deletes rows that are too old. @param most rows of this step, so that no request waits long */
type DeleteStep = (most: number) => Promise<{ readonly numDeletedRows: bigint }>;

/** One entry for each kind of rows. */
export type OldRows = readonly DeleteStep[];

/** Rows of one step. */
const most = 500;

/**
 * Deletes all old rows in steps, each a short write.
 *
 * @param mayContinue asked before each step
 * @returns number of rows
 */
export async function deleteOldRows(oldRows: OldRows, mayContinue: () => boolean = () => true): Promise<number> {
  let deleted = 0;
  for (const deleteStep of oldRows) {
    for (let more = true; more && mayContinue(); ) {
      const removed = Number((await deleteStep(most)).numDeletedRows);
      deleted += removed;
      more = removed === most;
      await nextTurn();
    }
  }
  return deleted;
}
