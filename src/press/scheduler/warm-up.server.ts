/** Warm-up: renders pages before readers ask for them. Stored pages are skipped, so that it can be stopped and resumed. */
import type { PageCache } from '../cache/page-cache.server.ts';
import type { PageRef } from '../store/stored-page.ts';
import type { Scheduler } from './scheduler.server.ts';
import type { RenderOutcome } from './scheduler-state.ts';

export interface WarmOptions {
  /** Concurrent pages (default 4); the press's own concurrency is the upper limit. */
  readonly concurrency?: number;
  readonly signal?: AbortSignal;
}

export interface Warmed {
  readonly rendered: number;
  readonly skipped: number;
  readonly failed: number;
  readonly ms: number;
}

export function createWarmUp(press: { cache: PageCache; scheduler: Scheduler }) {
  const { cache, scheduler } = press;

  const render = (ref: PageRef): Promise<RenderOutcome> =>
    new Promise((resolve) => {
      scheduler.refresh(ref, { watcher: (_ref, outcome) => resolve(outcome), last: true });
    });

  return async function warm(keys: Iterable<string>, options: WarmOptions = {}): Promise<Warmed> {
    const list = [...new Set(keys)];
    const began = performance.now();
    let at = 0;
    let rendered = 0;
    let skipped = 0;
    let failed = 0;

    async function one(ref: PageRef): Promise<void> {
      if (cache.has(ref)) skipped++;
      else if ((await render(ref)) === 'failed') failed++;
      else rendered++;
    }

    async function worker(): Promise<void> {
      while (at < list.length && !options.signal?.aborted) {
        const key = list[at++] ?? '';
        await one({ key, variant: 'public' });
        const page = cache.find(key, 'public')?.page;
        if (page && page.access !== null) await one({ key, variant: 'full' });
      }
    }

    await Promise.all(Array.from({ length: Math.max(1, options.concurrency ?? 4) }, worker));
    return { rendered, skipped, failed, ms: performance.now() - began };
  };
}
