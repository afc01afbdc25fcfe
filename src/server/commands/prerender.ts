/**
 * `npm run press`: renders the whole site, or a part of it, into the page store without serving it. It may run beside a serving process
 * with the same DATA_DIR: the store accepts both, and refuses a page that changed while it was rendered.
 */
import { fileURLToPath } from 'node:url';
import { buildName } from '../../lib/build-name.server.ts';
import type { Progress, Warmed } from '../../press/scheduler/warm-up.server.ts';
import { compose } from '../compose.ts';
import { parseConfig } from '../config/config.ts';
import { loadPages } from '../http/page-renderer.ts';
import { securityHeaders } from '../http/security-headers.ts';
import { createLog } from '../logging.ts';
import { openSitePress } from '../press/open-press.ts';
import { allKeys, articleKeys } from '../press/page-keys.ts';
import { processesFor, type Share, startShares } from './prerender-shares.ts';

export interface PrerenderOptions {
  /** Paths: renders these and the pages below them. Empty: everything. */
  readonly only?: readonly string[];
  /** Only articles published at or after this UTC instant. */
  readonly since?: string;
  /** Concurrent renders of a process. */
  readonly concurrency?: number;
  /** Processes that render (default: one for each core, fewer for few pages). */
  readonly processes?: number;
  /** The part of the pages that this process renders; its parent renders the others. */
  readonly share?: Share;
  readonly onWaiting?: (note: string) => void;
  readonly onProgress?: (progress: Progress) => void;
  /** Stops between two pages; the rendered pages stay, and the next run continues from there. */
  readonly signal?: AbortSignal;
}

const dist = fileURLToPath(new URL('../../../dist/', import.meta.url));

/** Whether an address is one of the paths, a page of its list, or below it. */
export const isBelow = (key: string, paths: readonly string[]): boolean =>
  paths.length === 0 ||
  paths.some((path) => {
    const plain = path.replace(/(?<=.)\/+$/, '');
    return key === plain || key.startsWith(`${plain}?`) || key.startsWith(plain === '/' ? '/' : `${plain}/`);
  });

/**
 * @param env settings, see config.ts
 * @throws ConfigError, or Error with a sentence that names the remedy
 */
export async function prerender(
  env: Readonly<Record<string, string | undefined>>,
  options: PrerenderOptions = {},
): Promise<Warmed> {
  const config = parseConfig(env);
  const log = createLog(config.logLevel === 'debug' ? 'debug' : 'error');
  const concurrency = options.concurrency ?? 4;
  const render = await loadPages(`${dist}server/entry.mjs`);
  const app = await compose(config, log);
  const { content } = app.services;
  try {
    if (!content.reader().edition().ready) {
      if (!config.wordpress) {
        throw new Error(`${config.dataDir} holds no edition yet: start the site once, or set WORDPRESS_URL.`);
      }
      app.start();
      while (!options.signal?.aborted) {
        const { ready, phase, problem } = content.status();
        if (ready && phase !== 'backfill') break;
        options.onWaiting?.(problem ?? 'collecting the edition');
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
    const room = openSitePress({
      config,
      app,
      render,
      log,
      concurrency,
      security: securityHeaders(config),
      build: buildName(`${dist}server`),
    });
    try {
      const { only = [], since, share, signal, onProgress } = options;
      // Only articles have a date; fronts and lists belong to the whole site.
      const keys = since === undefined ? allKeys(content.reader) : articleKeys(content.reader, since);
      const wanted = [...keys].filter((key) => isBelow(key, only));
      if (wanted.length === 0 && (only.length > 0 || since !== undefined)) {
        throw new Error('No page matches --only and --since.');
      }
      const processes = share ? 1 : (options.processes ?? processesFor(wanted.length));
      const { at, of } = share ?? { at: 0, of: processes };
      const shares = startShares(env, { only, concurrency, ...(since !== undefined && { since }) }, processes, signal);
      return await shares.result(
        room.press.warm(
          wanted.filter((_key, number) => number % of === at),
          {
            concurrency,
            ...(signal && { signal }),
            ...(onProgress && { onProgress: (own: Progress) => onProgress(shares.progress(own)) }),
          },
        ),
      );
    } finally {
      await room.close();
    }
  } finally {
    await app.stop();
  }
}
