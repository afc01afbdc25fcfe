/** Where the metrics of a site come from. */
import type { Cdn } from '../../lib/cdn/cdn.server.ts';
import type { CspReports } from '../../lib/csp-reports/collector.server.ts';
import type { IndexNow } from '../../lib/indexnow/indexnow.server.ts';
import type { VitalsStats } from '../../lib/vitals/collector.server.ts';
import type { Press } from '../../press/press.server.ts';
import type { Composition } from '../compose.ts';
import type { MetricSources, ServerCounts, SyncCounts } from './metrics.ts';

interface Sources {
  readonly press: Press;
  readonly counts: ServerCounts;
  readonly live: MetricSources['live'];
  readonly cdn: Cdn;
  readonly indexNow: IndexNow;
  readonly cspReports: CspReports;
  readonly vitals: () => VitalsStats;
  readonly others: MetricSources['others'];
}

/** The sources of a whole site; disabled features have no metrics. */
export function metricSources(
  app: Composition,
  { press, counts, live, cdn, indexNow, cspReports, vitals, others }: Sources,
): MetricSources {
  const { services, cluster, mailStats, billingStats } = app;
  return {
    server: () => counts,
    live,
    press: press.stats,
    sync: () => syncCounts(services),
    cdn: cdn.stats,
    indexNow: indexNow.stats,
    images: services.images.made,
    cluster: cluster ? () => cluster.stats() : undefined,
    mail: mailStats ?? undefined,
    billing: billingStats ?? undefined,
    support: services.support?.stats,
    cspReports: cspReports.stats,
    vitals,
    others,
  };
}

/** The numbers of the sync. */
export function syncCounts({ content }: Pick<Composition['services'], 'content'>): SyncCounts {
  const { ready, complete, phase, syncedAt, rejected } = content.status();
  // While the archive is being copied there are no comparisons.
  const comparedAt = complete && syncedAt !== null ? Date.parse(syncedAt) : null;
  return { ready, syncedAt: comparedAt, failing: phase === 'waiting', rejected, refused: content.refused() };
}
