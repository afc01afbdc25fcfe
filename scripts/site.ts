/** The site as a child process, and waiting for its first edition. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SyncStatus } from '../src/content/service.ts';
import type { Environment } from './settings.ts';
import { Stop } from './setup/explain.mjs';
import { siteFlags } from './setup/node.mjs';
import { root } from './setup/places.mjs';
import { startChild } from './setup/processes.mjs';

export interface SiteChild {
  readonly pid: number;
  /** Port that it listens on. */
  readonly listening: Promise<number>;
  readonly ended: Promise<{ code: number | null; signal: string | null }>;
  stop(): Promise<void>;
}

/**
 * Starts `src/server/main.ts`.
 *
 * @param log file for its log; lines about errors are printed too
 */
export function startSite(env: Environment, log: string): SiteChild {
  mkdirSync(join(log, '..'), { recursive: true });
  writeFileSync(log, '');
  const listening = Promise.withResolvers<number>();
  listening.promise.catch(() => {});
  const child = startChild(process.execPath, [...siteFlags, join(root, 'src', 'server', 'main.ts')], {
    cwd: root,
    env,
    onLine(line) {
      appendFileSync(log, `${line}\n`);
      if (line.includes('"level":"error"')) console.error(`site: ${line}`);
    },
    onErrorLine: (line) => appendFileSync(log, `${line}\n`),
    onMessage(message: { listening?: number }) {
      if (message.listening !== undefined) listening.resolve(message.listening);
    },
  });
  void child.ended.then(({ code, signal }) =>
    listening.reject(
      new Stop(`${child.tail()}\nThe site ended (${signal ?? code}) before it listened. Its log: ${log}`.trim()),
    ),
  );
  return { pid: child.pid, listening: listening.promise, ended: child.ended, stop: child.stop };
}

/** The response of `/readyz`. */
interface Readiness {
  readonly ready: boolean;
  /** Whether the whole archive is copied. */
  readonly complete?: boolean;
  readonly sync: SyncStatus;
}

/**
 * Waits until the site has an edition.
 *
 * @param base address of the site on this machine
 * @param options.complete waits for the whole archive, not only for what the front page needs
 * @param options.timeoutMs how long a problem of the sync may last before the wait is given up; the site recovers later
 * @returns `null` when there is an edition, else the problem that prevents it
 */
export async function waitForEdition(
  base: string,
  progress: (note: string) => void,
  options: { readonly timeoutMs: number; readonly complete?: boolean },
): Promise<string | null> {
  let troubledSince: number | null = null;
  for (;;) {
    const state = await readiness(base);
    if (state?.ready && (!options.complete || state.complete)) return null;
    const problem = state ? state.sync.problem : "the site doesn't respond";
    if (state) progress(describeSync(state.sync));
    troubledSince = problem ? (troubledSince ?? Date.now()) : null;
    if (problem && troubledSince !== null && Date.now() - troubledSince > options.timeoutMs) return problem;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function readiness(base: string): Promise<Readiness | null> {
  try {
    const answer = await fetch(`${base}/readyz`, { signal: AbortSignal.timeout(5000) });
    return (await answer.json()) as Readiness;
  } catch {
    return null;
  }
}

function describeSync(sync: SyncStatus): string {
  if (sync.problem) return sync.problem;
  const parts = Object.values(sync.progress);
  const done = parts.reduce((sum, part) => sum + part.done, 0);
  const total = parts.reduce((sum, part) => sum + part.total, 0);
  const left = sync.secondsLeft ? `, about ${Math.ceil(sync.secondsLeft)} s left` : '';
  return total > 0 ? `${done} of ${total} documents${left}` : sync.phase;
}
