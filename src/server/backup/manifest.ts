/** `manifest.json` of a backup: its contents, and hashes that reveal damage. */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';

export const manifestFile = 'manifest.json';

const manifest = z.object({
  format: z.literal(1),
  /** ISO time. */
  made: z.iso.datetime(),
  engine: z.enum(['sqlite', 'postgres']),
  /** PostgreSQL's schema of the tables. */
  schema: z.string().nullable(),
  migrations: z.array(z.string()),
  /** Rows of each table. */
  tables: z.record(z.string(), z.number()),
  files: z.array(z.object({ name: z.string(), bytes: z.number(), sha256: z.string() })),
});

export type Manifest = z.infer<typeof manifest>;
type FileEntry = Manifest['files'][number];

/** A backup that can't be used; the message names the file. */
export class DamagedBackup extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(`The backup can't be used: ${message}. Choose another one.`, options);
    this.name = 'DamagedBackup';
  }
}

export const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** A file that exists but can't be read must not be mistaken for damage or loss. */
export function unreadable(path: string, error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  const sentence = `${path} can't be read (${code ?? message}). Run the command as the user that owns it, or as root.`;
  return new Error(sentence, { cause: error });
}

/** Size and SHA-256 of a file. Don't call it for a database that this process has open: closing the file would drop SQLite's locks. */
export async function describeFile(path: string): Promise<FileEntry> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return { name: basename(path), bytes: statSync(path).size, sha256: hash.digest('hex') };
}

/**
 * Reads the manifest of a backup and compares every file with it.
 *
 * @param folder of the backup
 * @throws DamagedBackup with the name of the file
 */
export async function verifiedManifest(folder: string): Promise<Manifest> {
  const read = readManifest(folder);
  for (const expected of read.files) {
    const path = join(folder, expected.name);
    if (expected.name !== basename(expected.name)) throw new DamagedBackup(`${manifestFile} names ${expected.name}`);
    if (!existsSync(path)) throw new DamagedBackup(`${path} is missing`);
    const found = await describeFile(path);
    if (found.bytes !== expected.bytes) {
      throw new DamagedBackup(`${path} has ${found.bytes} bytes instead of ${expected.bytes}`);
    }
    if (found.sha256 !== expected.sha256) throw new DamagedBackup(`${path} is damaged (its SHA-256 differs)`);
  }
  return read;
}

/** Reads the manifest alone. @throws DamagedBackup, or Error with a sentence for the operator when this user can't read it */
export function readManifest(folder: string): Manifest {
  const path = join(folder, manifestFile);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw isMissing(error) ? new DamagedBackup(`${path} is missing`) : unreadable(path, error);
  }
  try {
    return manifest.parse(JSON.parse(text));
  } catch (error) {
    throw new DamagedBackup(`${path} is damaged`, { cause: error });
  }
}

/** Compares the rows of each table with those of the manifest. @returns the first difference, or `null` */
export function findMissingRows({ tables }: Manifest, found: Readonly<Record<string, number>>): string | null {
  for (const table of new Set([...Object.keys(tables), ...Object.keys(found)])) {
    const [expected = 0, actual = 0] = [tables[table], found[table]];
    if (expected !== actual) return `${table} has ${actual} rows instead of ${expected}`;
  }
  return null;
}
