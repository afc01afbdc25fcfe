/**
 * Kysely over `node:sqlite`: one connection, one transaction at a time, and no query of another caller inside a transaction.
 * While another process holds the write lock, queries wait without blocking the event loop, none longer than the time limit.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { createBoundedMap } from '../../lib/bounded-map.ts';
import { DatabaseUnavailable } from '../../lib/database.ts';
import { withTimeLimit } from '../../lib/jobs/tasks.ts';
import { diskProblem } from '../../lib/sqlite-files.server.ts';
import { queryListener } from '../../lib/tracing.ts';

export interface SqliteOptions {
  /** How long a query waits for its turn and for another process's write lock (PostgreSQL: for a connection), in ms; 5000 unless given. */
  readonly timeoutMs?: number;
  /** Called when the disk can't be written, with the reason, and with `null` when it can again. */
  readonly onDisk?: (problem: string | null) => void;
  /** `false` in tests: SQLite then doesn't wait until the disk has stored a commit. */
  readonly durable?: boolean;
}

/** Prepared statements in the cache, more than any process has distinct ones. */
const mostPrepared = 500;
/** SQLite itself waits this long and blocks the event loop; the rest of the wait is asynchronous. */
const busyMs = 10;
const busyCode = 5;

/** Kinds of queries that write. */
const writes: ReadonlySet<string> = new Set(['InsertQueryNode', 'UpdateQueryNode', 'DeleteQueryNode']);

const isBusy = (error: unknown): boolean => (((error as { errcode?: number }).errcode ?? 0) & 0xff) === busyCode;

/**
 * Processes that create the file at the same time conflict while it switches to WAL mode. SQLite's own timeout doesn't apply there, so
 * one of them would fail.
 */
function retryWhileBusy(work: () => void): void {
  const until = performance.now() + 5000;
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    try {
      work();
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > until) throw error;
      Atomics.wait(sleeper, 0, 0, 5);
    }
  }
}

/** Whether this asynchronous context is inside a transaction: a second connection for it would never become available. */
const transactionContext = new AsyncLocalStorage<{ holdsConnection: boolean }>();

/**
 * Opens the file, and creates it if necessary.
 *
 * @throws Error with a sentence for the operator
 */
export function openSqlite(file: string, { durable = true }: SqliteOptions = {}): DatabaseSync {
  try {
    const database = new DatabaseSync(file, { enableForeignKeyConstraints: true, timeout: 5000 });
    // WAL: readers never wait. FULL: committed data survives a power failure.
    retryWhileBusy(() => database.exec('PRAGMA journal_mode = WAL'));
    database.exec(`PRAGMA synchronous = ${durable ? 'FULL' : 'OFF'}; PRAGMA foreign_keys = ON`);
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    database.exec(`PRAGMA busy_timeout = ${busyMs}`);
    return database;
  } catch (error) {
    throw new Error(
      `The accounts database ${file} cannot be opened: see that it and DATA_DIR belong to the server's user and that the file is whole, or restore a backup.`,
      { cause: error },
    );
  }
}

/** Kysely on an open file. `destroy()` closes the file. */
export function sqliteKysely<Tables>(database: DatabaseSync, options: SqliteOptions = {}): Kysely<Tables> {
  const log = queryListener();
  return new Kysely<Tables>({ dialect: new NodeSqliteDialect(database, options), ...(log && { log }) });
}

/** Runs `work` so that a query outside of its transaction is an error instead of an endless wait. */
export const insideTransaction = <T>(work: () => Promise<T>): Promise<T> =>
  transactionContext.run({ holdsConnection: false }, work);

interface Prepared {
  readonly statement: StatementSync;
  /** Asking for its columns takes three times as long as reading a row. */
  readonly returnsRows: boolean;
}

class NodeSqliteDialect implements Dialect {
  readonly #database: DatabaseSync;
  readonly #options: SqliteOptions;

  constructor(database: DatabaseSync, options: SqliteOptions) {
    this.#database = database;
    this.#options = options;
  }
  createDriver = (): Driver => new NodeSqliteDriver(this.#database, this.#options);
  createQueryCompiler = (): SqliteQueryCompiler => new SqliteQueryCompiler();
  createAdapter = (): SqliteAdapter => new UnserializedSqliteAdapter();
  createIntrospector = (db: Kysely<unknown>): SqliteIntrospector => new SqliteIntrospector(db);
}

/** The driver below serializes the transactions itself. */
class UnserializedSqliteAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

class NodeSqliteDriver implements Driver {
  readonly #connection: Connection;
  readonly #timeoutMs: number;
  readonly #waiting = new Set<() => void>();
  #taken = false;

  constructor(database: DatabaseSync, options: SqliteOptions) {
    this.#timeoutMs = options.timeoutMs ?? 5000;
    this.#connection = new Connection(database, options);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    if (transactionContext.getStore()?.holdsConnection) {
      throw new Error('A query inside a transaction must use the transaction; it would wait for itself.');
    }
    const until = performance.now() + this.#timeoutMs;
    if (this.#taken) await this.#turn();
    this.#taken = true;
    this.#connection.until = until;
    return this.#connection;
  }

  /** Waits until the earlier callers have released the connection. @throws DatabaseUnavailable after the time limit */
  async #turn(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    await withTimeLimit(this.#timeoutMs, promise, () => {
      this.#waiting.delete(resolve);
      throw new DatabaseUnavailable('The accounts database is busy; see whether another program holds it open.');
    });
  }

  async releaseConnection(): Promise<void> {
    const flow = transactionContext.getStore();
    if (flow) flow.holdsConnection = false;
    const [next] = this.#waiting;
    // The connection is passed directly to the next caller, so that no other caller can take it first.
    if (next) {
      this.#waiting.delete(next);
      next();
    } else this.#taken = false;
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
    const flow = transactionContext.getStore();
    if (flow) flow.holdsConnection = true;
  }
  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'));
  }
  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // Some errors, such as a full disk, have rolled it back already.
    if (this.#connection.inTransaction) await connection.executeQuery(CompiledQuery.raw('rollback'));
  }
  async destroy(): Promise<void> {
    this.#connection.close();
  }
}

class Connection implements DatabaseConnection {
  readonly #database: DatabaseSync;
  readonly #onDisk: SqliteOptions['onDisk'];
  readonly #prepared = createBoundedMap<Prepared>(mostPrepared);
  /** Until when the caller that has the connection waits for a lock, by `performance.now()`. */
  until = 0;
  #diskProblem: string | null = null;
  /** Whether something was written since the last commit. */
  #wrote = false;

  constructor(database: DatabaseSync, { onDisk }: SqliteOptions) {
    this.#database = database;
    this.#onDisk = onDisk;
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    for (let pause = 2; ; pause = Math.min(pause * 2, 100)) {
      try {
        const result = this.#run<R>(query);
        this.#wrote ||= writes.has(query.query.kind);
        if (this.#wrote && !this.inTransaction) this.#reportDisk(null);
        return result;
      } catch (error) {
        if (!isBusy(error)) throw this.#afterFailure(error);
        if (performance.now() > this.until) {
          throw new DatabaseUnavailable('The accounts database is locked by another program; see what holds it open.', {
            cause: error,
          });
        }
        await wait(pause);
      }
    }
  }

  /** @returns the error for the caller */
  #afterFailure(error: unknown): unknown {
    const problem = diskProblem(error);
    if (problem === null) return error;
    this.#reportDisk(problem);
    return new DatabaseUnavailable(problem, { cause: error });
  }

  #reportDisk(problem: string | null): void {
    this.#wrote = false;
    if (problem === this.#diskProblem) return;
    this.#diskProblem = problem;
    this.#onDisk?.(problem);
  }

  #run<R>(query: CompiledQuery): QueryResult<R> {
    const { statement, returnsRows } = this.#prepare(query.sql);
    const parameters = query.parameters as (string | number | null)[];
    if (returnsRows) return { rows: statement.all(...parameters) as R[] };
    const { changes, lastInsertRowid } = statement.run(...parameters);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  #prepare(sql: string): Prepared {
    let prepared = this.#prepared.get(sql);
    if (!prepared) {
      const statement = this.#database.prepare(sql);
      prepared = { statement, returnsRows: statement.columns().length > 0 };
      this.#prepared.set(sql, prepared);
    }
    return prepared;
  }

  // biome-ignore lint/correctness/useYield: the site streams no rows.
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('Rows are not streamed.');
  }

  close(): void {
    this.#prepared.clear();
    if (this.#database.isOpen) this.#database.close();
  }
}
