/** Where the site's metrics come from. */
import type { Cdn } from '../../lib/cdn/cdn.server.ts';
import type { CspReports } from '../../lib/csp-reports/collector.server.ts';
import type { IndexNow } from '../../lib/indexnow/indexnow.server.ts';
import type { Press } from '../../press/press.server.ts';
import type { Composition } from '../compose.ts';
import type { MetricSources, PressCounts, ServerCounts, SyncCounts } from './metrics.ts';

interface Sources {
  readonly press: Press;
  readonly counts: ServerCounts;
  readonly cdn: Cdn;
  readonly indexNow: IndexNow;
  readonly cspReports: CspReports;
}

/** The sources of a whole site; what is off has no metrics. */
export function metricSources(app: Composition, { press, counts, cdn, indexNow, cspReports }: Sources): MetricSources {
  const { services, broadcastStats, mailStats, billingStats } = app;
  return {
    server: () => counts,
    press: () => pressCounts(press),
    sync: () => syncCounts(services),
    cdn: cdn.stats,
    indexNow: indexNow.stats,
    images: () => ({ made: services.images.made() }),
    broadcast: broadcastStats ?? undefined,
    mail: mailStats ?? undefined,
    billing: billingStats ?? undefined,
    support: services.support?.stats,
    cspReports: cspReports.stats,
  };
}

function pressCounts(press: Press): PressCounts {
  const { counters, queue, store, memory } = press.stats();
  return {
    renders: counters.renders,
    renderFailures: counters.failures,
    queue,
    pagesStored: store?.pages ?? 0,
    memoryBytes: memory.bytes,
    memoryBudgetBytes: memory.budget,
  };
}

function syncCounts({ content }: Composition['services']): SyncCounts {
  const { syncedAt, rejected } = content.status();
  return { syncedAt: syncedAt === null ? null : Date.parse(syncedAt), rejected, refused: content.refused() };
}
