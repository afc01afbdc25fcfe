/** The SQLite side of a move: the tables, their order, and their rows in batches. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { asText, createTableHash, type kindOf, type TableHash } from './row-hash.ts';
import { quoted, tablesOf } from './sqlite-file.ts';

export interface Column {
  readonly name: string;
  readonly kind: ReturnType<typeof kindOf>;
  /** PostgreSQL's type. */
  readonly type: string;
}

export type Row = (string | null)[];

/** A table with the columns of the target. */
export interface MovedTable {
  readonly name: string;
  readonly columns: readonly Column[];
}

/** Tables that don't move, with the reason. */
export const skippedTables: Readonly<Record<string, string>> = {
  migrations: 'the target has its own list, and both are compared before the move',
  limits: 'counters of rate limits end within an hour',
};

/** Tables that move, each after the tables that it refers to. @throws Error for tables that refer to each other */
export function tablesInOrder(source: DatabaseSync): string[] {
  const waiting = new Map(
    tablesOf(source)
      .filter((table) => !(table in skippedTables))
      .map((table) => {
        const keys = source.prepare(`select distinct "table" as parent from pragma_foreign_key_list(?)`).all(table);
        return [table, keys.map(({ parent }) => String(parent)).filter((parent) => parent !== table)] as const;
      }),
  );
  const ordered: string[] = [];
  while (waiting.size > 0) {
    const ready = [...waiting].filter(([, parents]) => parents.every((parent) => !waiting.has(parent)));
    if (ready.length === 0) throw new Error(`Tables refer to each other: ${[...waiting.keys()].join(', ')}.`);
    for (const [table] of ready) {
      ordered.push(table);
      waiting.delete(table);
    }
  }
  return ordered;
}

export const columnsOf = (source: DatabaseSync, table: string): string[] =>
  source
    .prepare('select name from pragma_table_info(?) order by cid')
    .all(table)
    .map(({ name }) => String(name));

/** Columns of the primary key; without one, SQLite's row number. */
function keyOf(source: DatabaseSync, table: string): string[] {
  const rows = source.prepare('select name from pragma_table_info(?) where pk > 0 order by pk').all(table);
  return rows.length > 0 ? rows.map(({ name }) => String(name)) : ['rowid'];
}

/** Where a batch ended: values of the key, and which of them are numbers. */
type Key = readonly { readonly value: string; readonly isInteger: boolean }[];

export interface Batch {
  readonly rows: readonly Row[];
  /** Where the next batch begins; JSON. */
  readonly last: string;
}

/** The next rows in the order of the primary key. @param after `last` of the batch before @returns `null` at the end */
export function nextBatch(source: DatabaseSync, table: MovedTable, after: string | null, size: number): Batch | null {
  const key = keyOf(source, table.name);
  const columns = table.columns.map(({ name }) => quoted(name));
  const keyList = key.map(quoted).join(', ');
  const where = after === null ? '' : `where (${keyList}) > (${key.map(() => '?').join(', ')})`;
  const keys = key.map((name, at) => `${quoted(name)} as "key ${at}"`);
  const statement = source.prepare(
    `select ${[...columns, ...keys].join(', ')} from ${quoted(table.name)} ${where} order by ${keyList} limit ${size}`,
  );
  statement.setReadBigInts(true);
  const from = after === null ? [] : (JSON.parse(after) as Key);
  const found = statement.all(
    ...from.map(({ value, isInteger }): SQLInputValue => (isInteger ? BigInt(value) : value)),
  );
  const last = found.at(-1);
  if (!last) return null;
  const ended: Key = key.map((_, at) => {
    const value = last[`key ${at}`];
    return { value: String(value), isInteger: typeof value === 'bigint' };
  });
  return { rows: found.map((row) => texts(row, table)), last: JSON.stringify(ended) };
}

const texts = (row: Record<string, unknown>, { columns }: MovedTable): Row =>
  columns.map(({ name, kind }) => asText(row[name], kind));

export function hashSource(source: DatabaseSync, table: MovedTable): TableHash {
  const statement = source.prepare(
    `select ${table.columns.map(({ name }) => quoted(name)).join(', ')} from ${quoted(table.name)}`,
  );
  statement.setReadBigInts(true);
  const hash = createTableHash(table.columns.map(({ kind }) => kind));
  for (const row of statement.iterate()) hash.add(texts(row, table));
  return hash.result();
}
