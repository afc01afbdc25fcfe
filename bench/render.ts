/**
 * `npm run bench:render -- [--articles 10000] [--concurrency 8]`: pages per second of a full press, compared with `astro build`
 * prerendering the same pages from the same content store. The press compresses each page and stores it durably with its tags,
 * and renders paid articles in two variants; `astro build` writes the plain public page to a file. Afterwards the site is
 * started and every page is read once in each encoding: the memory of the serving process is measured.
 */
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../scripts/build.ts';
import { crawl } from './render/crawl.ts';
import { writeProject } from './render/project.ts';
import { none, printFigures } from './support/bounds.ts';
import { count, printTable, wholeFlag } from './support/figures.ts';
import { marksIn } from './support/marks.ts';
import { helper, start } from './support/processes.ts';
import { type DataFolder, dataFolder, prerender as pressPages } from './support/site.ts';

/** `ratio`: of the pages per second of the press and of `astro build`'s prerendering. `memoryMb`: of the serving process, at its peak. */
const bounds = { ratio: 1.2, memoryMb: 512 };

interface Speed {
  readonly pages: number;
  readonly seconds: number;
}

/** Time of `astro build`: all of it, and the part in which it renders the pages. */
async function prerender({ env }: DataFolder): Promise<{ whole: Speed; pages: Speed }> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-astro-'));
  try {
    writeProject(folder);
    const astro = join(folder, 'node_modules', 'astro', 'bin', 'astro.mjs');
    const began = performance.now();
    const build = start([astro, 'build', '--root', folder], { ...env, ASTRO_TELEMETRY_DISABLED: '1', NO_COLOR: '1' });
    let rendering = 0;
    const noticed = build.waitForOutput(/(?:prerendering|generating) static routes/u).then(() => {
      rendering = performance.now();
    });
    if (build.child.exitCode === null) await once(build.child, 'close');
    const ended = performance.now();
    if (build.child.exitCode !== 0) throw new Error(`astro build failed:\n${build.output().slice(-4000)}`);
    await noticed;
    const written = join(folder, 'dist');
    // Only pages with the mark of their story or author count.
    const pages = readdirSync(written, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.html') && marksIn(readFileSync(join(written, name), 'utf8')).length > 0,
    ).length;
    return {
      whole: { pages, seconds: (ended - began) / 1000 },
      pages: { pages, seconds: (ended - rendering) / 1000 },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns exit code: 1 when a bound is broken or either program left pages out */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { articles: { type: 'string' }, concurrency: { type: 'string' } },
  });
  const articles = wholeFlag('articles', values.articles, 10_000);
  await ensureBuilt();
  const wordpress = helper(join(import.meta.dirname, 'publish', 'wordpress.ts'), [String(articles)]);
  const data = dataFolder(await wordpress.ask<number>({ get: 'port' }));
  try {
    // Fills the content store first, so that neither program waits for it.
    await pressPages(data, 4, ['/robots.txt']);
    const { rendered, failed, ms } = await pressPages(data, wholeFlag('concurrency', values.concurrency, 8), [
      '/article',
      '/author',
    ]);
    const { whole, pages } = await prerender(data);
    const line = (name: string, speed: Speed): string[] => [
      name,
      ...[count(speed.pages), speed.seconds.toFixed(1), (speed.pages / speed.seconds).toFixed(0)],
    ];
    console.log(`\n${count(articles)} articles and their authors`);
    printTable([
      ['', 'pages', 'seconds', 'pages/s'],
      line('press: rendered, compressed, stored', { pages: rendered, seconds: ms / 1000 }),
      line('astro build: prerendering alone', pages),
      line('astro build: all of it', whole),
    ]);
    const ratio = rendered / ms / (pages.pages / pages.seconds / 1000);
    const crawled = await crawl(data);
    const memory = crawled.peakMb ?? crawled.residentMb;
    const holds = printFigures('Bounds', [
      none('pages of the press that failed', failed),
      {
        what: 'pages that astro build wrote',
        value: count(pages.pages),
        bound: `≥ ${count(articles)}`,
        holds: pages.pages >= articles,
      },
      {
        what: 'press compared with prerendering alone',
        value: ratio.toFixed(2),
        bound: `≥ ${bounds.ratio}`,
        holds: ratio >= bounds.ratio,
      },
      none(`wrong answers of a crawl of ${count(crawled.pages)} pages`, crawled.wrong),
      {
        what: 'memory of the serving process, MB',
        value: `${memory.toFixed(0)} (after the crawl ${crawled.residentMb.toFixed(0)})`,
        bound: `≤ ${bounds.memoryMb}`,
        holds: memory <= bounds.memoryMb,
      },
    ]);
    return holds ? 0 : 1;
  } finally {
    await wordpress.stop();
    data.remove();
  }
}

if (import.meta.main) process.exitCode = await run(process.argv.slice(2));
