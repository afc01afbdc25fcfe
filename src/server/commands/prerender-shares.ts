/** The other processes of `npm run press`: each renders a share of the pages into the same store. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Progress, Warmed } from '../../press/scheduler/warm-up.server.ts';

/** A part of the pages: every `of`-th, from number `at` on. */
export interface Share {
  readonly at: number;
  readonly of: number;
}

/** What a parent sends. */
export interface ShareOrder {
  readonly only: readonly string[];
  readonly since?: string;
  readonly concurrency: number;
  readonly share: Share;
}

/** What a share answers. */
export type ShareReport = { readonly progress: Progress } | { readonly result: Warmed } | { readonly problem: string };

const program = fileURLToPath(new URL('./prerender-share.ts', import.meta.url));

/** Fewer pages for each process are sooner rendered than another process is started. */
const fewestPages = 250;

/** One process for each core, as far as they are worth their start. */
export const processesFor = (pages: number): number =>
  Math.max(1, Math.min(availableParallelism(), Math.floor(pages / fewestPages)));

export interface Shares {
  /** The progress of all shares, with this process's own. */
  progress(own: Progress): Progress;
  /** The results of all shares, with this process's own. @throws Error when a share failed */
  result(own: Promise<Warmed>): Promise<Warmed>;
}

/**
 * Starts the processes of the shares 1 to `of - 1`; the caller renders share 0 itself.
 *
 * @param env their settings
 * @param signal stops them between two pages
 */
export function startShares(
  env: Readonly<Record<string, string | undefined>>,
  order: Omit<ShareOrder, 'share'>,
  of: number,
  signal: AbortSignal | undefined,
): Shares {
  const reached: Progress[] = [];
  const results: Promise<Warmed>[] = [];
  for (let at = 1; at < of; at++) {
    const child = fork(program, [], {
      env: { ...env } as NodeJS.ProcessEnv,
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdio: 'inherit',
    });
    child.send({ ...order, share: { at, of } } satisfies ShareOrder);
    signal?.addEventListener('abort', () => child.connected && child.send('stop'), { once: true });
    const result = resultOf(child, (progress) => {
      reached[at] = progress;
    });
    // It is awaited after this process's own share.
    result.catch(() => undefined);
    results.push(result);
  }
  return {
    progress: (own) => Object.values(reached).reduce(sumOfProgress, own),
    async result(own) {
      const all = await Promise.all([own, ...results]);
      return all.reduce((sum, each) => ({
        rendered: sum.rendered + each.rendered,
        skipped: sum.skipped + each.skipped,
        failed: sum.failed + each.failed,
        ms: Math.max(sum.ms, each.ms),
      }));
    },
  };
}

const sumOfProgress = (sum: Progress, each: Progress): Progress => {
  const known = sum.leftMs !== null && each.leftMs !== null;
  return {
    done: sum.done + each.done,
    total: sum.total + each.total,
    rate: sum.rate + each.rate,
    leftMs: known ? Math.max(sum.leftMs ?? 0, each.leftMs ?? 0) : (sum.leftMs ?? each.leftMs),
  };
};

async function resultOf(child: ChildProcess, onProgress: (progress: Progress) => void): Promise<Warmed> {
  let result: Warmed | null = null;
  let problem = 'A process that rendered a share of the pages ended. Run the same command to continue.';
  child.on('message', (report: ShareReport) => {
    if ('progress' in report) onProgress(report.progress);
    else if ('result' in report) result = report.result;
    else problem = report.problem;
  });
  await once(child, 'exit');
  if (!result) throw new Error(problem);
  return result;
}
