/** Fills every table of an accounts database in SQLite, including future ones. */
import { DatabaseSync } from 'node:sqlite';

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly pk: number;
}

/**
 * Writes rows into each table: texts with difficult characters, numbers beyond 32 bits, and `null` in every second row where it is
 * allowed.
 *
 * @param file a migrated `accounts.sqlite`
 * @returns names of the filled tables
 */
export function fillAccounts(file: string, rows: number): string[] {
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  try {
    const tables = database
      .prepare(
        `select name from sqlite_schema where type = 'table' and name not like 'sqlite%' and name <> 'migrations'`,
      )
      .all()
      .map(({ name }) => String(name));
    database.exec('begin');
    for (const table of tables) fillTable(database, table, rows);
    database.exec('commit');
    return tables;
  } finally {
    database.close();
  }
}

function fillTable(database: DatabaseSync, table: string, rows: number): void {
  const columns = database.prepare('select * from pragma_table_info(?)').all(table) as unknown as Column[];
  const parents = new Map(
    database
      .prepare('select "from" as name, "table" as parent from pragma_foreign_key_list(?)')
      .all(table)
      .map(({ name, parent }) => [String(name), String(parent)]),
  );
  const names = columns.map(({ name }) => `"${name}"`).join(', ');
  const insert = database.prepare(`insert into "${table}" (${names}) values (${columns.map(() => '?').join(', ')})`);
  for (let row = 0; row < rows; row++) {
    insert.run(
      ...columns.map(({ name, type, notnull, pk }) => {
        const parent = parents.get(name);
        if (parent) return `${parent} id ${row}`;
        if (!notnull && !pk && row % 2 === 1) return null;
        if (/bigint/i.test(type)) return 1_764_000_000_000 + row;
        if (/int/i.test(type)) return row;
        if (/double|real|float/i.test(type)) return row / 3;
        if (name === 'data' || name === 'payload')
          return JSON.stringify({ name: `Zoë "O’Neil"\n${row}`, list: [row, null] });
        return `${table} ${name} ${row}${pk || name === 'id' ? '' : ' – ünï\\cödé {"\'} 📰'}`;
      }),
    );
  }
}
