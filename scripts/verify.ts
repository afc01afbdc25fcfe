/**
 * `npm run verify`: checks with the settings of `.env` whether each configured service does what the site needs, and prints a line for
 * each check. `--only stripe,mail` checks only these, `--mail-to you@example.com` mails a test message, `--record` keeps the exchanges,
 * without secrets, for the stand-ins of the sandbox.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLog } from '../src/server/logging.ts';
import { allChecks } from '../src/server/verify/all.ts';
import { formatLine, runChecks, summaryLine } from '../src/server/verify/checks.ts';
import { createRecorder } from '../src/server/verify/recordings.ts';
import { checkSettings, readArguments, readSettings } from './settings.ts';
import { Stop } from './setup/explain.mjs';
import { root } from './setup/places.mjs';

/** Settings whose values must not be kept in a recording. */
const secretSettings = /SECRET|KEY|TOKEN|PASSWORD|SMTP_URL|DATABASE_URL|_CLIENT_ID|WORDPRESS_USER/;

export async function run(args: readonly string[]): Promise<number> {
  const { only, record, mailTo } = readOptions(args);
  const env = readSettings();
  const config = checkSettings(env);
  const log = createLog('silent');
  const checks = allChecks({ config, pluginVersion: pluginVersion(), mailTo, log });
  const services = [...new Set(checks.map(({ service }) => service))];
  const unknown = only.filter((name) => !services.includes(name));
  if (unknown.length > 0)
    throw new Stop(`There is no service ${unknown.join(', ')}; the services are ${services.join(', ')}.`);

  const secrets = Object.entries(env).flatMap(([name, value]) => (value && secretSettings.test(name) ? [value] : []));
  const recorder = record ? createRecorder(globalThis.fetch, secrets) : null;
  if (recorder) globalThis.fetch = recorder.fetch;
  const wanted = checks.filter(({ service }) => only.length === 0 || only.includes(service));
  const lines = await runChecks(wanted, {
    onService: (service) => recorder?.begin(service),
    onLine: (line) => console.log(formatLine(line)),
  });
  if (recorder) {
    const files = recorder.save(join(root, 'sandbox', 'recorded'));
    console.log(`\nRecorded ${files.length} services under sandbox/recorded. Read the files before you share them.`);
  }
  console.log(`\n${summaryLine(lines)}`);
  return lines.some(({ outcome }) => outcome === 'failed') ? 1 : 0;
}

const usage = 'npm run verify -- [--only stripe,mail] [--mail-to you@example.com] [--record]';

function readOptions(args: readonly string[]): { only: string[]; record: boolean; mailTo: string | null } {
  const text = { type: 'string' } as const;
  const { values } = readArguments(args, { only: text, record: { type: 'boolean' }, 'mail-to': text }, usage);
  const only = (values.only ?? '').split(',').filter((name) => name !== '');
  return { only, record: values.record ?? false, mailTo: values['mail-to'] ?? null };
}

/** The version in the header of the plugin of this release. */
function pluginVersion(): string {
  const text = readFileSync(join(root, 'wordpress', 'newsroom', 'newsroom.php'), 'utf8');
  return /^ \* Version:\s*(\S+)/m.exec(text)?.[1] ?? '';
}
