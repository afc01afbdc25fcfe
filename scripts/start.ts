/**
 * `npm start`: the newspaper at one address and its WordPress at another. With `WORDPRESS_URL` set it serves that
 * WordPress and starts no sandbox.
 */
import { join } from 'node:path';
import { publication } from '../src/publication.ts';
import { ensureBuilt } from './build.ts';
import { prepareSite } from './local-site.ts';
import type { SandboxAccess } from './sandbox.ts';
import { Stop } from './setup/explain.mjs';
import { isStopping, stopAll, treatInterruptAsNormal } from './setup/lifetime.mjs';
import { duration, step } from './setup/steps.mjs';
import { startSite, waitForEdition } from './site.ts';

export async function run(): Promise<number> {
  return start().catch((error: unknown) => {
    // If the user stops the start, errors that this causes aren't printed.
    if (isStopping()) return new Promise<number>(() => {});
    throw error;
  });
}

async function start(): Promise<number> {
  const began = Number(process.env.BROADSHEET_BEGAN ?? Date.now());
  const { config, logs, sandbox, siteSettings } = await prepareSite('npm start');
  // WordPress is set up while the pages are built; if its set-up fails first, that error is shown.
  const building = ensureBuilt();
  await (sandbox ? Promise.race([building, failureOf(sandbox.ready(() => {}))]) : building);
  const access: SandboxAccess | null = sandbox
    ? await step('Setting up WordPress', (progress) => sandbox.ready(progress))
    : null;

  const site = startSite({ ...siteSettings(access), NODE_ENV: 'production' }, join(logs, 'site.log'));
  const port = await site.listening;
  const base = `http://${config.host === '0.0.0.0' || config.host === '::' ? '127.0.0.1' : config.host}:${port}`;
  const problem: string | null = await step('Collecting the edition', (progress) =>
    Promise.race([waitForEdition(base, progress, { timeoutMs: 20_000 }), failureOf(site.ended.then(siteEnded))]),
  );

  const others: readonly Row[] = access
    ? rowsOfSandbox(access)
    : config.wordpress
      ? [['Newsroom', `${config.wordpress.url}/wp-admin/`, 'your WordPress, set in WORDPRESS_URL']]
      : [];
  print(config.siteUrl, others, problem, logs, began);
  treatInterruptAsNormal();
  const [name, end] = await Promise.race([
    site.ended.then((ended) => ['site', ended] as const),
    ...(sandbox ? [sandbox.ended.then((ended) => ['sandbox', ended] as const)] : []),
  ]);
  if (isStopping()) return new Promise<number>(() => {});
  console.error(
    `\nThe ${name} ended unexpectedly (${end.signal ?? `exit code ${end.code}`}); stopping the rest. The logs are in ${logs}.`,
  );
  return stopAll(1);
}

const siteEnded = (): never => {
  throw new Stop('The site ended before it had an edition; its log says why.');
};

/** Rejects when the promise does; never resolves. */
function failureOf(promise: Promise<unknown>): Promise<never> {
  return new Promise((_resolve, reject) => {
    promise.catch(reject);
  });
}

type Row = readonly [name: string, address: string, purpose: string];

function rowsOfSandbox({ wordpress, mailbox, google, facebook, stripe }: SandboxAccess): Row[] {
  const { adminUrl, adminUser, adminPassword } = wordpress;
  return [
    ['Newsroom', adminUrl, `WordPress, for editors: user ${adminUser}, password ${adminPassword}`],
    ['Mailbox', mailbox.url, 'every mail that the site sends: links and codes to sign in with'],
    ['Stripe', stripe.url, 'payments, and the clock that renews them: test card 4242 4242 4242 4242'],
    ['Google', google.issuer, 'stands in for Google when a reader signs in with it'],
    ['Facebook', facebook.wwwUrl, 'stands in for Facebook in the same way'],
  ];
}

function print(siteUrl: string, others: readonly Row[], problem: string | null, logs: string, began: number): void {
  const rows: Row[] = [['Site', siteUrl, `${publication.name}, as readers see it`], ...others];
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const lines = rows.map(
    ([name, address, purpose]) => `  ${name.padEnd(widths[0] ?? 0)}   ${address.padEnd(widths[1] ?? 0)}   ${purpose}`,
  );
  const head = problem
    ? `The site is running but has no edition yet: ${problem}\nIt answers 503 until it has one; you don't need to restart it.`
    : `${publication.name} is out (${duration(Date.now() - began)}).`;
  console.log(`\n${head}\n\n${lines.join('\n')}\n\n  Ctrl-C stops everything. Logs: ${logs}\n`);
}
