/**
 * The SQLite file of the page store: opening, damage, transactions. Its pages can be rendered again, so that a damaged file is set
 * aside and a new one created while the press continues.
 */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Logger } from '../../lib/logging.ts';
import { cannotOpen, filesOf, isDamage, removeFiles, setAside } from '../../lib/sqlite-files.server.ts';
import { StartFirst } from '../../lib/start-first.server.ts';

/** Rows of `meta`. */
const counters = ['seq', 'version', 'withdrawn'];

/** Raised with every change of the tables; a file of another version is replaced by a new one. */
const schemaVersion = 2;

const schema = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE namespaces (
    id INTEGER PRIMARY KEY, build TEXT NOT NULL UNIQUE, begun_at INTEGER NOT NULL, warm_at INTEGER,
    pages INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0);
  CREATE TABLE pages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, ns INTEGER NOT NULL, key TEXT NOT NULL, variant TEXT NOT NULL,
    version INTEGER NOT NULL, status INTEGER NOT NULL, headers TEXT NOT NULL, access TEXT, hash TEXT NOT NULL,
    size INTEGER NOT NULL, kept INTEGER NOT NULL, tags TEXT NOT NULL, etags TEXT NOT NULL,
    rendered_at INTEGER NOT NULL, render_ms REAL NOT NULL, as_of INTEGER, checksum INTEGER NOT NULL, UNIQUE (key, variant, ns));
  CREATE INDEX pages_ns ON pages (ns);
  CREATE TABLE bodies (id INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, bytes BLOB NOT NULL);
  CREATE TABLE tags (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
  CREATE TABLE page_tags (tag INTEGER NOT NULL, page INTEGER NOT NULL, PRIMARY KEY (tag, page)) WITHOUT ROWID;
  CREATE INDEX page_tags_page ON page_tags (page);
  CREATE TABLE stale (page INTEGER PRIMARY KEY, seq INTEGER NOT NULL, since INTEGER NOT NULL);
  CREATE TABLE changes (tag TEXT PRIMARY KEY, seq INTEGER NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX changes_at ON changes (at);
  CREATE TABLE reads (key TEXT NOT NULL, variant TEXT NOT NULL, score REAL NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (key, variant)) WITHOUT ROWID;
  INSERT INTO meta VALUES ${counters.map((name) => `('${name}', 0)`).join(', ')};
  PRAGMA user_version = ${schemaVersion};
`;

const tables = ['bodies', 'changes', 'meta', 'namespaces', 'page_tags', 'pages', 'reads', 'stale', 'tags'];

/** The store can't be read or written at present: the disk is full, read-only or missing. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

const resultCode = (error: unknown): number | null => {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code : null;
};

export interface StoreFileOptions {
  readonly file: string;
  readonly log: Logger;
  readonly now: () => number;
  /** Called after a new file was created in place of a damaged one. */
  readonly onReset: () => void;
  /** Another process writes the file: this one only reads it, and leaves a damaged one to the other. */
  readonly readOnly?: boolean | undefined;
  /** Whether a file of another version is replaced (default). */
  readonly upgrades?: boolean | undefined;
}

export interface StoreFile {
  /**
   * Runs `work` on the open file. If the file is damaged, it is set aside, and `work` runs again on a new file.
   *
   * @throws StoreUnavailable
   */
  use<T>(work: () => T): T;
  /** The same in a transaction that takes the write lock immediately. */
  write<T>(work: () => T): T;
  /** A prepared statement, cached by its text; only within {@link use} and {@link write}. */
  sql(text: string): StatementSync;
  /** Bytes on disk. */
  size(): number;
  close(): void;
}

interface StoreFileState extends StoreFileOptions {
  db: DatabaseSync | null;
  statements: Map<string, StatementSync>;
  closed: boolean;
  depth: number;
}

/** @throws StoreUnavailable or StartFirst, with a sentence for the operator */
export function openStoreFile(options: StoreFileOptions): StoreFile {
  const { file } = options;
  const storeFile: StoreFileState = { ...options, db: null, statements: new Map(), closed: false, depth: 0 };
  try {
    if (!options.readOnly) mkdirSync(dirname(file), { recursive: true });
    use(storeFile, () => {});
  } catch (error) {
    if (error instanceof StartFirst) throw error;
    throw new StoreUnavailable(cannotOpen('page store', file), { cause: error });
  }
  return {
    use: (work) => use(storeFile, work),
    write: (work) => write(storeFile, work),
    sql: (text) => sql(storeFile, text),
    size: () => size(storeFile),
    close: () => close(storeFile),
  };
}

function connect(storeFile: StoreFileState): DatabaseSync {
  if (storeFile.readOnly) {
    const reading = new DatabaseSync(storeFile.file, { readOnly: true });
    reading.exec('PRAGMA busy_timeout = 5000; PRAGMA cache_size = -8000; PRAGMA mmap_size = 0;');
    return reading;
  }
  const fresh = new DatabaseSync(storeFile.file);
  try {
    // Only an empty file accepts the page size: larger pages hold a compressed body in one or two pieces.
    fresh.exec(`PRAGMA page_size = 8192; PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL;
        PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8000; PRAGMA mmap_size = 0;
        PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 33554432;`);
    prepareTables(storeFile, fresh);
    return fresh;
  } catch (error) {
    fresh.close();
    throw error;
  }
}

/** Checks for damage that opening alone doesn't reveal; the pages themselves are checked when they are read. */
function prepareTables(storeFile: StoreFileState, fresh: DatabaseSync): void {
  const version = Number(fresh.prepare('PRAGMA user_version').get()?.user_version ?? 0);
  const found = fresh
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .all()
    .map((row) => String(row.name));
  if (found.length === 0 && version === 0) {
    fresh.exec(`BEGIN IMMEDIATE; ${schema} COMMIT`);
    return;
  }
  if (version !== schemaVersion) throw new OtherVersion(`it is of version ${version}`);
  if (found.join() !== tables.join()) throw damage(`its tables are ${found.join(', ')}`);
  const pages = Number(fresh.prepare('PRAGMA page_count').get()?.page_count ?? 0);
  const size = Number(fresh.prepare('PRAGMA page_size').get()?.page_size ?? 0);
  // Pages that are still in the write-ahead log may be missing at the end of the file itself.
  if (!existsSync(`${storeFile.file}-wal`) && statSync(storeFile.file).size < pages * size)
    throw damage('it is shorter than it should be');
  const meta = fresh.prepare('SELECT count(*) AS n FROM meta').get();
  if (Number(meta?.n) < counters.length) throw damage('its counters are missing');
}

function openDatabase(storeFile: StoreFileState): void {
  for (let attempt = 0; ; attempt++) {
    try {
      storeFile.db = connect(storeFile);
      storeFile.statements = new Map();
      return;
    } catch (error) {
      if (error instanceof OtherVersion && storeFile.upgrades === false) {
        throw new StartFirst('The page store is of another version of the site');
      }
      if (attempt > 0 || storeFile.readOnly || !(isDamage(error) || error instanceof OtherVersion))
        throw unavailable(error);
      if (error instanceof OtherVersion) {
        storeFile.log.info({ file: storeFile.file, why: error.message }, 'The page store is created again');
        removeFiles(storeFile.file);
      } else {
        setDamagedAside(storeFile, String(error));
      }
      // Callers with pages of the old file must be notified.
      storeFile.onReset();
    }
  }
}

function setDamagedAside(storeFile: StoreFileState, reason: string): void {
  const aside = setAside(storeFile.file, `${storeFile.file}.damaged-${storeFile.now()}`);
  storeFile.log.error(
    { file: storeFile.file, aside, reason },
    'The page store is damaged; it was set aside, and pages are rendered again',
  );
}

function reset(storeFile: StoreFileState, reason: string): void {
  closeDatabase(storeFile);
  try {
    setDamagedAside(storeFile, reason);
    storeFile.db = connect(storeFile);
  } catch (error) {
    throw unavailable(error);
  } finally {
    storeFile.onReset();
  }
}

function closeDatabase(storeFile: StoreFileState): void {
  storeFile.statements = new Map();
  try {
    storeFile.db?.close();
  } catch (error) {
    storeFile.log.warn({ err: error }, 'The page store did not close cleanly');
  }
  storeFile.db = null;
}

function rollBack(storeFile: StoreFileState): void {
  try {
    if (storeFile.db?.isTransaction) storeFile.db.exec('ROLLBACK');
  } catch (error) {
    storeFile.log.warn(
      { err: error },
      'A transaction of the page store could not be rolled back; the file is opened again',
    );
    closeDatabase(storeFile);
  }
}

function use<T>(storeFile: StoreFileState, work: () => T): T {
  if (storeFile.closed) throw new StoreUnavailable('The page store is closed.');
  // Only the outermost call handles errors, because only it can repeat the work.
  if (storeFile.depth > 0) return work();
  for (let attempt = 0; ; attempt++) {
    if (!storeFile.db) openDatabase(storeFile);
    storeFile.depth++;
    try {
      return work();
    } catch (error) {
      rollBack(storeFile);
      if (isDamage(error) && attempt === 0 && !storeFile.readOnly) {
        reset(storeFile, String(error));
      } else if (resultCode(error) !== null) {
        throw unavailable(error);
      } else {
        throw error;
      }
    } finally {
      storeFile.depth--;
    }
  }
}

const write = <T>(storeFile: StoreFileState, work: () => T): T =>
  use(storeFile, () => {
    if (storeFile.readOnly) throw new StoreUnavailable('Another process writes the page store.');
    if (storeFile.db?.isTransaction) return work();
    storeFile.db?.exec('BEGIN IMMEDIATE');
    const result = work();
    storeFile.db?.exec('COMMIT');
    return result;
  });

function sql(storeFile: StoreFileState, text: string): StatementSync {
  let statement = storeFile.statements.get(text);
  if (!statement) {
    if (!storeFile.db) throw new StoreUnavailable('The page store is not open.');
    statement = storeFile.db.prepare(text);
    storeFile.statements.set(text, statement);
  }
  return statement;
}

function size(storeFile: StoreFileState): number {
  let bytes = 0;
  for (const path of filesOf(storeFile.file)) bytes += existsSync(path) ? statSync(path).size : 0;
  return bytes;
}

function close(storeFile: StoreFileState): void {
  storeFile.closed = true;
  closeDatabase(storeFile);
}

class OtherVersion extends Error {}

const damage = (sentence: string): Error => Object.assign(new Error(sentence), { errcode: 11 });

const unavailable = (error: unknown): StoreUnavailable =>
  error instanceof StoreUnavailable
    ? error
    : new StoreUnavailable(error instanceof Error ? error.message : String(error), { cause: error });
