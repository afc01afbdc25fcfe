/**
 * `npm run backup`: one verified backup of the accounts in BACKUP_DIR, while the site is running. `-- --every 60` makes one every 60
 * seconds in which the accounts changed, until it is stopped. docs/operations.md, "Backup and restore".
 */
import { resolve } from 'node:path';
import type { BackupOptions, MadeBackup } from '../src/server/backup/backup.ts';
import { sessionDatabaseUrl } from '../src/server/config/config.ts';
import { checkSettings, readArguments, readSettings, siteFolder } from './settings.ts';
import { Stop, throwAsStop } from './setup/explain.mjs';
import { onStop, treatInterruptAsNormal } from './setup/lifetime.mjs';
import { root } from './setup/places.mjs';
import { duration } from './setup/steps.mjs';

/** @returns seconds between two backups; `null`: one backup @throws Stop with how it should look */
export function readEvery(args: readonly string[]): number | null {
  const usage = 'npm run backup, or npm run backup -- --every 60 (seconds, from 5 to 86400)';
  const { every } = readArguments(args, { every: { type: 'string' } }, usage).values;
  if (every === undefined) return null;
  const seconds = Number(every);
  if (!/^\d+$/.test(every) || seconds < 5 || seconds > 86_400) throw new Stop(`Usage: ${usage}`);
  return seconds;
}

const number = new Intl.NumberFormat('en-US');

/** A line that describes a backup. */
export function describeBackup({ path, manifest, deleted }: MadeBackup, ms: number): string {
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  const accounts = number.format(manifest.tables.users ?? 0);
  const size = `${(bytes / 1e6).toFixed(1)} MB`;
  const pruned = deleted > 0 ? `; ${deleted} old ${deleted === 1 ? 'backup' : 'backups'} deleted` : '';
  return `${path}: ${accounts} accounts, ${size}, verified, ${duration(ms)}${pruned}`;
}

export async function run(args: readonly string[]): Promise<number> {
  const every = readEvery(args);
  const settings = readSettings();
  const config = checkSettings(settings);
  if (config.backupDir === null) throw new Stop('Set BACKUP_DIR to the folder for backups.');
  // Other users must not be able to read the files that are written from here on.
  process.umask(0o077);
  const options: BackupOptions = {
    dataDir: siteFolder(settings, config.wordpress !== null),
    databaseUrl: sessionDatabaseUrl(config),
    backupDir: resolve(root, config.backupDir),
    days: config.backupDays,
    path: process.env.PATH ?? '',
    now: Date.now,
  };
  const { keepBackingUp, makeBackup } = await import('../src/server/backup/backup.ts');
  if (every === null) {
    const began = performance.now();
    const made = await makeBackup(options).catch(throwAsStop);
    console.log(describeBackup(made, performance.now() - began));
    return 0;
  }
  const stopping = new AbortController();
  treatInterruptAsNormal();
  console.log(
    `Every ${every} seconds, a backup goes to ${options.backupDir} if the accounts changed. Press Ctrl-C to stop.`,
  );
  const running = keepBackingUp(options, {
    seconds: every,
    signal: stopping.signal,
    onMade: (made, ms) => console.log(describeBackup(made, ms)),
    onFailed: (error) => console.error(`${new Date().toISOString()} No backup: ${error.message}`),
  });
  onStop((hard) => {
    stopping.abort();
    return hard ? undefined : running;
  });
  await running;
  return 0;
}
