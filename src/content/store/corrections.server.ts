/** Reads the notes on stories by date. */
import type { CorrectionMark } from '../../lib/content/model.ts';
import type { ContentStore } from './content-store.server.ts';

/**
 * The notes dated after `since`, up to `now`. A note with a future date counts from that date on, and hides no other note before.
 *
 * @param since UTC, `YYYY-MM-DDTHH:MM:SSZ`, as `now`
 * @returns the notes of each story, newest first
 */
export function readCorrectedSince(
  store: ContentStore,
  since: string,
  now: string,
): ReadonlyMap<number, readonly CorrectionMark[]> {
  const rows = store
    .prepare(
      `SELECT c.id, c.date, json_extract(d.facts, '$.corrections[' || c.place || '].kind') AS kind
      FROM corrections c JOIN documents d ON d.id = c.id
      WHERE c.date > ? AND c.date <= ? ORDER BY c.date DESC, c.id DESC, c.place`,
    )
    .all(since, now);
  const notes = new Map<number, CorrectionMark[]>();
  for (const { id, date, kind } of rows) {
    const note = { kind: kind as CorrectionMark['kind'], date: String(date) };
    const known = notes.get(Number(id));
    if (known) known.push(note);
    else notes.set(Number(id), [note]);
  }
  return notes;
}
