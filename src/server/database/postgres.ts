/**
 * Kysely over PostgreSQL: a bounded pool that connects again after the server was away, errors of which say what to do, and
 * no query before the migrations have run.
 */
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { DatabaseUnavailable } from '../../lib/database.ts';
import type { Logger } from '../../lib/logging.ts';

/** Connections of one process at most. */
const mostConnections = 10;
/** Milliseconds. */
const patience = { statement: 10_000, idleInTransaction: 15_000, answer: 20_000, idle: 30_000 };

export interface PoolOptions {
  readonly log: Logger;
  /** How long to wait for a connection, in milliseconds; 5000 unless given. */
  readonly patienceMs?: number | undefined;
  /** For migrations: one connection, and a statement may take as long as it needs. */
  readonly patient?: boolean;
}

/** @param url checked already, see config.ts */
export function openPool(url: string, { log, patienceMs = 5000, patient = false }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: patient ? 1 : mostConnections,
    connectionTimeoutMillis: patienceMs,
    idleTimeoutMillis: patience.idle,
    statement_timeout: patience.statement,
    idle_in_transaction_session_timeout: patience.idleInTransaction,
    // Longer than the server's own: only a server that went away without a word comes this far.
    ...(!patient && { query_timeout: patience.answer }),
    keepAlive: true,
    application_name: 'broadsheet',
    // Times are milliseconds and far below 2^53: numbers, not text.
    types: {
      getTypeParser: (id: number, format?: 'text') => (id === 20 ? Number : pg.types.getTypeParser(id, format)),
    },
  } as pg.PoolConfig);
  // Without a listener a connection that breaks ends the process; the pool itself listens only while one is idle.
  pool.on('connect', (client) => {
    client.on('error', (error) => log.warn({ code: codeOf(error) }, 'A connection to PostgreSQL broke'));
  });
  pool.on('error', () => {});
  return pool;
}

/**
 * A connection outside of the pool, for what has to stay on one. Not connected yet; its errors are the caller's to listen to.
 *
 * @param patienceMs longest wait for the connection and for each answer, in milliseconds
 */
export const openClient = (url: string, patienceMs: number): pg.Client =>
  new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: patienceMs,
    query_timeout: patienceMs,
    keepAlive: true,
    application_name: 'broadsheet',
  });

export interface Watch {
  /** Waited for before each use of a connection; what it throws is what the query throws. */
  gate(): Promise<void>;
  /** Told with every query whether the database answers: `null`, or why it does not. */
  report(problem: string | null): void;
}

export function postgresKysely<Tables>(pool: pg.Pool, watch?: Watch): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: guarded(pool, watch) }) });
}

/** The pool with errors of connections told as {@link DatabaseUnavailable}. */
function guarded(pool: pg.Pool, watch?: Watch): PostgresPool {
  const failed = (error: unknown): unknown => {
    const known = told(error);
    if (known instanceof DatabaseUnavailable) watch?.report(known.message);
    return known;
  };
  const known = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  const facade = (client: pg.PoolClient): PostgresPoolClient => {
    let made = known.get(client);
    if (!made) {
      made = {
        query: async (sql: never, parameters?: readonly unknown[]) => {
          try {
            const answer = await client.query(sql, parameters as unknown[]);
            watch?.report(null);
            return answer;
          } catch (error) {
            throw failed(error);
          }
        },
        release: (destroy?: boolean) => client.release(destroy),
      } as unknown as PostgresPoolClient;
      known.set(client, made);
    }
    return made;
  };
  return {
    options: pool.options,
    async connect() {
      await watch?.gate();
      try {
        return facade(await pool.connect());
      } catch (error) {
        if (pool.totalCount >= pool.options.max && words.test((error as Error).message)) {
          throw new DatabaseUnavailable('All connections to PostgreSQL are in use: there is more to do than it can.', {
            cause: error,
          });
        }
        throw failed(error);
      }
    },
    end: () => pool.end(),
  };
}

const codeOf = (error: unknown): string =>
  String((error as { code?: unknown }).code ?? (error as Error).message ?? error);

/** Codes of PostgreSQL by which it is away or asked to stop: classes 08 and 57P, too many connections, and those of sockets. */
const away = /^(?:08|57P|53300|E[A-Z_]+$)/;
const words = /timeout|terminated|Connection ended|not queryable|Cannot use a pool/i;

/** Errors of an unavailable PostgreSQL as {@link DatabaseUnavailable}, others as they are. */
export function told(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return error;
  const code = String((error as { code?: unknown }).code ?? '');
  const message = error instanceof Error ? error.message : String(error);
  const refused: Readonly<Record<string, string>> = {
    '28P01': 'PostgreSQL refuses the password: see DATABASE_URL.',
    '28000': 'PostgreSQL refuses the user: see DATABASE_URL and pg_hba.conf.',
    '3D000': 'PostgreSQL has no such database: make it, or see DATABASE_URL.',
    '42501': 'The user of DATABASE_URL may not do that: give it all rights to its database.',
    '57014': 'PostgreSQL took too long for a query.',
    '55P03': 'A row was locked for too long.',
    '25006': 'PostgreSQL only reads now: DATABASE_URL must point to the primary server.',
  };
  if (refused[code]) return new DatabaseUnavailable(refused[code], { cause: error });
  if (away.test(code) || (code === '' && words.test(message))) {
    return new DatabaseUnavailable('PostgreSQL does not answer: see that it runs and that DATABASE_URL is right.', {
      cause: error,
    });
  }
  return error;
}
