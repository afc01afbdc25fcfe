/** The other processes of `npm run press`: each requests pages, renders them into the same store, and continues until none are left. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Warmed } from '../../press/scheduler/warm-up.server.ts';

/** Messages to a process: keys of pages to render; stop after the current page; no pages are left. */
export type RenderOrder = { readonly keys: readonly string[] } | 'stop' | 'end';

/** Messages from a process: it is ready for pages; the results of one order; why it can't render. */
export type RenderReport =
  | 'ready'
  | { readonly done: Omit<Warmed, 'ms'>; readonly pages: number }
  | { readonly problem: string };

const program = fileURLToPath(new URL('./prerender-process.ts', import.meta.url));

/** With fewer pages for each process, starting another process takes longer than rendering them. */
const fewestPagesEach = 250;

/** One process for each core, unless there are too few pages. */
export const processesFor = (pages: number): number =>
  Math.max(1, Math.min(availableParallelism(), Math.floor(pages / fewestPagesEach)));

/** Most pages that are handed out at a time; fewer near the end, so that all processes finish together. */
const mostPages = 100;
const leastPages = 10;

/** Hands out pages to processes. */
export interface PageSupply {
  /** The next keys; empty when none are left, or when `signal` has stopped the work. */
  take(): readonly string[];
}

export function createSupply(keys: readonly string[], processes: number, signal?: AbortSignal): PageSupply {
  let at = 0;
  return {
    take() {
      if (signal?.aborted) return [];
      const share = Math.ceil((keys.length - at) / (8 * processes));
      const taken = keys.slice(at, at + Math.min(mostPages, Math.max(leastPages, share)));
      at += taken.length;
      return taken;
    },
  };
}

/** Called with the results of some pages. @param pages number of their keys */
export type OnDone = (done: Omit<Warmed, 'ms'>, pages: number) => void;

/** Orders that a process has at a time, so that it never waits for the next one. */
export const ordersAtATime = 2;

/**
 * Renders pages in separate processes until no pages are left.
 *
 * @param env their settings
 * @param count number of processes
 * @throws Error when a process failed
 */
export async function renderInProcesses(
  env: Readonly<Record<string, string | undefined>>,
  count: number,
  concurrency: number,
  supply: PageSupply,
  onDone: OnDone,
  signal?: AbortSignal,
): Promise<void> {
  const processes = Array.from({ length: count }, () => {
    const child = fork(program, [String(concurrency)], {
      env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env } as NodeJS.ProcessEnv,
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdio: 'inherit',
    });
    signal?.addEventListener('abort', () => send(child, 'stop'), { once: true });
    return runProcess(child, supply, onDone);
  });
  const results = await Promise.allSettled(processes);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** A process that has just ended gets no order; its exit is reported. */
const send = (child: ChildProcess, what: RenderOrder): void => {
  if (child.connected) child.send(what, () => {});
};

async function runProcess(child: ChildProcess, supply: PageSupply, onDone: OnDone): Promise<void> {
  /** Orders that the process is working on. */
  let unfinished = 0;
  let ended = false;
  let problem = 'A rendering process ended unexpectedly. Run the same command to continue.';
  const refill = (): void => {
    for (let keys = supply.take(); keys.length > 0; keys = unfinished < ordersAtATime ? supply.take() : []) {
      unfinished++;
      send(child, { keys });
    }
    if (unfinished > 0 || ended) return;
    ended = true;
    send(child, 'end');
  };
  child.on('message', (report: RenderReport) => {
    if (report !== 'ready' && 'problem' in report) {
      problem = report.problem;
      return;
    }
    if (report !== 'ready') {
      unfinished--;
      onDone(report.done, report.pages);
    }
    refill();
  });
  await once(child, 'exit');
  if (!ended) throw new Error(problem);
}
