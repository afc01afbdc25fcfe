/**
 * The environment of contract and browser tests: the sandbox's real WordPress with the demo edition and awkward posts, and, for the
 * browser, a site on it. Data is kept in var/test between runs, so that only the first one imports.
 *
 * One process starts the world and passes it to the others in environment variables: `npm test` for all its parts, otherwise the global
 * set-up of the runner that was started by hand.
 */
import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ensureBuilt } from '../../scripts/build.ts';
import { type SandboxAccess, sandboxEnvironment, startSandbox, type WordPressAccess } from '../../scripts/sandbox.ts';
import { root } from '../../scripts/setup/places.mjs';
import { freePort, portError } from '../../scripts/setup/ports.mjs';
import { startSite, waitForEdition } from '../../scripts/site.ts';

/** Environment variable with the access to the sandbox's WordPress, JSON of {@link WordPressAccess}. */
const wordpressVariable = 'BROADSHEET_TEST_WORDPRESS';
/** Environment variable with the access to the whole sandbox, JSON of {@link SandboxAccess}. */
const sandboxVariable = 'BROADSHEET_TEST_SANDBOX';
/** Environment variable with the address of the site on it. */
export const siteVariable = 'BROADSHEET_TEST_SITE';

/** The operators' token of the site that is tested. */
export const operatorToken = 'operators-token-for-tests-only';

/** Access to the WordPress of the running world. */
export function testWordPress(): WordPressAccess {
  const text = process.env[wordpressVariable];
  if (!text) throw new Error(`${wordpressVariable} is not set: run these tests with "npm test -- browser".`);
  return JSON.parse(text) as WordPressAccess;
}

/** Mailbox, consent pages and verifier of the running world. */
export function testSandbox(): SandboxAccess {
  const text = process.env[sandboxVariable];
  if (!text) throw new Error(`${sandboxVariable} is not set: run these tests with "npm test -- browser".`);
  return JSON.parse(text) as SandboxAccess;
}

/** Environment variable with the address at which contract tests request the sandbox. */
const offerVariable = 'BROADSHEET_TEST_WORLD';

/**
 * Provides the sandbox to this process and its children. It is started at the first request, since most contract tests need
 * none.
 *
 * @returns a function that stops providing it and leaves the sandbox running
 */
export async function offerSandbox(start: () => Promise<World>): Promise<() => void> {
  if (process.env[offerVariable]) return () => {};
  const server = createServer((_request, response) => {
    response.setHeader('connection', 'close');
    start().then(
      ({ access }) => response.end(JSON.stringify(access)),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.env[offerVariable] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return () => {
    delete process.env[offerVariable];
    server.close();
  };
}

/** Milliseconds that a hook may wait for {@link askForSandbox}: the first start draws all pictures. */
export const sandboxMs = 1_200_000;

/** The sandbox of the contract tests. The first call starts it. */
export async function askForSandbox(): Promise<SandboxAccess> {
  // `fetch` gives up after five minutes, which a first start on a busy machine may take.
  const [response] = (await once(get(`${process.env[offerVariable]}`), 'response')) as [IncomingMessage];
  const answer = await text(response);
  if (response.statusCode !== 200) throw new Error(answer);
  return JSON.parse(answer) as SandboxAccess;
}

/** Address of the site of the running world. */
export function testSite(): string {
  const site = process.env[siteVariable];
  if (!site) throw new Error(`${siteVariable} is not set: run these tests with "npm test -- browser".`);
  return site;
}

export interface World {
  readonly access: SandboxAccess;
  readonly site: string | null;
  /** Of the site's process. */
  readonly pid: number | null;
  stop(): Promise<void>;
}

/** Waits until a site sells subscriptions: it listens before it has fetched the prices from Stripe. */
export async function waitForPrices(site: string): Promise<void> {
  const end = Date.now() + 600_000;
  while (!(await (await fetch(`${site}/pricing`)).text()).includes('reader-yearly')) {
    if (Date.now() > end) throw new Error(`${site} has no prices.`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The usual port, so that the addresses in the stored data stay valid, or a free one if it is taken. */
const portNear = async (wanted: number): Promise<number> =>
  (await portError(wanted, '127.0.0.1')) ? freePort() : wanted;

const data = join(root, 'var', 'test');

/** Data folder of the tested site. */
export const siteData = join(data, 'site');

/** Starts the sandbox and, if wanted, a site; both end with this process. */
export async function startWorld(options: {
  readonly withSite: boolean;
  readonly progress: (note: string) => void;
}): Promise<World> {
  const ports = { wordpress: await portNear(18_881), mailbox: await portNear(18_882), stripe: await portNear(18_883) };
  const sitePort = await portNear(14_321);
  const siteUrl = `http://127.0.0.1:${sitePort}`;
  const sandbox = startSandbox({
    data: join(data, 'sandbox'),
    ports,
    siteUrl,
    log: join(data, 'logs', 'sandbox.log'),
    env: process.env,
    edition: 'tests',
  });
  try {
    const [access] = await Promise.all([
      sandbox.ready((note) => options.progress(`WordPress: ${note}`)),
      // Contract tests start their own sites, several at a time, so none of them may build.
      ensureBuilt(),
    ]);
    process.env[wordpressVariable] = JSON.stringify(access.wordpress);
    process.env[sandboxVariable] = JSON.stringify(access);
    if (!options.withSite) return { access, site: null, pid: null, stop: sandbox.stop };

    const site = startSite(
      {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        NODE_ENV: 'production',
        HOST: '127.0.0.1',
        PORT: String(sitePort),
        DATA_DIR: siteData,
        OPERATOR_TOKEN: operatorToken,
        // A share would make it random which visits are measured.
        VITALS_SHARE: '0',
        // Each test may come from an address of its own (readers.ts).
        TRUSTED_PROXIES: '1',
        // WordPress tells the site of each change; a poll each half minute would take time from the tests.
        SYNC_POLL_SECONDS: '3600',
        ...sandboxEnvironment(access, {}),
      },
      join(data, 'logs', 'site.log'),
    );
    await site.listening;
    const problem = await waitForEdition(siteUrl, (note) => options.progress(`edition: ${note}`), {
      timeoutMs: 600_000,
      // Lists and fragments stored during the copy would be incomplete.
      complete: true,
    });
    if (problem) throw new Error(`The site has no edition: ${problem}. Its log is ${join(data, 'logs', 'site.log')}.`);
    await waitForPrices(siteUrl);
    process.env[siteVariable] = siteUrl;
    return {
      access,
      site: siteUrl,
      pid: site.pid,
      stop: async () => {
        await site.stop();
        await sandbox.stop();
      },
    };
  } catch (error) {
    await sandbox.stop();
    throw error;
  }
}
