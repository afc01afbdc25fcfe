/** The thread in which the index is searched; `search-thread.server.ts` starts it and speaks with it. */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { type Index, searchArticles } from './search.server.ts';
import type { FromSearch, ToSearch } from './search-messages.ts';

const port = parentPort;
if (!port) throw new Error('search.worker.ts is a worker thread and is started by search-thread.server.ts');
const { file } = workerData as { readonly file: string };

interface OpenIndex extends Index {
  readonly db: DatabaseSync;
  readonly generation: number;
}

let open: OpenIndex | null = null;

function indexOf(generation: number): OpenIndex {
  if (open?.generation === generation) return open;
  open?.db.close();
  open = null;
  // Only read: whoever begins a damaged file anew is the main thread.
  const db = new DatabaseSync(file, { readOnly: true });
  db.exec('PRAGMA busy_timeout = 2000; PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY;');
  const statements = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync => {
    const statement = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  open = { db, generation, prepare };
  return open;
}

function answer({ number, generation, text, filter }: ToSearch): FromSearch {
  try {
    const index = indexOf(generation);
    // What is counted and what is shown are of the same moment, whatever is published meanwhile.
    index.db.exec('BEGIN');
    try {
      return { number, found: searchArticles(index, text, filter) };
    } finally {
      index.db.exec('COMMIT');
    }
  } catch (error) {
    open?.db.close();
    open = null;
    return { number, failure: String(error) };
  }
}

port.on('message', (message: ToSearch) => port.postMessage(answer(message)));
