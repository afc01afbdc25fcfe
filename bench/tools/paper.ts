/** A site on a content store that the bench has filled itself, without a WordPress: what is measured is the site's own work. */
import { join } from 'node:path';
import { openContentStore } from '../../src/content/store/content-store.server.ts';
import { silent } from '../../src/lib/logging.ts';
import { contentFile } from '../../src/server/compose.ts';
import { seedStore } from '../../tests/fixtures/content.ts';
import { percentile } from '../support/figures.ts';
import { type BenchSite, dataFolder, startSite } from '../support/site.ts';

export interface BenchPaper extends BenchSite {
  /** Data folder of the site. */
  readonly folder: string;
  /** Stops the site if it still runs, and removes its data. */
  remove(): Promise<void>;
}

type ContentStore = ReturnType<typeof openContentStore>;

/**
 * @param options.perSection stories in each of the ten sections; ids from 1001
 * @param options.fill adds content to the store
 */
export async function startPaper(options: {
  readonly perSection: number;
  readonly fill?: (store: ContentStore) => void;
}): Promise<BenchPaper> {
  // There is no WordPress: the content store is all there is.
  const { folder, env, remove } = dataFolder(9);
  const store = openContentStore({ file: join(folder, contentFile), origin: env.WORDPRESS_URL ?? null, log: silent });
  seedStore(store, options.perSection);
  options.fill?.(store);
  store.close();
  const site = await startSite({
    folder,
    remove,
    // Each call comes from a reader of its own, as behind a proxy.
    env: { ...env, TRUSTED_PROXIES: '1' },
  });
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= site.stop();
    return stopping;
  };
  return {
    ...site,
    folder,
    stop,
    async remove() {
      await stop();
      remove();
    },
  };
}

export interface Rate {
  readonly calls: number;
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** Runs `work` with this many callers at once, for this many seconds. */
export async function rate(callers: number, seconds: number, work: (turn: number) => Promise<void>): Promise<Rate> {
  const times: number[] = [];
  let turn = 0;
  const began = performance.now();
  const one = async (): Promise<void> => {
    for (let at = performance.now(); at < began + seconds * 1000; ) {
      await work(turn++);
      const end = performance.now();
      times.push(end - at);
      at = end;
    }
  };
  await Promise.all(Array.from({ length: callers }, one));
  const perSecond = (times.length / (performance.now() - began)) * 1000;
  return { calls: times.length, perSecond, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}
