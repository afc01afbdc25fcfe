/**
 * `npm run move-to-postgres`: copies the accounts from DATA_DIR/accounts.sqlite into the PostgreSQL of DATABASE_URL while the site is
 * stopped. After a run was killed, the next one continues from there. docs/operations.md, "Moving to PostgreSQL".
 */
import type { Moved } from '../src/server/backup/move.ts';
import { sessionDatabaseUrl } from '../src/server/config/config.ts';
import { asTable } from './restore.ts';
import { checkSettings, readArguments, readSettings, siteFolder } from './settings.ts';
import { Stop, throwAsStop } from './setup/explain.mjs';
import { step } from './setup/steps.mjs';

/** @returns whether to start over @throws Stop with how it should look */
export function readStartOver(args: readonly string[]): boolean {
  const options = { 'start-over': { type: 'boolean', default: false } } as const;
  return readArguments(args, options, 'npm run move-to-postgres -- [--start-over]').values['start-over'];
}

export async function run(args: readonly string[]): Promise<number> {
  const startOver = readStartOver(args);
  const settings = readSettings();
  const config = checkSettings(settings);
  const { wordpress, accounts, accessKeys } = config;
  const databaseUrl = sessionDatabaseUrl(config);
  if (databaseUrl === null) throw new Stop('Set DATABASE_URL to the empty PostgreSQL database to move to.');
  const dataDir = siteFolder(settings, wordpress !== null);
  const { moveToPostgres } = await import('../src/server/backup/move.ts');
  const number = new Intl.NumberFormat('en-US');
  const { tables, already }: Moved = await step('Moving the accounts', (progress) =>
    moveToPostgres({
      dataDir,
      databaseUrl,
      startOver,
      onProgress: (table, rows) => progress(`${table}, ${number.format(rows)} rows`),
    }).catch(throwAsStop),
  );
  console.log(asTable(tables));
  console.log(
    already ? 'The accounts were already moved; nothing changed.' : 'Moved and compared: every row is the same.',
  );
  console.log('Next: keep DATABASE_URL in the settings of the site, and start it.');
  if (accounts.secret === null || accessKeys === null) {
    console.log(
      `For several processes also set ACCOUNTS_SECRET and ACCESS_KEYS, to the content of accounts-secret and access-key in ${dataDir}.`,
    );
  }
  console.log('Keep accounts.sqlite until you have a backup of PostgreSQL (npm run backup), then delete it.');
  return 0;
}
