/** Rows that a feature stores for a limited time. Each feature declares them; `src/server/old-rows.ts` deletes those of all features. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { AccountsDatabase, Queries } from '../database.ts';

/** Deletes rows that are too old. @param most rows of this step, so that no request waits long */
type DeleteStep = (most: number) => Promise<{ readonly numDeletedRows: bigint }>;

/** One entry for each kind of rows. */
export type OldRows = readonly DeleteStep[];

/**
 * Deletes the rows of a table whose column is at or before a time.
 *
 * @param key the columns that name a row
 * @param until as the column stores it
 */
export const rowsUntil =
  <Table extends keyof AccountsDatabase>(
    db: Queries,
    table: Table,
    key: readonly (keyof AccountsDatabase[Table] & string)[],
    column: keyof AccountsDatabase[Table] & string,
    until: () => number | string,
  ): DeleteStep =>
  async (most) => {
    const columns = sql.join(key.map((name) => sql.ref(name)));
    const isOld = sql`${sql.ref(column)} <= ${until()}`;
    // Checked again: a row may have been written anew since it was selected.
    const { numAffectedRows = 0n } = await sql`delete from ${sql.table(table)} where ${isOld}
      and (${columns}) in (select ${columns} from ${sql.table(table)} where ${isOld} limit ${most})`.execute(db);
    return { numDeletedRows: numAffectedRows };
  };

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
