/**
 * Changes in the page store: records them, compares pages with them, and marks pages. All functions run inside `StoreFile.use` or
 * `write`.
 */
import {
  decayedReads,
  dropRow,
  isOutdated,
  namespaceOf,
  rememberChangesMs,
  type StoreState,
  unique,
} from './page-rows.server.ts';
import type { Affected, Change, PageRef, Variant } from './stored-page.ts';

/** Tolerance for clocks: after a clock was set back, pages may have a time in the future. */
const clockSlipMs = 60_000;

/** Whether a page that is rendered on demand still shows the latest state. */
export function isCurrent(state: StoreState, asOf: number, tags: string, renderedAt: number): boolean {
  const age = state.now() - renderedAt;
  return age <= rememberChangesMs && age >= -clockSlipMs && !isOutdated(state, tags, asOf);
}

/** Whether this build's own rendering is stored, and is current. */
export function hasCurrent(state: StoreState, { key, variant }: PageRef): boolean {
  const row = state.file
    .sql(`SELECT as_of AS asOf, tags, rendered_at AS renderedAt FROM pages WHERE key = ? AND variant = ? AND ns = ?`)
    .get(key, variant, namespaceOf(state));
  if (!row || row.asOf === null) return row !== undefined;
  return isCurrent(state, Number(row.asOf), String(row.tags), Number(row.renderedAt));
}

/** Records a change, removes withdrawn pages and marks affected ones. @param floor the change's number is above it */
export function recordChange(
  state: StoreState,
  tags: readonly string[],
  withdrawn: readonly string[],
  everything: boolean,
  floor: number,
): Change {
  const { sql } = state.file;
  namespaceOf(state);
  const next = sql("UPDATE meta SET value = max(value, ?) + 1 WHERE name = 'seq' RETURNING value").get(floor);
  const seq = Number(next?.value);
  state.lastChange = seq;
  const at = state.now();
  const record = sql('INSERT OR REPLACE INTO changes (tag, seq, at) VALUES (?, ?, ?)');
  for (const tag of [...tags, ...withdrawn]) record.run(tag, seq, at);
  if (withdrawn.length > 0) sql("UPDATE meta SET value = ? WHERE name = 'withdrawn'").run(seq);
  if (everything) record.run('', seq, at);
  sql('DELETE FROM changes WHERE at < ?').run(at - rememberChangesMs);
  const gone = sql(`SELECT DISTINCT p.id, p.key, p.variant FROM tags t JOIN page_tags x ON x.tag = t.id
    JOIN pages p ON p.id = x.page WHERE t.name IN (SELECT value FROM json_each(?))`).all(JSON.stringify(withdrawn));
  for (const row of gone) dropRow(state, Number(row.id));
  if (everything) {
    sql('INSERT OR REPLACE INTO stale (page, seq, since) SELECT id, ?, ? FROM pages WHERE as_of IS NULL').run(seq, at);
  } else {
    sql(`INSERT OR REPLACE INTO stale (page, seq, since) SELECT DISTINCT x.page, ?, ? FROM tags t
      JOIN page_tags x ON x.tag = t.id WHERE t.name IN (SELECT value FROM json_each(?))`).run(
      seq,
      at,
      JSON.stringify(tags),
    );
  }
  return { seq, withdrawn: unique(gone), affected: markedPages(state, seq) };
}

/** Marks single pages, whatever their tags. */
export function markPages({ file, now }: StoreState, refs: readonly PageRef[], seq: number): void {
  const mark = file.sql(
    'INSERT OR REPLACE INTO stale (page, seq, since) SELECT id, ?, ? FROM pages WHERE key = ? AND variant = ?',
  );
  for (const { key, variant } of refs) mark.run(seq, now(), key, variant);
}

/** Marked pages of this build and of the one before it. @param seq only pages of this change; 0: all */
export function markedPages(state: StoreState, seq: number): Affected[] {
  const namespace = namespaceOf(state);
  const rows = state.file
    .sql(`SELECT p.key, p.variant, max(coalesce(r.score, 0)) AS score, max(coalesce(r.at, 0)) AS at
      FROM stale s JOIN pages p ON p.id = s.page LEFT JOIN reads r ON r.key = p.key AND r.variant = p.variant
      WHERE (s.seq = ? OR ? = 0) AND p.ns IN (?, ?) GROUP BY p.key, p.variant`)
    .all(seq, seq, namespace, state.previousNamespace ?? namespace);
  const at = state.now();
  return rows.map((row) => ({
    key: String(row.key),
    variant: row.variant as Variant,
    reads: decayedReads(Number(row.score), Number(row.at), at),
  }));
}

/** Pages that have one of the tags. */
export function pagesWith(
  { file }: StoreState,
  tags: readonly string[],
  everything: boolean,
): (Affected & { readonly tags: readonly string[] })[] {
  const rows = everything
    ? file.sql('SELECT key, variant, tags FROM pages WHERE as_of IS NULL').all()
    : file
        .sql(`SELECT DISTINCT p.key, p.variant, p.tags FROM tags t JOIN page_tags x ON x.tag = t.id
          JOIN pages p ON p.id = x.page WHERE t.name IN (SELECT value FROM json_each(?))`)
        .all(JSON.stringify(tags));
  return rows.map((row) => ({
    key: String(row.key),
    variant: row.variant as Variant,
    reads: 0,
    tags: JSON.parse(String(row.tags)) as string[],
  }));
}
