/** Starts the sandbox on a data folder: WordPress, which is installed, prepared and filled first, and the other vendors. */
import fs from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { clearData, lockData } from './data-folder.ts';
import { importEdition } from './edition/import.ts';
import type { EditionKind } from './edition/model.ts';
import { crosswordHtml } from './edition/read.ts';
import { sections } from './edition/sections.ts';
import { coreFolder } from './setup.mjs';
import { startVendors, type VendorsAccess } from './vendors.ts';
import { portInUse } from './web.ts';
import { bootWordPress, type RunningWordPress } from './wordpress/boot.ts';
import { readCredentials, saveCredentials } from './wordpress/credentials.ts';
import { prepareWordPress } from './wordpress/prepare.ts';

/** What the site's process needs to know about the sandbox's WordPress. */
export interface WordPressAccess {
  readonly url: string;
  readonly adminUrl: string;
  readonly adminUser: string;
  readonly adminPassword: string;
  readonly siteUser: string;
  readonly siteApplicationPassword: string;
  readonly secret: string;
}

/** All addresses, and the credentials that the site needs. */
export interface SandboxAccess extends VendorsAccess {
  readonly wordpress: WordPressAccess;
}

export interface Sandbox {
  readonly access: SandboxAccess;
  readonly wordpress: RunningWordPress;
  stop(): Promise<void>;
}

export interface Progress {
  readonly progress: string;
  readonly done?: number;
  readonly total?: number;
}

export interface SandboxOptions {
  /** The root of the repository. */
  readonly root: string;
  /** Folder for data that lasts between starts. */
  readonly data: string;
  /** Port of WordPress on 127.0.0.1; 0 chooses a free one. */
  readonly port: number;
  /** Port of the mailbox's page; 0 chooses a free one. */
  readonly mailboxPort: number;
  /** Port of Stripe; 0 chooses a free one. */
  readonly stripePort: number;
  /** Address of the newspaper's site. */
  readonly siteUrl: string;
  /** What is imported into an empty WordPress (default: the demo edition). */
  readonly edition?: EditionKind;
  readonly onProgress?: (progress: Progress) => void;
}

/** How often WordPress's scheduled tasks run when nothing changes, in milliseconds. */
const CRON_INTERVAL = 10_000;

/**
 * Starts everything; `ensureSandbox` must have run before.
 * @throws {SetupError} when the data folder or the port is in use
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { data } = options;
  fs.mkdirSync(data, { recursive: true });
  const lock = lockData(data);
  try {
    const installed = path.join(data, 'installed');
    // Without the mark, an earlier installation was interrupted, and its files can't be trusted.
    if (!fs.existsSync(installed)) clearData(data);
    const { siteUrl, mailboxPort, stripePort } = options;
    const vendors = await startVendors({ siteUrl, mailboxPort, stripePort, data });
    try {
      const { wordpress, access } = await startWordPress(options);
      return {
        wordpress,
        access: { ...vendors.access, wordpress: access },
        async stop() {
          await Promise.all([wordpress.stop(), vendors.stop()]);
          lock.release();
        },
      };
    } catch (error) {
      await vendors.stop();
      throw error;
    }
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function startWordPress(
  options: SandboxOptions,
): Promise<{ wordpress: RunningWordPress; access: WordPressAccess }> {
  const { root, data, edition: kind = 'demo', onProgress = () => {} } = options;
  const plugins = [{ slug: 'newsroom', folder: path.join(root, 'wordpress', 'newsroom') }];
  onProgress({ progress: 'Starting WordPress' });
  const wordpress = await bootWordPress({
    core: coreFolder(root),
    compiled: path.join(root, '.broadsheet', 'php'),
    data,
    port: options.port,
    plugins,
    // Tests don't edit the plugin; the demo is for developers, too.
    checkFiles: kind === 'demo',
  }).catch((error: NodeJS.ErrnoException) => {
    throw portInUse(error, options.port, 'WordPress', 'SANDBOX_WORDPRESS_PORT');
  });
  try {
    const credentials = await prepareWordPress(wordpress, {
      credentials: readCredentials(data),
      siteUrl: options.siteUrl,
      plugins: plugins.map(({ slug }) => slug),
      sections,
    });
    saveCredentials(data, credentials);
    fs.writeFileSync(path.join(data, 'installed'), '');
    if (kind !== 'none') {
      const artCache = path.join(root, '.broadsheet', 'art');
      await importEdition({ wordpress, kind, data, artCache, onProgress });
    }
    wordpress.intercept(serveCrossword);
    // Publishes posts that came due while the sandbox was down before the site asks, not during its first copy.
    await wordpress.cron.runEvery(CRON_INTERVAL);
    const access = {
      ...credentials,
      siteApplicationPassword: credentials.siteApplicationPassword ?? '',
      url: wordpress.url,
      adminUrl: `${wordpress.url}/wp-admin/`,
    };
    return { wordpress, access };
  } catch (error) {
    await wordpress.stop();
    throw error;
  }
}

/** Answers `/sandbox/crosswords/<slug>` with the page that plays the crossword, and leaves the rest to WordPress. */
function serveCrossword(request: IncomingMessage, response: ServerResponse): boolean {
  const slug = /^\/sandbox\/crosswords\/([a-z0-9-]+)\/?(?:\?|$)/.exec(request.url ?? '')?.[1];
  if (slug === undefined) return false;
  const html = crosswordHtml(slug);
  response.writeHead(html ? 200 : 404, { 'content-type': html ? 'text/html; charset=utf-8' : 'text/plain' });
  response.end(request.method === 'HEAD' ? undefined : (html ?? 'There is no such crossword.\n'));
  return true;
}
