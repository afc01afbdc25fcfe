/** The PostgreSQL side of a move: the tables' columns, the progress, and the rows. */
import type pg from 'pg';
import type { Batch, Column, MovedTable, Row } from './move-source.ts';
import { inTransaction } from './postgres-connection.ts';
import { createTableHash, kindOf, type TableHash } from './row-hash.ts';
import { quoted } from './sqlite-file.ts';

/** Table in the target that records the progress. It stays, so that a second move is refused; the operator may drop it. */
export const progressTable = 'accounts_move';
/** The row of the progress table about the whole move: `last` is the origin, and `rows` the time at which it finished. */
const wholeMove = '';

/** Columns of a table of the site's schema; none when there is no such table. */
export async function targetColumns(client: pg.Client, table: string): Promise<Column[]> {
  const { rows } = await client.query<{ name: string; type: string }>(
    `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
     where attrelid = to_regclass(quote_ident(current_schema()) || '.' || quote_ident($1))
       and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
    [table],
  );
  return rows.map(({ name, type }) => ({ name, type, kind: kindOf(type) }));
}

export interface Move {
  /** Hash of all source rows, which identifies the rows that the target has copies of. */
  readonly origin: string;
  /** Epoch milliseconds; `null`: not finished. */
  readonly finished: number | null;
}

/** The move that was started here; `null` if there was none. */
export async function readMove(client: pg.Client): Promise<Move | null> {
  const { rows } = await client.query<{ found: string | null }>(`select to_regclass('${progressTable}') as found`);
  if (!rows[0]?.found) return null;
  const began = await client.query<{ last: string; rows: string; done: boolean }>(
    `select last, rows, done from ${progressTable} where table_name = $1`,
    [wholeMove],
  );
  const [row] = began.rows;
  return row ? { origin: row.last, finished: row.done ? Number(row.rows) : null } : null;
}

export async function beginMove(client: pg.Client, origin: string): Promise<void> {
  await inTransaction(client, async () => {
    await client.query(
      `create table if not exists ${progressTable}
       (table_name text primary key, last text, rows bigint not null, done boolean not null)`,
    );
    await client.query(`insert into ${progressTable} (table_name, last, rows, done) values ($1, $2, 0, false)`, [
      wholeMove,
      origin,
    ]);
  });
}

export const finishMove = async (client: pg.Client, now: number): Promise<void> =>
  void (await client.query(`update ${progressTable} set done = true, rows = $2 where table_name = $1`, [
    wholeMove,
    now,
  ]));

/** Deletes everything that a move has written. @param tables in the order in which they were filled */
export async function emptyTarget(client: pg.Client, tables: readonly MovedTable[]): Promise<void> {
  await inTransaction(client, async () => {
    for (const { name } of tables.toReversed()) await client.query(`delete from ${quoted(name)}`);
    await client.query(`drop table ${progressTable}`);
  });
}

export interface TableProgress {
  /** Where the next batch begins; `null`: at the first row. */
  readonly last: string | null;
  readonly rows: number;
  readonly done: boolean;
}

export async function readProgress(client: pg.Client, { name }: MovedTable): Promise<TableProgress> {
  const { rows } = await client.query<{ last: string | null; rows: string; done: boolean }>(
    `select last, rows, done from ${progressTable} where table_name = $1`,
    [name],
  );
  const [row] = rows;
  return row ? { last: row.last, rows: Number(row.rows), done: row.done } : { last: null, rows: 0, done: false };
}

/** Writes a batch and the progress in one transaction. @param batch `null`: the table is done */
export async function writeBatch(client: pg.Client, table: MovedTable, batch: Batch | null): Promise<void> {
  await inTransaction(client, async () => {
    if (batch) await insert(client, table, batch.rows);
    await client.query(
      `insert into ${progressTable} as p (table_name, last, rows, done) values ($1, $2, $3, $4)
       on conflict (table_name) do update
       set last = coalesce(excluded.last, p.last), rows = p.rows + excluded.rows, done = excluded.done`,
      [table.name, batch?.last ?? null, batch?.rows.length ?? 0, batch === null],
    );
  });
}

/** One parameter for each column, whatever the number of rows; PostgreSQL reads each value from its text. */
async function insert(client: pg.Client, { name, columns }: MovedTable, rows: readonly Row[]): Promise<void> {
  const names = columns.map((column) => quoted(column.name)).join(', ');
  const values = columns.map(({ type }, at) => `c${at}::${type}`).join(', ');
  const parameters = columns.map((_, at) => `$${at + 1}::text[]`).join(', ');
  try {
    await client.query(
      `insert into ${quoted(name)} (${names}) overriding system value
       select ${values} from unnest(${parameters}) as r(${columns.map((_, at) => `c${at}`).join(', ')})`,
      columns.map((_, at) => rows.map((row) => row[at] ?? null)),
    );
  } catch (error) {
    // Classes 22 and 23: a value that PostgreSQL refuses, such as text with a NUL character.
    if (!/^2[23]/.test(String((error as { code?: string }).code))) throw error;
    throw new Error(`PostgreSQL refuses a row of ${name}: ${(error as Error).message}. Correct it in SQLite.`, {
      cause: error,
    });
  }
}

/** Lets the target's sequences and identity columns go on after the highest moved number. */
export async function setSequences(client: pg.Client, tables: readonly MovedTable[]): Promise<void> {
  for (const { name, columns } of tables) {
    for (const column of columns.filter(({ kind }) => kind === 'integer')) {
      const found = await client.query<{ sequence: string | null }>(
        'select pg_get_serial_sequence($1, $2) as sequence',
        [quoted(name), column.name],
      );
      const sequence = found.rows[0]?.sequence;
      if (!sequence) continue;
      await client.query(
        `select setval($1::regclass, max(${quoted(column.name)})) from ${quoted(name)} having max(${quoted(column.name)}) is not null`,
        [sequence],
      );
    }
  }
}

/** @param client in a transaction */
export async function hashTarget(client: pg.Client, { name, columns }: MovedTable): Promise<TableHash> {
  const hash = createTableHash(columns.map(({ kind }) => kind));
  const list = columns.map((column) => `${quoted(column.name)}::text`).join(', ');
  await client.query(`declare all_rows cursor for select ${list} from ${quoted(name)}`);
  for (;;) {
    const { rows } = await client.query<(string | null)[]>({ text: 'fetch 5000 from all_rows', rowMode: 'array' });
    if (rows.length === 0) break;
    for (const row of rows) hash.add(row);
  }
  await client.query('close all_rows');
  return hash.result();
}
