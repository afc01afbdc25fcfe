/** Single values that billing stores under a key (`billing_notes`). Times are epoch milliseconds. */
import type { Queries } from '../../database.ts';

export async function findNote(db: Queries, key: string): Promise<{ value: string; at: number } | null> {
  const row = await db.selectFrom('billing_notes').selectAll().where('key', '=', key).executeTakeFirst();
  return row ? { value: row.value, at: Number(row.at) } : null;
}

/** Stores a note, replacing an earlier one. */
export async function storeNote(db: Queries, key: string, value: string, at: number): Promise<void> {
  await db
    .insertInto('billing_notes')
    .values({ key, value, at })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value, at }))
    .execute();
}

/** Stores a note unless there is one. @returns whether it is new */
export async function addNote(db: Queries, key: string, value: string, at: number): Promise<boolean> {
  const made = await db
    .insertInto('billing_notes')
    .values({ key, value, at })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .returning('key')
    .executeTakeFirst();
  return made !== undefined;
}

export async function deleteNote(db: Queries, key: string): Promise<void> {
  await db.deleteFrom('billing_notes').where('key', '=', key).execute();
}

/** Deletes notes whose keys have this prefix and that were stored before a time. */
export async function pruneNotes(db: Queries, prefix: string, before: number): Promise<void> {
  await db.deleteFrom('billing_notes').where('key', 'like', `${prefix}%`).where('at', '<', before).execute();
}
