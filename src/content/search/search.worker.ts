/** The worker thread that searches the index; `search-thread.server.ts` starts it. */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import { serveTasks } from '../../lib/workers/pool.server.ts';
import { type FoundIds, type Index, searchArticles } from './search.server.ts';
import type { SearchTask } from './search-thread.server.ts';

const { file } = workerData as { readonly file: string };

interface OpenIndex extends Index {
  readonly db: DatabaseSync;
  readonly rebuilds: number;
}

let open: OpenIndex | null = null;

function indexOf(rebuilds: number): OpenIndex {
  if (open?.rebuilds === rebuilds) return open;
  open?.db.close();
  open = null;
  // The file is opened read-only: the main thread replaces a damaged file.
  const db = new DatabaseSync(file, { readOnly: true });
  db.exec('PRAGMA busy_timeout = 2000; PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY;');
  const statements = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync => {
    const statement = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  open = { db, rebuilds, prepare };
  return open;
}

function search({ rebuilds, text, filter }: SearchTask): FoundIds {
  try {
    const index = indexOf(rebuilds);
    // One read transaction, so that the count and the hits are of the same state even if a story is published in between.
    index.db.exec('BEGIN');
    try {
      return searchArticles(index, text, filter);
    } finally {
      index.db.exec('COMMIT');
    }
  } catch (error) {
    open?.db.close();
    open = null;
    throw error;
  }
}

serveTasks(search);
