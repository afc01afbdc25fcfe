/** How many article pages a second the site renders for the first time, on a content store that has been filled already. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { randomNumbers } from '../../sandbox/random.ts';
import { freePort } from '../../scripts/setup/ports.mjs';
import { startSite, waitForEdition } from '../../scripts/site.ts';
import { firstId } from './synthetic.ts';

const pages = 1500;
const atOnce = 4;

/** Whether `npm run build` has made a site to measure. */
export const canRender = (): boolean => existsSync(join(import.meta.dirname, '../../dist/server/entry.mjs'));

/**
 * Pages a second; each is a different article, chosen from the whole archive.
 *
 * @param folder holds `content.sqlite`
 * @param wordpress address that the content store was made from
 */
export async function timeRendering(folder: string, wordpress: string, count: number): Promise<number> {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PORT: String(port),
    DATA_DIR: folder,
    SITE_URL: base,
    WORDPRESS_URL: wordpress,
    SYNC_POLL_SECONDS: '3600',
    LOG_LEVEL: 'warn',
  };
  const site = startSite(env, join(folder, 'site.log'));
  try {
    await site.listening;
    const problem = await waitForEdition(base, () => {}, { timeoutMs: 30_000 });
    if (problem) throw new Error(`the site has no edition: ${problem}`);
    const next = randomNumbers(11);
    const wanted = new Set<number>();
    while (wanted.size < Math.min(pages, count)) wanted.add(firstId + Math.floor(next() * count));
    const [warm, timed] = [[...wanted].slice(0, 50), [...wanted].slice(50)];
    await readAll(base, warm);
    const began = performance.now();
    await readAll(base, timed);
    return (timed.length / (performance.now() - began)) * 1000;
  } finally {
    await site.stop();
  }
}

async function readAll(base: string, ids: readonly number[]): Promise<void> {
  const queue = [...ids];
  const reader = async (): Promise<void> => {
    for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
      const answer = await fetch(`${base}/article/story-${id}`);
      const text = await answer.text();
      if (answer.status !== 200 || !text.includes('</html>'))
        throw new Error(`/article/story-${id} answered ${answer.status}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, reader));
}
