/**
 * A conflict clause that names a column covers that column's unique index alone. Where a table has a second one, PostgreSQL reports a
 * violation of it, now and then, when two processes insert the same row at once. So inserts into such tables name no column.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { prepare } from '../../../tests/world/databases.ts';

const source = join(import.meta.dirname, '../..');

/** Tables with inserts that have a targeted conflict clause, and where the inserts are. */
function targeted(): readonly { readonly table: string; readonly path: string }[] {
  return readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .flatMap((path) => {
      const [, ...inserts] = readFileSync(join(source, path), 'utf8').split('.insertInto(');
      return inserts.flatMap((text) => {
        const table = /^['"](\w+)['"]/.exec(text)?.[1];
        const statement = text.split('.execute', 1)[0] ?? '';
        return table && /\bconflict\s*\.column/.test(statement) ? [{ table, path }] : [];
      });
    });
}

describe('conflict clauses', () => {
  const engines = prepare('sqlite');

  it('name no column of a table that has more than one unique index', async () => {
    const { db } = await engines.open();
    const { rows } = await sql<{ name: string }>`
      select t.name as name from sqlite_master t join pragma_index_list(t.name) i on i."unique" = 1
      where t.type = 'table' group by t.name having count(*) > 1`.execute(db);
    const several = rows.map(({ name }) => name);
    expect(several).toEqual(expect.arrayContaining(['customers', 'purchases', 'users']));
    expect(targeted().length).toBeGreaterThan(10);
    expect(targeted().filter(({ table }) => several.includes(table))).toEqual([]);
  });
});
