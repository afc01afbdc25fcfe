/**
 * Metrics in Prometheus' text format, in a separate registry. Each part of the site keeps its counters as plain numbers; they
 * are read at each scrape, so that a hit costs one increment. docs/operations.md says what each one means.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import {
  AggregatorRegistry,
  Counter,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';
import type { BillingStats } from '../../lib/billing/engine/billing.server.ts';
import type { CdnStats } from '../../lib/cdn/cdn.server.ts';
import type { CspReportStats } from '../../lib/csp-reports/collector.server.ts';
import type { IndexNowStats } from '../../lib/indexnow/indexnow.server.ts';
import type { Logger } from '../../lib/logging.ts';
import type { MailStats } from '../../lib/mail/outbox.server.ts';
import type { SupportStats } from '../../lib/support/service.server.ts';
import type { VitalsStats } from '../../lib/vitals/collector.server.ts';
import type { VitalsFigure, VitalsReport } from '../../lib/vitals/model.ts';
import type { PressStats } from '../../press/press.server.ts';
import type { ClusterStats } from '../cluster/cluster.ts';
import type { LiveStreamsStats } from '../live/live-streams.ts';
import { createVitalsMetrics } from './vitals-metrics.ts';

/** Responses since the start; each number only grows. */
export interface ServerCounts {
  /** Cached pages served, 304 included. */
  readonly hits: number;
  /** Cached pages answered with 304. */
  readonly notModified: number;
  /** Requests for pages that had to be rendered, or waited for a render. */
  readonly misses: number;
  /** Responses with a status of 500 or more. */
  readonly errors: number;
}

export interface SyncCounts {
  /** Whether there is an edition to serve. */
  readonly ready: boolean;
  /** When the content store last matched WordPress, epoch milliseconds; `null` until the whole archive is copied. */
  readonly syncedAt: number | null;
  /** Whether the last attempt failed, and the next one hasn't reached WordPress yet. */
  readonly failing: boolean;
  readonly rejected: number;
  /** Webhooks refused since the start, by reason. */
  readonly refused: Readonly<Record<string, number>>;
}

/** `miss`: waited for a render of the press; `page`: every other page that the cache didn't answer at once. */
const requestKinds = ['page', 'miss', 'api', 'static', 'image', 'audio', 'operators'] as const;
export type RequestKind = (typeof requestKinds)[number];

/** The sources of the numbers. Each is read once per scrape; a missing source has no metrics. */
export interface MetricSources {
  readonly server?: (() => ServerCounts) | undefined;
  readonly live?: () => LiveStreamsStats;
  readonly press?: () => Pick<PressStats, 'counters' | 'queue' | 'store' | 'memory'>;
  readonly sync?: () => SyncCounts;
  readonly cluster?: (() => ClusterStats) | undefined;
  readonly cdn?: () => CdnStats;
  readonly indexNow?: () => IndexNowStats;
  /** Number of pictures resized since the start. */
  readonly images?: () => number;
  readonly mail?: (() => MailStats) | undefined;
  readonly billing?: (() => BillingStats) | undefined;
  readonly support?: (() => SupportStats) | undefined;
  readonly cspReports?: () => CspReportStats;
  readonly vitals?: (() => VitalsStats) | undefined;
  /** Metrics of other processes of this site, the serving workers, to be added. @param own metrics of this process */
  readonly others?: ((own: readonly object[]) => Promise<readonly (readonly object[])[]>) | undefined;
  /** Epoch milliseconds; the system's clock unless given. */
  readonly now?: () => number;
}

export interface Metrics {
  /** Value of `Content-Type` for {@link text}. */
  readonly contentType: string;
  /** The current values. A source that throws is logged and its metrics are omitted. */
  text(): Promise<string>;
  /** The same as data, for another process that adds them up. */
  json(): Promise<readonly object[]>;
  /** Records the milliseconds of one render. */
  rendered(ms: number): void;
  /** Records the milliseconds of one request. */
  answered(kind: RequestKind, ms: number): void;
  /** Records the milliseconds from a webhook's arrival until its last page was fresh. */
  published(ms: number): void;
  /** Records what a browser has measured. */
  measured(report: VitalsReport): void;
  /** What browsers have measured since the start. */
  vitals(): Promise<readonly VitalsFigure[]>;
}

/** Upper bounds of the buckets in seconds: finest around the target of 100 ms. */
const publishBuckets = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 1, 2.5, 5];
const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const renderBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

interface Sample {
  readonly kind: 'counter' | 'gauge';
  readonly name: string;
  readonly help: string;
  /** `null`: unknown, so omitted. */
  readonly value: number | null;
  /** Labels that distinguish samples of the same name. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** How the values of several processes become one. */
  readonly aggregator?: 'sum' | 'min' | 'max' | undefined;
}

const counter = (name: string, help: string, value: number, labels?: Sample['labels']): Sample => ({
  kind: 'counter',
  name,
  help,
  value,
  labels,
});
const gauge = (name: string, help: string, value: number | null, aggregator?: Sample['aggregator']): Sample => ({
  kind: 'gauge',
  name,
  help,
  value,
  aggregator,
});

const serverSamples = (server: ServerCounts): Sample[] => [
  counter('broadsheet_page_hits_total', 'Cached pages served, 304 included.', server.hits),
  counter('broadsheet_page_not_modified_total', 'Cached pages answered with 304.', server.notModified),
  counter('broadsheet_page_misses_total', 'Requests that waited for a render.', server.misses),
  counter('broadsheet_server_errors_total', 'Responses with a status of 500 or more.', server.errors),
];

const liveSamples = ({ open, refused, dropped }: LiveStreamsStats): Sample[] => [
  gauge('broadsheet_live_connections', 'Open event streams of live stories.', open),
  counter('broadsheet_live_refused_total', 'Event streams refused because too many were open.', refused),
  counter('broadsheet_live_dropped_total', 'Event streams closed because the reader was too slow.', dropped),
];

const pressSamples = ({
  counters,
  queue,
  store,
  memory,
}: ReturnType<NonNullable<MetricSources['press']>>): Sample[] => [
  counter('broadsheet_renders_total', 'Pages rendered.', counters.renders),
  counter('broadsheet_render_failures_total', 'Renders that failed; the old page stayed.', counters.failures),
  gauge('broadsheet_press_queue_length', 'Pages that wait to be rendered again.', queue),
  gauge('broadsheet_pages_stored', 'Cached pages of this build.', store?.pages ?? 0),
  gauge('broadsheet_page_memory_bytes', 'Bytes of pages held in memory.', memory.bytes),
  gauge('broadsheet_page_memory_budget_bytes', 'Limit of the pages held in memory, in bytes.', memory.budget),
];

const syncSamples = (sync: SyncCounts, now: number): Sample[] => [
  gauge('broadsheet_edition_ready', '1 while there is an edition to serve, else 0.', Number(sync.ready)),
  gauge(
    'broadsheet_sync_lag_seconds',
    'Seconds since the last successful comparison with WordPress.',
    sync.syncedAt === null ? null : Math.max(0, now - sync.syncedAt) / 1000,
  ),
  gauge('broadsheet_sync_failing', '1 while the sync waits after a failed attempt, else 0.', Number(sync.failing)),
  gauge('broadsheet_sync_rejected_documents', 'WordPress documents that were rejected as invalid.', sync.rejected),
  ...Object.entries(sync.refused).map(([reason, count]) =>
    counter('broadsheet_webhooks_refused_total', 'Webhooks refused, by reason.', count, { reason }),
  ),
];

/** Each version of the content log has a lease and revisions of its own, so that nodes are compared within their version. */
const ofVersion = (sample: Sample, version: number): Sample => ({ ...sample, labels: { version: String(version) } });

const clusterSamples = (node: ClusterStats): Sample[] => [
  ofVersion(
    gauge(
      'broadsheet_cluster_leads',
      '1 while this node syncs with WordPress for the cluster, else 0.',
      Number(node.leads),
    ),
    node.version,
  ),
  gauge('broadsheet_cluster_connected', '1 while changes of the other nodes arrive, else 0.', node.isConnected ? 1 : 0),
  ofVersion(
    gauge('broadsheet_cluster_revision', "Revision of the content log in this node's content store.", node.revision),
    node.version,
  ),
  gauge(
    'broadsheet_cluster_lag_seconds',
    'Seconds since this node was at the end of the content log.',
    node.lagMs / 1000,
  ),
  counter('broadsheet_webhooks_passed_on_total', 'Webhooks passed on to the node that syncs.', node.passedOn),
  counter('broadsheet_webhooks_received_total', 'Webhooks received from other nodes.', node.received),
  counter('broadsheet_pages_given_total', 'Pages rendered here for all nodes.', node.pages.given),
  counter('broadsheet_pages_taken_total', 'Pages taken from other nodes.', node.pages.taken),
  counter(
    'broadsheet_pages_alone_total',
    "Pages rendered only for this node because it couldn't reach the others.",
    node.pages.alone,
  ),
];

const cdnSamples = (cdn: CdnStats): Sample[] => [
  counter('broadsheet_cdn_purged_keys_total', 'Keys that the CDN has purged.', cdn.purged),
  counter('broadsheet_cdn_failed_keys_total', 'Keys whose purge was given up.', cdn.failed),
  gauge('broadsheet_cdn_pending_keys', 'Keys that wait to be purged.', cdn.pending),
  counter('broadsheet_cdn_requests_total', 'Purge requests sent.', cdn.requests),
  counter('broadsheet_cdn_failed_requests_total', 'Purge requests that failed.', cdn.failedRequests),
];

const indexNowSamples = (indexNow: IndexNowStats): Sample[] => [
  counter('broadsheet_indexnow_announced_total', 'Addresses announced through IndexNow.', indexNow.announced),
  counter('broadsheet_indexnow_failed_total', 'Addresses whose announcement was given up.', indexNow.failed),
  gauge('broadsheet_indexnow_pending', 'Addresses that wait to be announced.', indexNow.pending),
];

const imageSamples = (made: number): Sample[] => [counter('broadsheet_images_made_total', 'Pictures resized.', made)];

const mailSamples = (mail: MailStats, now: number): Sample[] => [
  counter('broadsheet_mail_sent_total', 'Messages that the mail server accepted.', mail.sent),
  counter('broadsheet_mail_refused_total', 'Messages that the mail server refused for good.', mail.refused),
  counter('broadsheet_mail_expired_total', 'Messages dropped because they could not be sent in time.', mail.expired),
  counter(
    'broadsheet_mail_failed_tries_total',
    'Failed attempts to send a message; they are retried.',
    mail.failedTries,
  ),
  gauge('broadsheet_mail_waiting', 'Messages that wait to be sent.', mail.waiting),
  gauge(
    'broadsheet_mail_oldest_seconds',
    'Age of the message that waits longest, without newsletters and alerts.',
    mail.oldest === null ? 0 : Math.max(0, now - mail.oldest) / 1000,
  ),
];

const billingSamples = (billing: BillingStats): Sample[] => [
  counter('broadsheet_billing_jobs_total', 'Attempts to run a Stripe job.', billing.tried),
  counter('broadsheet_billing_failed_jobs_total', 'Failed tries of Stripe jobs; they are retried.', billing.failed),
  gauge('broadsheet_billing_jobs_waiting', 'Stripe jobs that wait to run.', billing.waiting),
  gauge(
    'broadsheet_billing_drift',
    'Subscriptions that differed from Stripe’s in the last nightly comparison.',
    billing.drift,
  ),
  gauge('broadsheet_billing_disputes', 'Open payment disputes and inquiries.', billing.disputes),
  gauge('broadsheet_billing_wrong_key', '1 while Stripe’s key is wrong, else 0.', Number(billing.keyProblem !== null)),
];

const supportSamples = ({ held }: SupportStats): Sample[] => [
  gauge('broadsheet_support_held', 'Messages to the support inbox that are held and not mailed.', held),
];

const cspReportSamples = (reports: CspReportStats): Sample[] => [
  counter('broadsheet_csp_reports_total', 'Reports of blocked sources that were recorded.', reports.noted),
  counter('broadsheet_csp_reports_refused_total', 'Requests with invalid or excess reports.', reports.refused),
  gauge('broadsheet_csp_blocked_sources', 'Sources that the policy blocked in the last week.', reports.kinds),
];

/** Milliseconds between two samples of the event loop; they are part of each measured delay. */
const lagResolution = 10;

/** Delays of the event loop since the last scrape, in seconds. */
function lagSamples(loop: ReturnType<typeof monitorEventLoopDelay>): Sample[] {
  const seconds = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - lagResolution / 1000);
  const samples = [
    gauge(
      'nodejs_eventloop_lag_p99_seconds',
      'The 99th percentile of the event loop lag since the last scrape.',
      seconds(loop.percentile(99)),
      'max',
    ),
    gauge(
      'nodejs_eventloop_lag_max_seconds',
      'The longest event loop lag since the last scrape.',
      seconds(loop.max),
      'max',
    ),
  ];
  loop.reset();
  return samples;
}

/** Metrics of the process, under the names that Node dashboards use. */
function processSamples(loop: ReturnType<typeof monitorEventLoopDelay>): Sample[] {
  const memory = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return [
    ...lagSamples(loop),
    gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', memory.rss),
    gauge('nodejs_heap_size_used_bytes', 'Process heap size used from Node.js in bytes.', memory.heapUsed),
    gauge('nodejs_heap_size_total_bytes', 'Process heap size from Node.js in bytes.', memory.heapTotal),
    gauge('nodejs_external_memory_bytes', 'Node.js external memory size in bytes.', memory.external),
    counter('process_cpu_seconds_total', 'Total user and system CPU time spent in seconds.', (user + system) / 1e6),
    gauge(
      'process_start_time_seconds',
      'Start time of the process since unix epoch in seconds.',
      Math.round(performance.timeOrigin / 1000),
      'min',
    ),
  ];
}

function collect(registry: Registry, { kind, name, help, value, labels = {}, aggregator = 'sum' }: Sample): void {
  if (value === null || !Number.isFinite(value)) return;
  const known = registry.getSingleMetric(name);
  const options = { name, help, labelNames: Object.keys(labels), registers: [registry], aggregator };
  if (kind === 'counter') ((known as Counter | undefined) ?? new Counter(options)).inc(labels, value);
  else ((known as Gauge | undefined) ?? new Gauge(options)).set(labels, value);
}

const vitalsSamples = (reports: VitalsStats): Sample[] => [
  counter('broadsheet_vitals_total', 'Page views whose speed a browser measured.', reports.noted),
  counter('broadsheet_vitals_refused_total', 'Requests with invalid or excess measurements.', reports.refused),
];

/** Adds the histograms of the site's own times to a registry. */
function createHistograms(registry: Registry) {
  const registers = [registry];
  return {
    renderSeconds: new Histogram({
      name: 'broadsheet_render_duration_seconds',
      help: 'Seconds that a render took.',
      buckets: renderBuckets,
      registers,
    }),
    publishSeconds: new Histogram({
      name: 'broadsheet_publish_to_fresh_seconds',
      help: 'Seconds from a change of content until the last affected page was fresh.',
      buckets: publishBuckets,
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'broadsheet_request_seconds',
      help: 'Seconds until a response was sent, by kind, for what the cache did not answer at once.',
      labelNames: ['kind'],
      buckets: requestBuckets,
      registers,
    }),
  };
}

/** Creates the metrics. Each call has its own registry. */
export function createMetrics(sources: MetricSources, log: Logger): Metrics {
  const now = sources.now ?? Date.now;
  const timings = new Registry();
  const { renderSeconds, publishSeconds, requestSeconds } = createHistograms(timings);
  for (const kind of requestKinds) requestSeconds.zero({ kind });
  const pageVitals = createVitalsMetrics(timings);
  const loop = monitorEventLoopDelay({ resolution: lagResolution });
  loop.enable();

  const { server, live, press, sync, cluster, cdn, indexNow, images, mail, billing, support, cspReports, vitals } =
    sources;
  const readers: Readonly<Record<string, (() => Sample[]) | undefined>> = {
    server: server && (() => serverSamples(server())),
    live: live && (() => liveSamples(live())),
    press: press && (() => pressSamples(press())),
    sync: sync && (() => syncSamples(sync(), now())),
    cluster: cluster && (() => clusterSamples(cluster())),
    cdn: cdn && (() => cdnSamples(cdn())),
    indexNow: indexNow && (() => indexNowSamples(indexNow())),
    images: images && (() => imageSamples(images())),
    mail: mail && (() => mailSamples(mail(), now())),
    billing: billing && (() => billingSamples(billing())),
    support: support && (() => supportSamples(support())),
    cspReports: cspReports && (() => cspReportSamples(cspReports())),
    vitals: vitals && (() => vitalsSamples(vitals())),
    process: () => processSamples(loop),
  };

  function collected(): Registry {
    const registry = new Registry();
    for (const [source, read] of Object.entries(readers)) {
      if (!read) continue;
      try {
        for (const sample of read()) collect(registry, sample);
      } catch (error) {
        log.error({ err: error, source }, 'A source of metrics failed; its metrics are omitted');
      }
    }
    return registry;
  }

  return {
    contentType: timings.contentType,
    async text() {
      const own = Registry.merge([timings, collected()]);
      if (!sources.others) return own.metrics();
      const present = await own.getMetricsAsJSON();
      const others = await sources.others(present);
      if (others.length === 0) return own.metrics();
      const all = [present, ...others] as MetricObjectWithValues<MetricValue<string>>[][];
      return AggregatorRegistry.aggregate(all).metrics();
    },
    json: async () => Registry.merge([timings, collected()]).getMetricsAsJSON(),
    rendered: (ms) => renderSeconds.observe(ms / 1000),
    answered: (kind, ms) => requestSeconds.observe({ kind }, ms / 1000),
    published: (ms) => publishSeconds.observe(ms / 1000),
    measured: pageVitals.observe,
    vitals: pageVitals.figures,
  };
}
