/**
 * Objects in memory, and in a SQLite file if they must outlive the process. The changes of one call are committed in one
 * transaction before the call is answered, or rolled back as a whole.
 */
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Kind, Kinds, StripeObject } from './model.ts';

export interface Change {
  readonly kind: Kind;
  readonly thing: StripeObject;
  /** The object before the change; `null` when it is new. */
  readonly before: StripeObject | null;
  readonly removed: boolean;
}

export interface Store {
  find<K extends Kind>(kind: K, id: string): Kinds[K] | undefined;
  all<K extends Kind>(kind: K): IterableIterator<Kinds[K]>;
  count(kind: Kind): number;
  add<K extends Kind>(kind: K, thing: Kinds[K]): Kinds[K];
  /** Marks this object as changed, before or after changing it. */
  touch(thing: StripeObject): void;
  remove(kind: Kind, id: string): void;
  /** What has changed since the last commit. */
  changes(): Change[];
  commit(): void;
  /** Writes all commits within `work` to the file in one transaction. */
  batch<T>(work: () => T): T;
  rollback(): void;
  /** @returns a function that restores the present state, within the same transaction */
  savepoint(): () => void;
  clear(): void;
  close(): void;
}

interface Row {
  readonly kind: Kind;
  readonly thing: StripeObject;
  /** JSON as committed last; `null` before the first commit. */
  committed: string | null;
}

interface File {
  readonly database: DatabaseSync;
  readonly write: StatementSync;
  readonly erase: StatementSync;
}

interface State {
  readonly kinds: Map<Kind, Map<string, Row>>;
  readonly rows: Map<StripeObject, Row>;
  readonly changed: Set<Row>;
  readonly removed: Set<Row>;
  readonly file: File | null;
  /** Number of the last object. */
  last: number;
  batching: boolean;
}

/** @param file where the objects are stored; without one they stay in memory */
export function openStore(file?: string): Store {
  const state: State = {
    kinds: new Map(),
    rows: new Map(),
    changed: new Set(),
    removed: new Set(),
    file: file ? openFile(file) : null,
    last: 0,
    batching: false,
  };
  load(state);
  return {
    find: <K extends Kind>(kind: K, id: string) => rowsOf(state, kind).get(id)?.thing as Kinds[K] | undefined,
    *all<K extends Kind>(kind: K) {
      for (const { thing } of rowsOf(state, kind).values()) yield thing as Kinds[K];
    },
    count: (kind) => rowsOf(state, kind).size,
    add: (kind, thing) => add(state, kind, thing),
    touch(thing) {
      const row = state.rows.get(thing);
      if (row) state.changed.add(row);
    },
    remove: (kind, id) => remove(state, kind, id),
    changes: () => changesOf(state),
    commit: () => commit(state),
    batch: (work) => batch(state, work),
    rollback: () => rollback(state),
    savepoint: () => savepoint(state),
    clear() {
      for (const rows of [state.kinds, state.rows, state.changed, state.removed]) rows.clear();
      state.file?.database.exec('delete from things');
    },
    close: () => state.file?.database.close(),
  };
}

function openFile(file: string): File {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const database = new DatabaseSync(file);
  // With `normal`, a killed process loses nothing; a power failure may lose the last commits.
  database.exec('pragma journal_mode = wal; pragma synchronous = normal');
  database.exec('create table if not exists things (kind text, id text, json text, primary key (kind, id))');
  return {
    database,
    write: database.prepare('insert or replace into things (kind, id, json) values (?, ?, ?)'),
    erase: database.prepare('delete from things where kind = ? and id = ?'),
  };
}

function load(state: State): void {
  for (const { kind, json } of state.file?.database.prepare('select kind, json from things order by rowid').all() ??
    []) {
    const thing = JSON.parse(String(json)) as StripeObject;
    state.last = Math.max(state.last, thing._n ?? 0);
    addRow(state, { kind: kind as Kind, thing, committed: String(json) });
  }
}

function rowsOf({ kinds }: State, kind: Kind): Map<string, Row> {
  const present = kinds.get(kind);
  if (present) return present;
  const rows = new Map<string, Row>();
  kinds.set(kind, rows);
  return rows;
}

function addRow(state: State, row: Row): void {
  rowsOf(state, row.kind).set(row.thing.id, row);
  state.rows.set(row.thing, row);
}

function removeRow(state: State, row: Row): void {
  rowsOf(state, row.kind).delete(row.thing.id);
  state.rows.delete(row.thing);
}

/** Other objects refer to this one, so its fields are replaced, not the object itself. */
function restore(thing: StripeObject, json: string): void {
  for (const field of Object.keys(thing)) delete thing[field];
  Object.assign(thing, JSON.parse(json));
}

function add<K extends Kind>(state: State, kind: K, thing: Kinds[K]): Kinds[K] {
  state.last += 1;
  thing._n = state.last;
  const row: Row = { kind, thing, committed: null };
  addRow(state, row);
  state.changed.add(row);
  return thing;
}

function remove(state: State, kind: Kind, id: string): void {
  const row = rowsOf(state, kind).get(id);
  if (!row) return;
  removeRow(state, row);
  state.changed.delete(row);
  state.removed.add(row);
}

function changesOf({ changed, removed }: State): Change[] {
  return [
    ...[...changed].map(({ kind, thing, committed }) => ({
      kind,
      thing,
      removed: false,
      before: committed === null ? null : (JSON.parse(committed) as StripeObject),
    })),
    ...[...removed].map(({ kind, thing }) => ({ kind, thing, removed: true, before: thing })),
  ];
}

function commit({ changed, removed, file, batching }: State): void {
  if (changed.size + removed.size === 0) return;
  if (!batching) file?.database.exec('begin immediate');
  for (const row of removed) file?.erase.run(row.kind, row.thing.id);
  for (const row of changed) {
    const json = JSON.stringify(row.thing);
    if (json === row.committed) continue;
    row.committed = json;
    file?.write.run(row.kind, row.thing.id, json);
  }
  if (!batching) file?.database.exec('commit');
  changed.clear();
  removed.clear();
}

function batch<T>(state: State, work: () => T): T {
  if (state.batching) return work();
  state.batching = true;
  state.file?.database.exec('begin immediate');
  try {
    return work();
  } finally {
    state.batching = false;
    state.file?.database.exec('commit');
  }
}

function rollback(state: State): void {
  const { changed, removed } = state;
  for (const row of removed) if (row.committed !== null) addRow(state, row);
  for (const row of [...changed, ...removed]) {
    if (row.committed === null) removeRow(state, row);
    else restore(row.thing, row.committed);
  }
  changed.clear();
  removed.clear();
}

function savepoint(state: State): () => void {
  const { changed, removed } = state;
  const changedBefore = new Map([...changed].map((row) => [row, JSON.stringify(row.thing)]));
  const removedBefore = new Set(removed);
  return () => {
    for (const row of removed) if (!removedBefore.has(row)) addRow(state, row);
    for (const row of new Set([...changed, ...removed])) {
      if (removedBefore.has(row)) continue;
      const json = changedBefore.get(row) ?? row.committed;
      if (json === null) removeRow(state, row);
      else restore(row.thing, json);
    }
    changed.clear();
    for (const row of changedBefore.keys()) changed.add(row);
    removed.clear();
    for (const row of removedBefore) removed.add(row);
  };
}
