/**
 * The content store: one SQLite file with everything that is published. The composition root opens it once, sync writes it, pages read
 * it. It is derived data: a file with another schema version, from another WordPress, or damaged, is replaced by a new one.
 */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { DocumentType } from '../../lib/content/model.ts';
import type { Logger } from '../../lib/logging.ts';
import { cannotOpen, filesOf, isDamage, removeFiles, setAside } from '../../lib/sqlite-files.server.ts';
import { StartFirst } from '../../lib/start-first.server.ts';
import { schema, schemaVersion, searchSettings } from './schema.sql.ts';

export interface ContentStoreOptions {
  /** Path of the file, or `:memory:`. */
  readonly file: string;
  /** Address of the WordPress that it copies; `null` opens the file whatever its origin. */
  readonly origin: string | null;
  readonly log: Logger;
  /** Whether a file of another version or another WordPress is replaced (default). */
  readonly upgrades?: boolean | undefined;
}

export interface ContentStore {
  readonly file: string;
  /** A prepared statement, cached by its text. */
  prepare(sql: string): StatementSync;
  /** Runs `work` in one transaction; nested calls join the outer one. `work` must not be async. */
  transaction<T>(work: () => T): T;
  getMeta(key: string): string | null;
  setMeta(key: string, value: string): void;
  /** Grows when what readers cache may be wrong: sections or menus were written, a transaction rolled back, or the file replaced. */
  readonly generation: number;
  /** Raises {@link generation}. */
  invalidateCaches(): void;
  /** How often the file was replaced by a new one: a thread that has it open must open it again. */
  readonly rebuilds: number;
  /** Sets the file aside (or deletes it) and creates an empty one. */
  rebuild(reason: string): void;
  /** Bytes on disk, write-ahead log included. */
  size(): number;
  close(): void;
}

function connect(file: string): DatabaseSync {
  const db = new DatabaseSync(file);
  try {
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000;
      PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16000; PRAGMA mmap_size = 0;
      PRAGMA wal_autocheckpoint = 8000; PRAGMA journal_size_limit = 33554432;`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

const hasTables = (db: DatabaseSync): boolean =>
  db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'meta'").get() !== undefined;

function readMeta(db: DatabaseSync, key: string): string | null {
  const row = db.prepare('SELECT value FROM meta WHERE key = ?').get(key);
  return row ? String(row.value) : null;
}

/** Checks for damage that opening alone doesn't reveal: a truncated file, an unreadable table. */
function probe(db: DatabaseSync, file: string): void {
  const pages = Number(db.prepare('PRAGMA page_count').get()?.page_count ?? 0);
  if (file !== ':memory:' && pages < 16_000) {
    const verdict = String(db.prepare('PRAGMA quick_check(1)').get()?.quick_check ?? 'ok');
    if (verdict !== 'ok') throw Object.assign(new Error(verdict), { errcode: 11 });
  }
  for (const table of ['documents', 'bodies', 'listing', 'comments', 'cursors', 'search']) {
    db.prepare(`SELECT * FROM ${table} LIMIT 1`).get();
  }
}

function create(file: string, origin: string | null): DatabaseSync {
  const db = connect(file);
  db.exec(`BEGIN; ${schema} ${searchSettings} COMMIT;`);
  const set = db.prepare('INSERT INTO meta VALUES (?, ?)');
  set.run('schema', String(schemaVersion));
  if (origin !== null) set.run('origin', origin);
  return db;
}

function open({ file, origin, log, upgrades = true }: ContentStoreOptions): DatabaseSync {
  if (file === ':memory:') return create(file, origin);
  mkdirSync(dirname(file), { recursive: true });
  if (!existsSync(file)) return create(file, origin);
  let db: DatabaseSync | null = null;
  try {
    db = connect(file);
    // A process that died while it created the tables leaves an empty file.
    const version = hasTables(db) ? readMeta(db, 'schema') : null;
    const from = version === null ? null : readMeta(db, 'origin');
    if (version !== String(schemaVersion)) {
      if (version !== null && !upgrades) throw new StartFirst('The content store is of another version of the site');
      if (version !== null)
        log.info({ file, version, wanted: schemaVersion }, 'content store: created again, the schema version differs');
    } else if (origin !== null && from !== null && from !== origin) {
      if (!upgrades) throw new StartFirst(`The content store is from another WordPress (${from})`);
      log.warn({ file, from, origin }, 'content store: created again, the file is from another WordPress');
    } else {
      probe(db, file);
      // Only in a file of an earlier version: a full disk must not keep the site from starting.
      const merging = db.prepare("SELECT v FROM search_config WHERE k = 'usermerge'").get();
      if (!merging) db.exec(searchSettings);
      if (origin !== null && from === null) db.prepare("INSERT INTO meta VALUES ('origin', ?)").run(origin);
      return db;
    }
    db.close();
    removeFiles(file);
  } catch (error) {
    if (db?.isOpen) db.close();
    if (!isDamage(error)) throw error;
    log.error(
      { file, aside: setAside(file, `${file}.damaged`), error: String(error) },
      'content store: created again, the damaged file is set aside',
    );
  }
  return create(file, origin);
}

function openAtStart(options: ContentStoreOptions): DatabaseSync {
  try {
    return open(options);
  } catch (error) {
    if (error instanceof StartFirst) throw error;
    throw new Error(cannotOpen('content store', options.file), { cause: error });
  }
}

/**
 * Opens the content store, or creates an empty one if the file is missing or unusable.
 *
 * @throws Error with a sentence for the operator
 */
export function openContentStore(options: ContentStoreOptions): ContentStore {
  let db = openAtStart(options);
  let statements = new Map<string, StatementSync>();
  let depth = 0;
  let generation = 0;
  let rebuilds = 0;
  const prepare = (sql: string): StatementSync => {
    let statement = statements.get(sql);
    if (!statement) {
      statement = db.prepare(sql);
      statements.set(sql, statement);
    }
    return statement;
  };
  return {
    file: options.file,
    prepare,
    transaction(work) {
      if (depth > 0) return work();
      db.exec('BEGIN IMMEDIATE');
      depth++;
      try {
        const result = work();
        db.exec('COMMIT');
        return result;
      } catch (error) {
        if (db.isTransaction) db.exec('ROLLBACK');
        generation++;
        throw error;
      } finally {
        depth--;
      }
    },
    getMeta(key) {
      const row = prepare('SELECT value FROM meta WHERE key = ?').get(key);
      return row ? String(row.value) : null;
    },
    setMeta(key, value) {
      prepare('INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value').run(key, value);
    },
    get generation() {
      return generation;
    },
    invalidateCaches() {
      generation++;
    },
    get rebuilds() {
      return rebuilds;
    },
    rebuild(reason) {
      statements = new Map();
      db.close();
      const aside = options.file === ':memory:' ? null : setAside(options.file, `${options.file}.damaged`);
      options.log.error({ file: options.file, aside, reason }, 'content store: created again');
      db = create(options.file, options.origin);
      generation++;
      rebuilds++;
    },
    size() {
      if (options.file === ':memory:') return 0;
      return filesOf(options.file)
        .slice(0, 2)
        .reduce((sum, path) => sum + (existsSync(path) ? statSync(path).size : 0), 0);
    },
    close() {
      statements = new Map();
      if (db.isOpen) db.close();
    },
  };
}

// Progress of the sync, written in the same transaction as the documents.

/** The order in which types are fetched: what the front page needs comes first. */
export const documentTypes: readonly DocumentType[] = [
  'pages',
  'articles',
  'live-entries',
  'video',
  'crosswords',
  'authors',
  'podcasts',
  'fronts',
];

/** What is copied from WordPress, each from a list of its own. */
export type CopiedType = DocumentType | 'comments';
export const copiedTypes: readonly CopiedType[] = [...documentTypes, 'comments'];

/** A document's place in a list of WordPress. */
export interface ListKey {
  /** The field that orders the list, as WordPress writes it; '' when that is the id. */
  readonly at: string;
  readonly id: number;
}

export interface BackfillCursor {
  readonly offset: number;
  readonly total: number;
  readonly done: boolean;
  /** The last document copied, where its key is known. */
  readonly key?: ListKey | null;
}

export interface WalkCursor {
  readonly offset: number;
  /** Highest id seen on this walk. */
  readonly last: number;
}

export function readCursor<T>(store: ContentStore, name: string, fallback: T): T {
  const row = store.prepare('SELECT value FROM cursors WHERE name = ?').get(name);
  return row ? (JSON.parse(String(row.value)) as T) : fallback;
}

export function writeCursor(store: ContentStore, name: string, value: unknown): void {
  store
    .prepare('INSERT INTO cursors VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value')
    .run(name, JSON.stringify(value));
}

export const backfillCursor = (store: ContentStore, type: CopiedType): BackfillCursor =>
  readCursor(store, `backfill:${type}`, { offset: 0, total: 0, done: false });

/** Whether the first copy of the archive is complete. */
export const isCopied = (store: ContentStore): boolean => copiedTypes.every((type) => backfillCursor(store, type).done);

export const walkCursor = (store: ContentStore, type: CopiedType): WalkCursor =>
  readCursor(store, `walk:${type}`, { offset: 0, last: 0 });
