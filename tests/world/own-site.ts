/** A site for one test, with its own settings, on a copy of the world's edition. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sandboxEnvironment } from '../../scripts/sandbox.ts';
import type { Environment } from '../../scripts/settings.ts';
import { freePort } from '../../scripts/setup/ports.mjs';
import { startSite, waitForEdition } from '../../scripts/site.ts';
import { siteData, testSandbox, waitForPrices } from './world.ts';

export interface OwnSite {
  /** Where it listens; also its public address, unless the settings have `SITE_URL`. */
  readonly site: string;
  /** Its data folder. */
  readonly dataDir: string;
  stop(): Promise<void>;
}

/**
 * @param settings in addition to those of the sandbox
 * @param port where it listens (default: a free one)
 */
export async function startOwnSite(settings: Environment, port?: number): Promise<OwnSite> {
  const listening = port ?? (await freePort());
  const site = `http://127.0.0.1:${listening}`;
  const dataDir = mkdtempSync(join(tmpdir(), 'own-site-'));
  const store = new DatabaseSync(join(siteData, 'content.sqlite'), { readOnly: true, timeout: 60_000 });
  store.exec(`VACUUM INTO '${join(dataDir, 'content.sqlite')}'`);
  store.close();
  if (!settings.WORDPRESS_URL) copyPictures(dataDir);
  const environment: Environment = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
  };
  Object.assign(environment, { PORT: String(listening), DATA_DIR: dataDir, TRUSTED_PROXIES: '1' });
  // Nothing changes in its copy, and polls of a dozen sites every half minute would keep WordPress busy.
  Object.assign(environment, { SYNC_POLL_SECONDS: '3600' });
  Object.assign(environment, sandboxEnvironment(testSandbox(), {}), settings);
  const running = startSite(environment, join(dataDir, 'site.log'));
  await running.listening;
  const problem = await waitForEdition(site, () => {}, { timeoutMs: 400_000, complete: true });
  if (problem) throw new Error(`The test's own site has no edition: ${problem}.`);
  await waitForPrices(site);
  return {
    site,
    dataDir,
    async stop() {
      await running.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * Gives a site the pictures that the world's site has by now: fetching and encoding the same edition's originals again would take longer
 * than the rest of the start.
 */
function copyPictures(dataDir: string): void {
  const pictures = join(siteData, 'images');
  if (!existsSync(pictures)) return;
  const copies = join(dataDir, 'images');
  mkdirSync(copies);
  for (const name of readdirSync(pictures)) {
    // The world's site goes on writing: a file that it is about to rename isn't a picture yet, and one that it has removed isn't needed.
    if (name.endsWith('.part')) continue;
    try {
      copyFileSync(join(pictures, name), join(copies, name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}
