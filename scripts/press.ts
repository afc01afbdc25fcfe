/**
 * `npm run press`: renders all pages in advance. `-- --only /section/politics` (may be repeated) takes a path and what is below it,
 * `--since 2026-01-01` articles from that day on, `--concurrency 16` renders 16 pages at a time in each process, `--processes 2` uses two
 * processes (default: one for each core). What is stored and fresh is skipped, so that an interrupted run continues.
 */
import type { Warmed } from '../src/press/scheduler/warm-up.server.ts';
import { ensureBuilt } from './build.ts';
import { checkSettings, readArguments, readSettings, siteFolder } from './settings.ts';
import { Stop, throwAsStop } from './setup/explain.mjs';
import { untilStopped } from './setup/lifetime.mjs';
import { duration, step } from './setup/steps.mjs';

interface PressOptions {
  readonly only: readonly string[];
  readonly since: string | undefined;
  readonly concurrency: number;
  readonly processes: number | undefined;
}

const usage = 'npm run press -- [--only /section/politics] [--since 2026-01-01] [--concurrency 8] [--processes 2]';

/** @throws Stop with the error and the right form */
export function readOptions(args: readonly string[]): PressOptions {
  const text = { type: 'string' } as const;
  const known = { only: { type: 'string', multiple: true }, since: text, concurrency: text, processes: text } as const;
  const { values } = readArguments(args, known, usage);
  const { only = [], since, concurrency = '8', processes } = values;
  for (const path of only)
    if (!path.startsWith('/')) throw new Stop(`--only ${path} isn't a path; give one such as /section/politics.`);
  if (since !== undefined && Number.isNaN(Date.parse(since))) {
    throw new Stop(`--since ${since} isn't a day; give one such as 2026-01-01.`);
  }
  for (const [name, value] of Object.entries({ concurrency, processes }))
    if (value !== undefined && !/^[1-9]\d?$/.test(value))
      throw new Stop(`--${name} ${value} isn't a number from 1 to 99.`);
  return {
    only,
    since: since === undefined ? undefined : new Date(since).toISOString(),
    concurrency: Number(concurrency),
    processes: processes === undefined ? undefined : Number(processes),
  };
}

export async function run(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  process.env.NODE_ENV = 'production';
  const env = readSettings();
  const config = checkSettings(env);
  await ensureBuilt();
  // The same folders as `npm start` and `npm run serve` use.
  const dataDir = siteFolder(env, config.wordpress !== null);
  const { signal, ended } = untilStopped();
  const { prerender } = await import('../src/server/commands/prerender.ts');
  const count = new Intl.NumberFormat('en-US');
  const done: Warmed = await step('Rendering the pages', (progress) =>
    prerender(
      { ...env, DATA_DIR: dataDir },
      {
        only: options.only,
        ...(options.since !== undefined && { since: options.since }),
        concurrency: options.concurrency,
        ...(options.processes !== undefined && { processes: options.processes }),
        signal,
        onWaiting: progress,
        onProgress({ done, total, rate, leftMs }) {
          const left = leftMs === null ? '' : `, about ${duration(leftMs)} left`;
          progress(`${count.format(done)} of ${count.format(total)}, ${Math.round(rate)} pages/s${left}`);
        },
      },
    )
      .finally(ended)
      .catch(throwAsStop),
  );
  const rate = done.ms > 0 ? Math.round((done.rendered / done.ms) * 1000) : 0;
  console.log(
    `${count.format(done.rendered)} rendered (${rate} pages/s), ${count.format(done.skipped)} were already there, ${count.format(done.failed)} failed.`,
  );
  if (signal.aborted) console.log('Interrupted. Run the same command to continue.');
  return done.failed > 0 || signal.aborted ? 1 : 0;
}
