/**
 * `npm run press`: renders the whole site, or a part of it, into the page store without serving it. It may run at the same time as a
 * serving process with the same DATA_DIR: the store accepts writes from both, and refuses a page that changed while it was rendered. It
 * refuses data of another version.
 */
import { fileURLToPath } from 'node:url';
import { buildName } from '../../lib/build-name.server.ts';
import { localEncoder } from '../../press/cache/compressor.server.ts';
import type { Warmed } from '../../press/scheduler/warm-up.server.ts';
import type { Composition } from '../compose.ts';
import { loadPages } from '../http/page-renderer.ts';
import { securityHeaders } from '../http/security-headers.ts';
import { openSitePress, type SitePress } from '../press/open-press.ts';
import { allKeys, articleKeys } from '../press/page-keys.ts';
import { openForCommand } from './open.ts';
import { createSupply, ordersAtATime, processesFor, renderInProcesses } from './prerender-processes.ts';

interface Progress {
  readonly done: number;
  readonly total: number;
  /** Pages rendered per second. */
  readonly rate: number;
  /** Estimated remaining milliseconds; `null` while nothing has been rendered. */
  readonly leftMs: number | null;
}

export interface PrerenderOptions {
  /** Paths: renders these and the pages below them. Empty: everything. */
  readonly only?: readonly string[];
  /** Only articles published at or after this UTC instant. */
  readonly since?: string;
  /** Concurrent renders of a process. */
  readonly concurrency?: number;
  /** Processes that render (default: one for each core, fewer for few pages). */
  readonly processes?: number;
  readonly onWaiting?: ((note: string) => void) | undefined;
  readonly onProgress?: (progress: Progress) => void;
  /** Stops between two pages; the rendered pages stay, and the next run continues from there. */
  readonly signal?: AbortSignal | undefined;
}

/** Most pages stored in one transaction; with more, a serving process would wait noticeably for the store. */
const mostTogether = 8;

const dist = fileURLToPath(new URL('../../../dist/', import.meta.url));

/** Whether an address is one of the paths, a page of its list, or below it. */
export const isBelow = (key: string, paths: readonly string[]): boolean =>
  paths.length === 0 ||
  paths.some((path) => {
    const plain = path.replace(/(?<=.)\/+$/, '');
    return key === plain || key.startsWith(`${plain}?`) || key.startsWith(plain === '/' ? '/' : `${plain}/`);
  });

/** A press without a server. */
interface PressCommand {
  readonly content: Composition['services']['content'];
  readonly press: SitePress['press'];
  close(): Promise<void>;
}

/**
 * Opens the press on an edition, which is fetched first if there is none.
 *
 * @param env settings, see config.ts
 * @throws ConfigError, StartFirst, or Error with a sentence that names the remedy
 */
export async function openPressCommand(
  env: Readonly<Record<string, string | undefined>>,
  { concurrency, signal, onWaiting }: Pick<PrerenderOptions, 'signal' | 'onWaiting'> & { readonly concurrency: number },
): Promise<PressCommand> {
  const { app, config, log } = await openForCommand(env);
  const { content } = app.services;
  try {
    const render = await loadPages(`${dist}server/entry.mjs`);
    if (!content.reader().edition().ready) {
      if (!config.wordpress) {
        throw new Error(`${config.dataDir} holds no edition yet: start the site once, or set WORDPRESS_URL.`);
      }
      app.start();
      while (!signal?.aborted) {
        const { ready, phase, problem } = content.status();
        if (ready && phase !== 'backfill') break;
        onWaiting?.(problem ?? 'collecting the edition');
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
    const security = securityHeaders(config);
    const build = buildName(`${dist}server`);
    // Each core already has a rendering process, so a compression thread would only add messages.
    const encoder = localEncoder;
    const { press, close } = openSitePress({
      config,
      app,
      render,
      log,
      concurrency,
      storeTogether: Math.min(concurrency, mostTogether),
      security,
      build,
      encoder,
      upgrades: false,
    });
    return {
      content,
      press,
      async close() {
        await close();
        await app.stop();
      },
    };
  } catch (error) {
    await app.stop();
    throw error;
  }
}

/**
 * Renders pages that aren't stored yet.
 *
 * @throws as {@link openPressCommand}, or Error when a process failed
 */
export async function prerender(
  env: Readonly<Record<string, string | undefined>>,
  options: PrerenderOptions = {},
): Promise<Warmed> {
  const { only = [], since, signal, concurrency = 8, onProgress, onWaiting } = options;
  const { content, press, close } = await openPressCommand(env, { concurrency, signal, onWaiting });
  try {
    // Only articles have a date; fronts and lists belong to the whole site.
    const keys = since === undefined ? allKeys(content.reader) : articleKeys(content.reader, since);
    const wanted = [...new Set(keys)].filter((key) => isBelow(key, only));
    if (wanted.length === 0 && (only.length > 0 || since !== undefined)) {
      throw new Error('No page matches --only and --since.');
    }
    const processes = options.processes ?? processesFor(wanted.length);
    const supply = createSupply(wanted, processes, signal);
    const began = performance.now();
    const sum = { rendered: 0, skipped: 0, failed: 0 };
    let done = 0;
    const count = (each: Omit<Warmed, 'ms'>, pages: number): void => {
      sum.rendered += each.rendered;
      sum.skipped += each.skipped;
      sum.failed += each.failed;
      done += pages;
      const rate = (sum.rendered / (performance.now() - began)) * 1000;
      const left = wanted.length - done;
      onProgress?.({ done, total: wanted.length, rate, leftMs: rate === 0 ? null : (left / rate) * 1000 });
    };
    async function renderHere(): Promise<void> {
      for (let taken = supply.take(); taken.length > 0; taken = supply.take()) {
        count(await press.warm(taken, { concurrency, ...(signal && { signal }) }), taken.length);
      }
    }
    await Promise.all([
      ...Array.from({ length: ordersAtATime }, renderHere),
      renderInProcesses(env, processes - 1, concurrency, supply, count, signal),
    ]);
    return { ...sum, ms: performance.now() - began };
  } finally {
    await close();
  }
}
