/**
 * Objects in memory, and in a SQLite file when they are to outlive the process. What one call changed is written in one
 * transaction before it is answered, or taken back as a whole.
 */
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Kind, Kinds, Thing } from './model.ts';

export interface Change {
  readonly kind: Kind;
  readonly thing: Thing;
  /** As it was before; `null` when it is new. */
  readonly before: Thing | null;
  readonly removed: boolean;
}

export interface Store {
  find<K extends Kind>(kind: K, id: string): Kinds[K] | undefined;
  all<K extends Kind>(kind: K): IterableIterator<Kinds[K]>;
  count(kind: Kind): number;
  add<K extends Kind>(kind: K, thing: Kinds[K]): Kinds[K];
  /** Says that this object is changed, before or after changing it. */
  touch(thing: Thing): void;
  remove(kind: Kind, id: string): void;
  /** What has been changed and not been kept yet. */
  changes(): Change[];
  keep(): void;
  /** Writes what is kept within `work` to the file at once, when it is over. */
  together<T>(work: () => T): T;
  revert(): void;
  /** Remembers how things are; what it returns brings everything back to that, within the same transaction. */
  mark(): () => void;
  clear(): void;
  close(): void;
}

interface Row {
  readonly kind: Kind;
  readonly thing: Thing;
  /** JSON of what was kept last. */
  kept: string | null;
}

/** @param file where it is kept; without one nothing is */
export function openStore(file?: string): Store {
  const kinds = new Map<Kind, Map<string, Row>>();
  const rows = new Map<Thing, Row>();
  const changed = new Set<Row>();
  const gone = new Set<Row>();
  let last = 0;
  let batching = false;
  const database = file ? openFile(file) : null;
  const write = database?.prepare('insert or replace into things (kind, id, json) values (?, ?, ?)');
  const erase = database?.prepare('delete from things where kind = ? and id = ?');

  const of = (kind: Kind): Map<string, Row> => {
    const there = kinds.get(kind);
    if (there) return there;
    const made = new Map<string, Row>();
    kinds.set(kind, made);
    return made;
  };
  const restore = (thing: Thing, json: string) => {
    for (const field of Object.keys(thing)) delete thing[field];
    Object.assign(thing, JSON.parse(json));
  };
  const put = (row: Row) => {
    of(row.kind).set(row.thing.id, row);
    rows.set(row.thing, row);
  };
  for (const { kind, json } of database?.prepare('select kind, json from things order by rowid').all() ?? []) {
    const thing = JSON.parse(String(json)) as Thing;
    last = Math.max(last, thing._n ?? 0);
    put({ kind: kind as Kind, thing, kept: String(json) });
  }

  return {
    find: <K extends Kind>(kind: K, id: string) => of(kind).get(id)?.thing as Kinds[K] | undefined,
    *all<K extends Kind>(kind: K) {
      for (const { thing } of of(kind).values()) yield thing as Kinds[K];
    },
    count: (kind) => of(kind).size,
    add(kind, thing) {
      last += 1;
      thing._n = last;
      const row: Row = { kind, thing, kept: null };
      put(row);
      changed.add(row);
      return thing;
    },
    touch(thing) {
      const row = rows.get(thing);
      if (row) changed.add(row);
    },
    remove(kind, id) {
      const row = of(kind).get(id);
      if (!row) return;
      of(kind).delete(id);
      rows.delete(row.thing);
      changed.delete(row);
      gone.add(row);
    },
    changes: () => [
      ...[...changed].map(({ kind, thing, kept }) => ({
        kind,
        thing,
        removed: false,
        before: kept === null ? null : (JSON.parse(kept) as Thing),
      })),
      ...[...gone].map(({ kind, thing }) => ({ kind, thing, removed: true, before: thing })),
    ],
    keep() {
      if (changed.size + gone.size === 0) return;
      if (!batching) database?.exec('begin immediate');
      for (const row of gone) erase?.run(row.kind, row.thing.id);
      for (const row of changed) {
        const json = JSON.stringify(row.thing);
        if (json === row.kept) continue;
        row.kept = json;
        write?.run(row.kind, row.thing.id, json);
      }
      if (!batching) database?.exec('commit');
      changed.clear();
      gone.clear();
    },
    together(work) {
      if (batching) return work();
      batching = true;
      database?.exec('begin immediate');
      try {
        return work();
      } finally {
        batching = false;
        database?.exec('commit');
      }
    },
    revert() {
      for (const row of gone) if (row.kept !== null) put(row);
      for (const row of [...changed, ...gone]) {
        if (row.kept === null) {
          of(row.kind).delete(row.thing.id);
          rows.delete(row.thing);
          continue;
        }
        restore(row.thing, row.kept);
      }
      changed.clear();
      gone.clear();
    },
    mark() {
      const before = new Map([...changed].map((row) => [row, JSON.stringify(row.thing)]));
      const goneBefore = new Set(gone);
      return () => {
        for (const row of gone) if (!goneBefore.has(row)) put(row);
        for (const row of new Set([...changed, ...gone])) {
          if (goneBefore.has(row)) continue;
          const json = before.get(row) ?? row.kept;
          if (json !== null) restore(row.thing, json);
          else {
            of(row.kind).delete(row.thing.id);
            rows.delete(row.thing);
          }
        }
        changed.clear();
        for (const row of before.keys()) changed.add(row);
        gone.clear();
        for (const row of goneBefore) gone.add(row);
      };
    },
    clear() {
      kinds.clear();
      rows.clear();
      changed.clear();
      gone.clear();
      database?.exec('delete from things');
    },
    close: () => database?.close(),
  };
}

function openFile(file: string): DatabaseSync {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const database = new DatabaseSync(file);
  // A killed process loses nothing with this; only a machine that loses its power would.
  database.exec('pragma journal_mode = wal; pragma synchronous = normal');
  database.exec('create table if not exists things (kind text, id text, json text, primary key (kind, id))');
  return database;
}
