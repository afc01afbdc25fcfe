/** Renders the pages of one change, and reports when the last one is fresh. */
import type { RenderOutcome } from './scheduler/render-job.ts';
import type { Scheduler } from './scheduler/scheduler.server.ts';
import type { PressEvent, Publish, Refreshed, Stats } from './stats.ts';
import type { PageRef } from './store/stored-page.ts';

export interface Invalidated {
  readonly refreshed: readonly Refreshed[];
  /** Pages whose bytes came out the same. */
  readonly unchanged: number;
  /** Pages that stay as they were and are tried again. */
  readonly failed: number;
  readonly ms: number;
}

export interface RefreshContext {
  readonly scheduler: Scheduler;
  readonly stats: Stats;
  readonly now: () => number;
  readonly onEvent: (event: PressEvent) => void;
}

/** Refreshed pages that the statistics keep of each publish. */
const keptPages = 20;

/** @param minChange number of the change that the renders must have seen */
export async function refreshPages(
  { scheduler, stats, now, onEvent }: RefreshContext,
  refs: readonly (PageRef & { readonly reads?: number })[],
  minChange: number,
  publish: Pick<Publish, 'reason' | 'tags' | 'withdrawn'>,
): Promise<Invalidated> {
  const began = performance.now();
  const refreshed: Refreshed[] = [];
  const counts: Record<RenderOutcome, number> = { refreshed: 0, unchanged: 0, failed: 0 };
  const begun: Publish = { ...publish, at: now(), refreshed: [], pages: 0, unchanged: 0, failed: 0, ms: null };
  const record = stats.publish(begun);
  stats.counters.publishes++;
  const settled = refs.map(
    ({ key, variant, reads = 0 }) =>
      new Promise<void>((resolve) => {
        const watcher = {
          settled(ref: PageRef, outcome: RenderOutcome) {
            counts[outcome]++;
            if (outcome === 'refreshed') refreshed.push({ ...ref, ms: performance.now() - began });
            resolve();
          },
        };
        scheduler.refresh({ key, variant }, { minChange, reads, watcher });
      }),
  );
  await Promise.all(settled);
  const ms = performance.now() - began;
  const { unchanged, failed } = counts;
  const pages = refreshed.length;
  record.done({ ...begun, refreshed: refreshed.slice(0, keptPages), pages, unchanged, failed, ms });
  onEvent({ kind: 'publish', ms, pages });
  return { refreshed, unchanged, failed, ms };
}
