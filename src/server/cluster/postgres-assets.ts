/** The nodes' hashed files in PostgreSQL. */
import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import type { Queries } from '../../lib/database.ts';
import { type AssetStore, keptForMs } from './shared-assets.ts';

export interface PostgresAssetsOptions {
  /** PostgreSQL. */
  readonly db: Queries;
  readonly now?: () => number;
  /** See {@link keptForMs}. */
  readonly keptMs?: number;
}

/** Files in one statement. */
const batch = 20;

export function createPostgresAssets({ db, now = Date.now, keptMs = keptForMs }: PostgresAssetsOptions): AssetStore {
  return {
    // A process has few connections.
    mostQuestions: 4,
    async give(files) {
      const paths = [...files.keys()];
      const marked = await sql<{
        path: string;
      }>`update shared_assets set seen = ${now()} where path = any(${paths}::text[])
        returning path`.execute(db);
      const there = new Set(marked.rows.map(({ path }) => path));
      const missing = paths.filter((path) => !there.has(path));
      for (let start = 0; start < missing.length; start += batch) {
        const part = missing.slice(start, start + batch);
        const bytes = await Promise.all(part.map((path) => readFile(files.get(path) ?? '')));
        await sql`insert into shared_assets (path, bytes, seen) select path, bytes, ${now()}
          from unnest(${part}::text[], ${bytes}::bytea[]) as given (path, bytes) on conflict (path) do nothing`.execute(
          db,
        );
      }
      await sql`delete from shared_assets where seen < ${now() - keptMs}`.execute(db);
    },
    async get(path) {
      const answer = await sql<{ bytes: Buffer }>`select bytes from shared_assets where path = ${path}`.execute(db);
      return answer.rows[0]?.bytes;
    },
  };
}
