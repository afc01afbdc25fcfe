/**
 * `npm run restore -- <backup>`: replaces the accounts with a backup while the site is stopped; the accounts that were there are
 * kept. `-- --check <backup>` restores into a temporary place, compares, and changes nothing.
 * docs/operations.md, "Backup and restore".
 */
import { resolve } from 'node:path';
import type { Manifest } from '../src/server/backup/manifest.ts';
import { sessionDatabaseUrl } from '../src/server/config/config.ts';
import { checkSettings, readArguments, readSettings, siteFolder } from './settings.ts';
import { Stop, throwAsStop } from './setup/explain.mjs';
import { root } from './setup/places.mjs';
import { step } from './setup/steps.mjs';

interface RestoreOptions {
  readonly backup: string;
  readonly check: boolean;
}

/** @throws Stop with how it should look */
export function readRestore(args: readonly string[]): RestoreOptions {
  const usage = 'npm run restore -- [--check] <path of a backup, its name in BACKUP_DIR, or latest>';
  const options = { check: { type: 'boolean', default: false } } as const;
  const { values, positionals } = readArguments(args, options, usage, true);
  const [backup, ...more] = positionals;
  if (backup && more.length === 0) return { backup, check: values.check };
  throw new Stop(`Usage: ${usage}`);
}

const number = new Intl.NumberFormat('en-US');

/** Row counts of the tables that have rows. */
export const asTable = (tables: Readonly<Record<string, number>>): string =>
  Object.entries(tables)
    .filter(([, rows]) => rows > 0)
    .map(([table, rows]) => `  ${table.padEnd(20)} ${number.format(rows).padStart(12)}`)
    .join('\n');

const heading = ({ made, engine }: Manifest): string =>
  `Backup of ${made} (${engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'})`;

export async function run(args: readonly string[]): Promise<number> {
  const { backup, check } = readRestore(args);
  const settings = readSettings();
  const config = checkSettings(settings);
  process.umask(0o077);
  const dataDir = siteFolder(settings, config.wordpress !== null);
  const databaseUrl = sessionDatabaseUrl(config);
  const options = { dataDir, databaseUrl, path: process.env.PATH ?? '', now: Date.now() };
  const { findBackup, checkBackup, restore } = await import('../src/server/backup/restore.ts');
  try {
    const from = findBackup(backup, config.backupDir === null ? null : resolve(root, config.backupDir), options.now);
    if (check) {
      const manifest = await step('Restoring into a temporary place', () => checkBackup(from, options));
      console.log(`${heading(manifest)}\n${asTable(manifest.tables)}\nIt is complete and can be restored: ${from}`);
      return 0;
    }
    const { manifest, aside } = await step('Restoring', () => restore(from, options));
    console.log(`${heading(manifest)}\n${asTable(manifest.tables)}\nRestored: ${from}`);
    if (aside !== null) {
      const where = databaseUrl === null ? `in ${aside}` : `in the schema ${aside}`;
      console.log(`What was there before is ${where}. Delete it when you don't need it any more.`);
    }
    const hasSecret = manifest.files.some(({ name }) => name === 'accounts-secret');
    if (!hasSecret) console.log('ACCOUNTS_SECRET must be that of the backup, or every reader has to sign in again.');
    console.log(
      'Next: start the site, and check that /readyz answers 200. Stripe is compared with the accounts every night.',
    );
    return 0;
  } catch (error) {
    return throwAsStop(error as Error);
  }
}
