/**
 * A folder of files with a size limit; the least recently used are deleted first. Files are written under a temporary name and
 * renamed, so that a killed process leaves at most a temporary file, which the next start deletes.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';

export interface DiskCache {
  /** The file's bytes, or `null`. `maxAgeMs`: older files count as absent. */
  get(name: string, maxAgeMs?: number): Promise<Buffer | null>;
  /** Stores a file; a full disk is reported to the caller, who still has the bytes. */
  put(name: string, bytes: Buffer): Promise<void>;
  /** Removes a file, if it is there. */
  remove(name: string): Promise<void>;
  /** When a file was written, epoch milliseconds; 0 where there is none. */
  written(name: string): number;
  /** Bytes on disk. */
  readonly size: number;
}

const temporary = '.part';
const safeName = /^[a-z0-9]+\.[a-z0-9]+$/;

interface Entry {
  bytes: number;
  written: number;
}

/** The folder's files, the least recently used first. Deletes temporary files. */
async function filesIn(dir: string) {
  const found: { name: string; bytes: number; written: number; used: number }[] = [];
  for (const name of await readdir(dir)) {
    const file = path.join(dir, name);
    if (name.endsWith(temporary)) await rm(file, { force: true });
    else if (safeName.test(name)) {
      const info = await stat(file);
      found.push({ name, bytes: info.size, written: info.mtimeMs, used: Math.max(info.atimeMs, info.mtimeMs) });
    }
  }
  return found.sort((a, b) => a.used - b.used);
}

/** Opens the folder, and creates it if necessary. Keeps one small record per file in memory, in order of last use. */
export async function openDiskCache(dir: string, maxBytes: number, now: () => number = Date.now): Promise<DiskCache> {
  await mkdir(dir, { recursive: true });
  const found = await filesIn(dir);
  const entries = new Map<string, Entry>(found.map(({ name, bytes, written }) => [name, { bytes, written }]));
  let size = found.reduce((sum, entry) => sum + entry.bytes, 0);

  async function evict(): Promise<void> {
    const goal = maxBytes * 0.9;
    if (size <= maxBytes) return;
    for (const [name, entry] of entries) {
      if (size <= goal) break;
      entries.delete(name);
      size -= entry.bytes;
      await rm(path.join(dir, name), { force: true });
    }
  }
  await evict();

  return {
    get size() {
      return size;
    },
    async get(name, maxAgeMs = Number.POSITIVE_INFINITY) {
      const entry = entries.get(name);
      if (!entry || now() - entry.written > maxAgeMs) return null;
      // A file that is removed or replaced during the read is no longer in `entries`, and its bytes are no longer in `size`.
      const isCurrent = (): boolean => entries.get(name) === entry;
      try {
        const bytes = await readFile(path.join(dir, name));
        if (isCurrent()) {
          entries.delete(name);
          entries.set(name, entry);
          // Remembered on disk as well, so that the order outlives a restart; the time written stays what it was.
          utimes(path.join(dir, name), new Date(now()), new Date(entry.written)).catch(() => {});
        }
        return bytes;
      } catch {
        if (isCurrent()) {
          entries.delete(name);
          size -= entry.bytes;
        }
        return null;
      }
    },
    async remove(name) {
      const entry = entries.get(name);
      if (!entry) return;
      entries.delete(name);
      size -= entry.bytes;
      await rm(path.join(dir, name), { force: true });
    },
    written: (name) => entries.get(name)?.written ?? 0,
    async put(name, bytes) {
      if (!safeName.test(name)) throw new Error(`Not a name for a cached file: ${name}`);
      if (bytes.length > maxBytes) return;
      const part = path.join(dir, `${name}.${randomUUID()}${temporary}`);
      try {
        await writeFile(part, bytes);
        await rename(part, path.join(dir, name));
      } catch (error) {
        await rm(part, { force: true }).catch(() => {});
        throw error;
      }
      const old = entries.get(name);
      if (old) size -= old.bytes;
      entries.delete(name);
      entries.set(name, { bytes: bytes.length, written: now() });
      size += bytes.length;
      await evict();
    },
  };
}
