/**
 * Kysely over PostgreSQL: a limited pool that reconnects after an outage, errors that say what to do, and no query before the
 * migrations have run.
 */
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { DatabaseUnavailable } from '../../lib/database.ts';
import type { Logger } from '../../lib/logging.ts';
import { queryListener } from '../../lib/tracing.ts';

/** Most connections of one process, unless the settings say otherwise. */
const mostConnections = 10;
/** Milliseconds. */
const timeoutsMs = { statement: 10_000, idleInTransaction: 15_000, answer: 20_000, idle: 30_000 };

export interface PoolOptions {
  readonly log: Logger;
  /** Most connections (default 10). */
  readonly connections?: number | undefined;
  /** How long to wait for a connection, in milliseconds; 5000 unless given. */
  readonly timeoutMs?: number | undefined;
  /** For migrations: one connection, without a time limit for statements. */
  readonly patient?: boolean;
}

/** @param url validated already, see config.ts */
export function openPool(
  url: string,
  { log, connections = mostConnections, timeoutMs = 5000, patient = false }: PoolOptions,
): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: patient ? 1 : connections,
    connectionTimeoutMillis: timeoutMs,
    idleTimeoutMillis: timeoutsMs.idle,
    statement_timeout: timeoutsMs.statement,
    idle_in_transaction_session_timeout: timeoutsMs.idleInTransaction,
    // Longer than the server's own limit: only a server that disappeared without closing the connection reaches it.
    ...(!patient && { query_timeout: timeoutsMs.answer }),
    keepAlive: true,
    application_name: 'broadsheet',
    // Times are milliseconds and far below 2^53, so they are parsed as numbers.
    types: {
      getTypeParser: (id: number, format?: 'text') => (id === 20 ? Number : pg.types.getTypeParser(id, format)),
    },
  } as pg.PoolConfig);
  // Without a listener, a connection that breaks would end the process; the pool itself listens only while a connection is idle.
  const open = new Set<pg.PoolClient>();
  connectionsOf.set(pool, open);
  pool.on('remove', (client) => open.delete(client));
  pool.on('connect', (client) => {
    open.add(client);
    client.on('error', (error) => log.warn({ code: codeOf(error) }, 'A connection to PostgreSQL broke'));
  });
  pool.on('error', () => {});
  return pool;
}

/** The connections of each pool. */
const connectionsOf = new WeakMap<pg.Pool, Set<pg.PoolClient>>();

/** Closes the connections of a pool immediately. */
export function closeConnections(pool: pg.Pool): void {
  for (const client of connectionsOf.get(pool) ?? []) closeConnection(client);
}

function closeConnection(client: pg.PoolClient): void {
  (client as unknown as pg.Client).connection.stream.destroy();
}

/**
 * A connection outside of the pool, for work that needs the same one throughout. It isn't connected yet; the caller must listen to its
 * errors.
 *
 * @param timeoutMs longest wait for the connection and for each response, in milliseconds
 */
export const openClient = (url: string, timeoutMs: number): pg.Client =>
  new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    keepAlive: true,
    application_name: 'broadsheet',
  });

export interface Watch {
  /** Awaited before each use of a connection; if it throws, the query throws the same error. */
  whenAvailable(): Promise<void>;
  /** Called with every query: `null` if the database responds, or the reason why it doesn't. */
  report(problem: string | null): void;
}

export function postgresKysely<Tables>(pool: pg.Pool, watch?: Watch): Kysely<Tables> {
  const log = queryListener();
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: guarded(pool, watch) }), ...(log && { log }) });
}

/** The pool, with connection errors as {@link DatabaseUnavailable}. */
function guarded(pool: pg.Pool, watch?: Watch): PostgresPool {
  const failed = (error: unknown): unknown => {
    const known = asUnavailable(error);
    if (known instanceof DatabaseUnavailable) watch?.report(known.message);
    return known;
  };
  const facades = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  const facade = (client: pg.PoolClient): PostgresPoolClient => {
    let made = facades.get(client);
    if (!made) {
      let isUseless = false;
      made = {
        query: async (sql: never, parameters?: readonly unknown[]) => {
          try {
            const answer = await client.query(sql, parameters as unknown[]);
            watch?.report(null);
            return answer;
          } catch (error) {
            isUseless ||= leadsNowhere(error);
            // Otherwise the rollback that follows would wait as long again.
            if (isSilent(error)) closeConnection(client);
            throw failed(error);
          }
        },
        release: (destroy?: boolean) => client.release(destroy || isUseless),
      } as unknown as PostgresPoolClient;
      facades.set(client, made);
    }
    return made;
  };
  return {
    options: pool.options,
    async connect() {
      await watch?.whenAvailable();
      try {
        return facade(await pool.connect());
      } catch (error) {
        if (pool.totalCount >= pool.options.max && unavailableWords.test((error as Error).message)) {
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

/** The server has disappeared without closing the connection. */
const isSilent = (error: unknown): boolean => error instanceof Error && error.message === 'Query read timeout';

/** After a failover, a connection may still lead to the server that was replaced, or that only reads; a new one doesn't. */
const leadsNowhere = (error: unknown): boolean => isSilent(error) || (error as { code?: unknown }).code === '25006';

const codeOf = (error: unknown): string =>
  String((error as { code?: unknown }).code ?? (error as Error).message ?? error);

/** PostgreSQL's codes for an outage or a shutdown: classes 08 and 57P, and socket errors. */
const unavailableCodes = /^(?:08|57P|E[A-Z_]+$)/;
/** Codes of Node and OpenSSL for a certificate that isn't trusted. */
const untrustedCodes = /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/;
const unavailableWords = /timeout|terminated|Connection ended|not queryable|Cannot use a pool/i;

/** Converts errors of an unavailable PostgreSQL to {@link DatabaseUnavailable}; others stay as they are. */
export function asUnavailable(error: unknown): unknown {
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
    '53300':
      'PostgreSQL accepts no more connections: raise its max_connections, or lower DATABASE_POOL or the number of processes.',
    '53100': 'The disk of PostgreSQL is full: make room on it.',
    ERR_TLS_CERT_ALTNAME_INVALID:
      'The certificate of PostgreSQL is for another host: DATABASE_URL must have the name that is in it.',
    CERT_HAS_EXPIRED: 'The certificate of PostgreSQL has expired: renew it.',
  };
  if (refused[code]) return new DatabaseUnavailable(refused[code], { cause: error });
  if (untrustedCodes.test(code)) {
    const sentence = `The certificate of PostgreSQL isn't trusted (${code}): name the file of its authority as sslrootcert in DATABASE_URL.`;
    return new DatabaseUnavailable(sentence, { cause: error });
  }
  if (code === '' && /does not support SSL/u.test(message)) {
    const sentence =
      'PostgreSQL offers no encrypted connections: turn its setting ssl on, or see sslmode in DATABASE_URL.';
    return new DatabaseUnavailable(sentence, { cause: error });
  }
  if (unavailableCodes.test(code) || (code === '' && unavailableWords.test(message))) {
    return new DatabaseUnavailable('PostgreSQL does not answer: see that it runs and that DATABASE_URL is right.', {
      cause: error,
    });
  }
  return error;
}
