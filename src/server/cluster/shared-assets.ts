/**
 * Hashed scripts and styles of every build of the last days: during a release, a page of one build finds its files on the nodes of
 * another. Files with a hash in their name never change. They are stored in PostgreSQL, or in a bucket (bucket.ts).
 */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { sql } from 'kysely';
import { createBoundedMap } from '../../lib/bounded-map.ts';
import type { Queries } from '../../lib/database.ts';
import { failAfter } from '../../lib/jobs/tasks.ts';
import { createFailureLog, type Logger } from '../../lib/logging.ts';

/** Where the nodes share the files. Its errors have a message for the operator. */
export interface AssetStore {
  /** Most concurrent look-ups; anyone can request any name. */
  readonly mostLookUps: number;
  /**
   * Stores missing files, marks all given files as in use, and deletes files that no node has had for days.
   *
   * @param files path below the folder of hashed files, mapped to the place on the disk
   */
  give(files: ReadonlyMap<string, string>): Promise<void>;
  /** @param signal aborted when the answer is too late */
  get(path: string, signal: AbortSignal): Promise<Buffer | undefined>;
}

export interface SharedAssetsOptions {
  readonly store: AssetStore;
  /** Folder of the running build's hashed files. */
  readonly source: string;
  readonly log: Logger;
  /** Milliseconds that the store may take to answer (default 1000). */
  readonly answerMs?: number;
}

export interface SharedAssets {
  /**
   * Uploads this build's files for the other nodes and marks them as in use; call it at the start and from time to time. Never throws.
   */
  offer(): Promise<void>;
  /** A file of another node's build. Never throws. @param path as in `EarlierAssets.find` */
  find(path: string): Promise<Buffer | undefined>;
}

/** Milliseconds for which a file is kept after a node with that file was last seen. */
export const keptForMs = 3 * 24 * 60 * 60 * 1000;
/** Most answers that are cached; those about missing files expire after some seconds. */
const mostRemembered = 256;
const missingMs = 5000;

export function createSharedAssets(options: SharedAssetsOptions): SharedAssets {
  const { store, source, log, answerMs = 1000 } = options;
  const known = createBoundedMap<{ readonly bytes: Buffer | undefined; readonly until: number }>(mostRemembered);
  const asked = new Map<string, Promise<Buffer | undefined>>();
  /** One warning is enough until an upload succeeds again. */
  const failures = createFailureLog(log);
  const warn = (error: unknown, message: string): void =>
    failures.failed({ problem: (error as Error).message }, message);

  async function ask(path: string): Promise<Buffer | undefined> {
    const stop = new AbortController();
    try {
      const bytes = await failAfter(answerMs, store.get(path, stop.signal));
      known.set(path, { bytes, until: bytes ? Number.POSITIVE_INFINITY : Date.now() + missingMs });
      return bytes;
    } catch (error) {
      stop.abort();
      warn(error, "A file of another build couldn't be read; pages of that build may lack styles on this node");
      return undefined;
    }
  }

  return {
    async offer() {
      try {
        await store.give(await filesIn(source));
        failures.worked();
      } catch (error) {
        warn(error, "This build's files couldn't be given to the other nodes yet; retrying");
      }
    },
    async find(path) {
      if (!isName(path)) return undefined;
      const remembered = known.get(path);
      if (remembered && remembered.until > Date.now()) return remembered.bytes;
      let answer = asked.get(path);
      if (!answer) {
        if (asked.size >= store.mostLookUps) return undefined;
        answer = ask(path).finally(() => asked.delete(path));
        asked.set(path, answer);
      }
      return answer;
    },
  };
}

/** Whether a file may have this path: control characters and paths that leave the folder are never passed to a store. */
const isName = (path: string): boolean =>
  /^[^\p{C}?#%\\]{1,300}$/u.test(path) && path.split('/').every((part) => !/^\.{0,2}$/.test(part));

/** Files below a folder: path in it, with slashes, mapped to the place on the disk. */
async function filesIn(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(files.map((file) => [relative(folder, file).split(sep).join('/'), file]));
}

// The store in PostgreSQL.

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
    // A process has only few database connections.
    mostLookUps: 4,
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
