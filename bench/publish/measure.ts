/** One run: fills a data folder, starts the site and its readers, and delivers the edits one after another. */
import { join } from 'node:path';
import { textOf } from '../support/http.ts';
import { mark } from '../support/marks.ts';
import { type Helper, helper } from '../support/processes.ts';
import { type BenchSite, dataFolder, prerender, startSite } from '../support/site.ts';
import { stolenBetween, ticks } from '../support/stolen.ts';
import { type Kind, type Plan, planner } from './plan.ts';
import type { ReadersCall, Report } from './readers.ts';
import { openStored, type Stored } from './stored.ts';
import { measureStorm, type Storm } from './storm.ts';

export interface RunOptions {
  readonly articles: number;
  readonly edits: number;
  readonly readers: number;
  readonly pauseMs: number;
  /** What is stored before the first edit: what `npm start` renders in advance, or everything. */
  readonly stored: 'start' | 'all';
  readonly kinds: readonly Kind[];
  /** Edits at the same moment, after the kinds; 0: none. */
  readonly storm: number;
}

export interface EditResult {
  /** Milliseconds from the webhook to its answer. */
  readonly took: number;
  /** The same time as the answer reports it. */
  readonly ms: number;
  /** Milliseconds that WordPress took to answer the site. */
  readonly fetch: number;
  /** Milliseconds of the site's processor time, including its work for readers during that time. */
  readonly cpu: number;
  readonly rendered: number;
  readonly expected: number;
  /** The longest time, milliseconds, for which the site's main thread was busy during the edit. */
  readonly pause: number;
}

export interface KindResult {
  readonly kind: Kind;
  readonly edits: readonly EditResult[];
  readonly readers: Report;
  /** Edits that a page did not show although the webhook had been answered. */
  readonly missed: number;
  /** Share of the processors' time that the machine's host took during the edit; `null` where that isn't known. */
  readonly stolen: number | null;
}

export interface Run {
  readonly articles: number;
  readonly stored: number;
  readonly readers: number;
  readonly pauseMs: number;
  readonly results: readonly KindResult[];
  readonly storm: Storm | null;
}

interface Stage {
  readonly wordpress: Helper;
  readonly readers: Helper;
  readonly site: BenchSite;
  readonly stored: Stored;
}

const here = (file: string): string => join(import.meta.dirname, file);
const counted = [
  'broadsheet_render_duration_seconds_count',
  'process_cpu_seconds_total',
  'nodejs_eventloop_lag_max_seconds',
] as const;
/** Most pages that the readers read in turn around one edit. */
const mostRead = 64;

export async function measure(options: RunOptions): Promise<Run> {
  const wordpress = helper(here('wordpress.ts'), [String(options.articles)]);
  const data = dataFolder(await wordpress.ask<number>({ get: 'port' }));
  try {
    await prerender(data, 4, options.stored === 'all' ? [] : ['/robots.txt']);
    const site = await startSite(data);
    const readers = helper(here('readers.ts'), [site.port, options.readers, options.pauseMs].map(String));
    const stored = openStored(data.folder);
    try {
      const pages = stored.pages;
      const plan = planner(options.articles);
      const stage: Stage = { wordpress, readers, site, stored };
      const results: KindResult[] = [];
      for (const kind of options.kinds) results.push(await measureKind(stage, kind, options.edits, plan));
      const storm = options.storm > 0 ? await measureStorm(stage, options.storm, plan) : null;
      const { articles, readers: count, pauseMs } = options;
      return { articles, stored: pages, readers: count, pauseMs, results, storm };
    } finally {
      stored.close();
      await readers.stop();
      await site.stop();
    }
  } finally {
    await wordpress.stop();
    data.remove();
  }
}

async function measureKind(stage: Stage, kind: Kind, edits: number, plan: (kind: Kind) => Plan): Promise<KindResult> {
  const tell = <T = null>(order: ReadersCall): Promise<T> => stage.readers.ask<T>(order);
  await tell({ get: 'report' });
  const results: EditResult[] = [];
  let missed = 0;
  const before = ticks();
  for (let at = 0; at < edits; at++) {
    const { result, shown } = await publish(stage, plan(kind), tell);
    results.push(result);
    if (!shown) missed++;
  }
  const stolen = stolenBetween(before, ticks());
  await tell({ pages: [] });
  return { kind, edits: results, missed, stolen, readers: await tell<Report>({ get: 'report' }) };
}

async function publish(
  { wordpress, site, stored }: Stage,
  plan: Plan,
  tell: (order: ReadersCall) => Promise<unknown>,
): Promise<{ result: EditResult; shown: boolean }> {
  await wordpress.ask({ get: 'taken' });
  await wordpress.ask({ edit: plan.edit });
  const concerned = stored.concerned(plan.tags, plan.gone);
  const leaving = plan.gone === null ? undefined : plan.mustShow[0];
  const read = [...new Set(concerned.map(({ key }) => key))].slice(0, mostRead);
  await tell({ pages: read, ...(leaving !== undefined && { leaving }) });
  // Waits until the readers are reading, so that they read before the edit as well as after it.
  await tell({ get: 'round' });
  const [renders, cpu] = await site.metrics(...counted);
  const { took, ms } = await site.deliver(plan.hook);
  const [rendersAfter, cpuAfter, pause] = await site.metrics(...counted);
  await tell({ current: plan.subject, version: plan.version });
  const fetch = (await wordpress.ask<number[]>({ get: 'taken' })).reduce((sum, each) => sum + each, 0);
  const shown = await showsIt(site, plan);
  await tell({ get: 'round' });
  const rendered = rendersAfter - renders;
  const expected = concerned.length;
  const result = { took, ms, fetch, cpu: (cpuAfter - cpu) * 1000, rendered, expected, pause: pause * 1000 };
  return { result, shown };
}

/** Whether the pages that must show the edit do. */
async function showsIt(site: BenchSite, { mustShow, gone, subject, version }: Plan): Promise<boolean> {
  const answers = await Promise.all(mustShow.map((path) => site.ask(path)));
  return answers.every((answer) =>
    gone === null ? answer.status === 200 && textOf(answer).includes(mark(subject, version)) : answer.status === 410,
  );
}
