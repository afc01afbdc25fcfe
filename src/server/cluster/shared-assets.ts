/**
 * Hashed scripts and styles of every build of the last days, in PostgreSQL: during a release, a page of one build finds its files on the
 * nodes of another. Files with a hash in their name never change.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { sql } from 'kysely';
import type { Queries } from '../../lib/database.ts';
import type { Logger } from '../../lib/logging.ts';
import { createBoundedMap } from '../../press/cache/bounded-map.ts';

export interface SharedAssetsOptions {
  /** PostgreSQL. */
  readonly db: Queries;
  /** Folder of the running build's hashed files. */
  readonly source: string;
  readonly log: Logger;
  readonly now?: () => number;
  /** Milliseconds for which a file is kept after the last node that has it was seen (default three days). */
  readonly keptMs?: number;
  /** Milliseconds that PostgreSQL may take to answer (default 1000). */
  readonly answerMs?: number;
}

export interface SharedAssets {
  /** Gives this build's files to the other nodes, and says that they are in use; call it at the start and now and then. Never throws. */
  offer(): Promise<void>;
  /** A file of another node's build. @param path as in `EarlierAssets.find` */
  find(path: string): Promise<Buffer | undefined>;
}

const day = 24 * 60 * 60 * 1000;
/** Anyone may ask for any name: few questions run at a time, and answers are remembered. */
const mostQuestions = 4;
const mostRemembered = 256;
const missingMs = 5000;
/** Files in one statement. */
const batch = 20;

export function createSharedAssets(options: SharedAssetsOptions): SharedAssets {
  const { db, source, log, now = Date.now, keptMs = 3 * day, answerMs = 1000 } = options;
  const known = createBoundedMap<{ readonly bytes: Buffer | undefined; readonly until: number }>(mostRemembered);
  let asking = 0;

  async function give(): Promise<void> {
    const files = await filesIn(source);
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
  }

  return {
    offer: () =>
      give().catch((error: Error) => {
        log.warn({ problem: error.message }, "This build's files couldn't be given to the other nodes yet; retrying");
      }),
    async find(path) {
      const remembered = known.get(path);
      if (remembered && remembered.until > now()) return remembered.bytes;
      if (asking >= mostQuestions) return undefined;
      asking++;
      const late = Promise.withResolvers<null>();
      const timer = setTimeout(() => late.resolve(null), answerMs);
      try {
        const query = sql<{ bytes: Buffer }>`select bytes from shared_assets where path = ${path}`.execute(db);
        query.catch(() => {});
        const answer = await Promise.race([query, late.promise]);
        if (!answer) return undefined;
        const bytes = answer.rows[0]?.bytes;
        known.set(path, { bytes, until: bytes ? Number.POSITIVE_INFINITY : now() + missingMs });
        return bytes;
      } catch {
        return undefined;
      } finally {
        clearTimeout(timer);
        asking--;
      }
    },
  };
}

/** Files below a folder: their path in it, with slashes, to their place. */
async function filesIn(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(files.map((file) => [relative(folder, file).split(sep).join('/'), file]));
}
