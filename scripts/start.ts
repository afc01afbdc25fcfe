/**
 * `npm start`: the newspaper at one address and its WordPress at another. With `WORDPRESS_URL` set it serves that
 * WordPress and starts no sandbox.
 */
import { join } from 'node:path';
import { publication } from '../src/publication.ts';
import { ensureBuilt } from './build.ts';
import { portsOfSandbox, type SandboxAccess, sandboxEnvironment, startSandbox } from './sandbox.ts';
import { checkSettings, readSettings, sandboxPorts } from './settings.ts';
import { Stop } from './setup/explain.mjs';
import { endsWhenAsked, isStopping, stopAll } from './setup/lifetime.mjs';
import { root } from './setup/places.mjs';
import { requirePorts } from './setup/ports.mjs';
import { duration, step } from './setup/steps.mjs';
import { startSite, waitForEdition } from './site.ts';

export async function run(): Promise<number> {
  const began = Number(process.env.BROADSHEET_BEGAN ?? Date.now());
  const env = readSettings();
  const config = checkSettings(env);
  const ports = sandboxPorts(env);
  const ownWordPress = config.wordpress !== null;
  // The sandbox's edition is kept apart, so that production never serves it.
  const dataDir = env.DATA_DIR?.trim() || (ownWordPress ? 'var/site' : 'var/demo');
  const logs = join(root, dataDir, 'logs');

  await requirePorts([
    { port: config.port, host: config.host, setting: 'PORT', purpose: 'the site' },
    ...(ownWordPress ? [] : portsOfSandbox(ports)),
  ]);

  const sandbox = ownWordPress
    ? null
    : startSandbox({
        data: join(root, 'var', 'sandbox'),
        ports,
        siteUrl: config.siteUrl,
        log: join(logs, 'sandbox.log'),
        env,
      });
  // WordPress sets itself up while the pages are built; if it fails first, its message is the one to show.
  const building = ensureBuilt();
  await (sandbox ? Promise.race([building, failureOf(sandbox.ready(() => {}))]) : building);
  const access: SandboxAccess | null = sandbox
    ? await step('Setting up WordPress', (progress) => sandbox.ready(progress))
    : null;

  const site = startSite(
    {
      ...env,
      NODE_ENV: 'production',
      DATA_DIR: dataDir,
      ...(access && sandboxEnvironment(access, env)),
    },
    join(logs, 'site.log'),
  );
  const port = await site.listening;
  const base = `http://${config.host === '0.0.0.0' || config.host === '::' ? '127.0.0.1' : config.host}:${port}`;
  const problem: string | null = await step('Collecting the edition', (progress) =>
    Promise.race([waitForEdition(base, progress, { patienceMs: 20_000 }), failureOf(site.ended.then(siteEnded))]),
  );

  print(config.siteUrl, access, problem, logs, began);
  endsWhenAsked();
  const [name, end] = await Promise.race([
    site.ended.then((ended) => ['site', ended] as const),
    ...(sandbox ? [sandbox.ended.then((ended) => ['sandbox', ended] as const)] : []),
  ]);
  if (isStopping()) return new Promise<number>(() => {});
  console.error(
    `\nThe ${name} ended by itself (${end.signal ?? `exit code ${end.code}`}); stopping the rest. The logs are in ${logs}.`,
  );
  return stopAll(1);
}

const siteEnded = (): never => {
  throw new Stop('The site ended before it had an edition; its log says why.');
};

/** Never resolves; rejects when the promise does. */
function failureOf(promise: Promise<unknown>): Promise<never> {
  return new Promise((_resolve, reject) => {
    promise.catch(reject);
  });
}

function print(
  siteUrl: string,
  access: SandboxAccess | null,
  problem: string | null,
  logs: string,
  began: number,
): void {
  const rows: [name: string, address: string, purpose: string][] = [
    ['Site', siteUrl, `${publication.name}, as readers see it`],
  ];
  if (access) {
    const { wordpress, mailbox, google, facebook } = access;
    rows.push(
      [
        'Newsroom',
        wordpress.adminUrl,
        `WordPress, for editors: user ${wordpress.adminUser}, password ${wordpress.adminPassword}`,
      ],
      ['Mailbox', mailbox.url, 'every mail that the paper sends: links and codes to sign in with'],
      ['Google', google.issuer, 'stands in for Google when a reader continues with it'],
      ['Facebook', facebook.wwwUrl, 'stands in for Facebook likewise'],
    );
  }
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const lines = rows.map(
    ([name, address, purpose]) => `  ${name.padEnd(widths[0] ?? 0)}   ${address.padEnd(widths[1] ?? 0)}   ${purpose}`,
  );
  const head = problem
    ? `The site is up and has no edition yet: ${problem}\nIt answers 503 until there is one and heals by itself.`
    : `${publication.name} is out (${duration(Date.now() - began)}).`;
  console.log(`\n${head}\n\n${lines.join('\n')}\n\n  Ctrl-C stops everything. Logs: ${logs}\n`);
}
