/**
 * The readers, in a process of their own: `node bench/publish/readers.ts <port> <readers> <pause>`. Each requests one after
 * another of the pages that the bench names, and checks every response: its status, and that it shows no version that was
 * replaced before the request.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../support/figures.ts';
import { asker, browsersEncodings, textOf } from '../support/http.ts';
import { marksIn } from '../support/marks.ts';
import { serve } from '../support/processes.ts';

export type ReadersCall =
  /** Pages to read from now on; `leaving` may answer 410. */
  | { readonly pages: readonly string[]; readonly leaving?: string }
  /** From now on, no lower version may be seen. */
  | { readonly current: string; readonly version: number }
  /** Answered when each page has been read about once more. */
  | { readonly get: 'round' }
  | { readonly get: 'report' };

export interface Report {
  readonly answers: number;
  /** Answers that showed a version that had become the current one: without them `stale` would say nothing. */
  readonly current: number;
  readonly errors: number;
  readonly stale: number;
  readonly p99: number;
  readonly slowest: number;
  /** The first faults, in words. */
  readonly faults: readonly string[];
}

const [port, readers, pauseMs] = process.argv.slice(2).map(Number);
const { ask } = asker(port ?? 0, readers ?? 0);
let pages: readonly string[] = [];
let nextPage = 0;
let asked = 0;
let waiting: { readonly until: number; readonly done: () => void }[] = [];
const leaving = new Set<string>();
const current = new Map<string, number>();
/** What was found in a page's bytes, so that the same bytes are searched once. */
const searched = new Map<string, { readonly etag: string; readonly marks: ReturnType<typeof marksIn> }>();
let figures = { current: 0, errors: 0, stale: 0, times: [] as number[], faults: [] as string[] };

const fault = (text: string): void => void (figures.faults.length < 5 && figures.faults.push(text));

async function readOne(path: string): Promise<void> {
  const known = new Map(current);
  const began = performance.now();
  try {
    const answer = await ask(path, { headers: { 'accept-encoding': browsersEncodings } });
    figures.times.push(performance.now() - began);
    if (answer.status !== 200 && !(answer.status === 410 && leaving.has(path))) {
      figures.errors++;
      return fault(`${path} answered ${answer.status}`);
    }
    const etag = String(answer.headers.etag ?? '');
    let page = searched.get(path);
    if (!page || etag === '' || page.etag !== etag) {
      page = { etag, marks: marksIn(textOf(answer)) };
      searched.set(path, page);
    }
    if (page.marks.some(([what, version]) => version === known.get(what))) figures.current++;
    for (const [what, version] of page.marks) {
      if (version >= (known.get(what) ?? 0)) continue;
      figures.stale++;
      return fault(`${path} showed version ${version} of ${what} after ${known.get(what)} was fresh`);
    }
  } catch (error) {
    figures.errors++;
    fault(`${path}: ${(error as Error).message}`);
  }
}

async function reader(): Promise<never> {
  // Readers must not start in lockstep.
  await sleep(Math.random() * (pauseMs ?? 0));
  for (;;) {
    const path = pages[nextPage++ % Math.max(1, pages.length)];
    if (path !== undefined) await readOne(path);
    asked++;
    for (const { until, done } of waiting) if (asked >= until) done();
    waiting = waiting.filter(({ until }) => asked < until);
    await sleep(pauseMs);
  }
}

serve<ReadersCall>((order) => {
  if ('pages' in order) {
    pages = order.pages;
    if (order.leaving) leaving.add(order.leaving);
  } else if ('current' in order) current.set(order.current, order.version);
  else if (order.get === 'round') {
    return new Promise<void>((done) => waiting.push({ until: asked + pages.length, done }));
  } else {
    const { times, ...rest } = figures;
    figures = { current: 0, errors: 0, stale: 0, times: [], faults: [] };
    return {
      ...rest,
      answers: times.length,
      p99: percentile(times, 0.99),
      slowest: percentile(times, 1),
    } satisfies Report;
  }
  return null;
});
for (let each = 0; each < (readers ?? 0); each++) void reader();
