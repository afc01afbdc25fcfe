import { describe, expect, test, vi } from 'vitest';
import { allMetricSources } from '../../../tests/fixtures/metric-sources.ts';
import { silent } from '../../lib/logging.ts';
import { syncCounts } from './metric-sources.ts';
import { createMetrics, type MetricSources } from './metrics.ts';

/** `name{labels}` → value of a text in Prometheus' form; fails on anything else. */
function read(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  const described = new Set<string>();
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const type = /^# TYPE ([a-z0-9_]+) (?:counter|gauge|histogram)$/.exec(line);
    if (type?.[1]) described.add(type[1]);
    if (line.startsWith('#')) {
      expect(line).toMatch(/^# (?:HELP|TYPE) [a-z0-9_]+ \S/);
      continue;
    }
    const sample = /^([a-z0-9_]+)(\{[^}]*\})? (\S+)$/.exec(line);
    if (!sample?.[1]) throw new Error(`No sample: ${line}`);
    const family = sample[1].replace(/_(?:bucket|sum|count)$/, '');
    expect(described.has(sample[1]) || described.has(family)).toBe(true);
    samples.set(sample[1] + (sample[2] ?? ''), Number(sample[3]));
  }
  return samples;
}

test('the metrics show every source', async () => {
  const metrics = createMetrics(allMetricSources, silent);
  expect(metrics.contentType).toMatch(/^text\/plain/);
  const samples = read(await metrics.text());
  expect(Object.fromEntries([...samples].filter(([name]) => /^broadsheet_(?!.*_seconds_)/.test(name)))).toEqual({
    broadsheet_live_connections: 3,
    broadsheet_live_refused_total: 0,
    broadsheet_live_dropped_total: 0,
    broadsheet_support_held: 9,
    broadsheet_billing_jobs_total: 60,
    broadsheet_billing_failed_jobs_total: 61,
    broadsheet_billing_jobs_waiting: 62,
    broadsheet_billing_disputes: 63,
    broadsheet_billing_drift: 64,
    broadsheet_billing_wrong_key: 1,
    broadsheet_csp_reports_total: 70,
    broadsheet_csp_reports_refused_total: 71,
    broadsheet_csp_blocked_sources: 72,
    broadsheet_vitals_total: 73,
    broadsheet_vitals_refused_total: 74,
    broadsheet_page_hits_total: 12,
    broadsheet_page_not_modified_total: 3,
    broadsheet_page_misses_total: 2,
    broadsheet_server_errors_total: 1,
    broadsheet_renders_total: 7,
    broadsheet_render_failures_total: 1,
    broadsheet_press_queue_length: 4,
    broadsheet_pages_stored: 900,
    broadsheet_page_memory_bytes: 1000,
    broadsheet_page_memory_budget_bytes: 64_000_000,
    broadsheet_edition_ready: 1,
    broadsheet_sync_lag_seconds: 7.5,
    broadsheet_sync_failing: 0,
    broadsheet_sync_rejected_documents: 2,
    'broadsheet_webhooks_refused_total{reason="signature"}': 3,
    'broadsheet_webhooks_refused_total{reason="clock"}': 0,
    'broadsheet_cluster_leads{version="15"}': 1,
    broadsheet_cluster_connected: 1,
    'broadsheet_cluster_revision{version="15"}': 20,
    broadsheet_cluster_lag_seconds: 0.5,
    broadsheet_webhooks_passed_on_total: 21,
    broadsheet_webhooks_received_total: 22,
    broadsheet_pages_given_total: 23,
    broadsheet_pages_taken_total: 24,
    broadsheet_pages_alone_total: 25,
    broadsheet_cdn_purged_keys_total: 50,
    broadsheet_cdn_failed_keys_total: 5,
    broadsheet_cdn_pending_keys: 6,
    broadsheet_cdn_requests_total: 8,
    broadsheet_cdn_failed_requests_total: 1,
    broadsheet_indexnow_announced_total: 20,
    broadsheet_indexnow_failed_total: 1,
    broadsheet_indexnow_pending: 2,
    broadsheet_images_made_total: 33,
    broadsheet_mail_sent_total: 40,
    broadsheet_mail_refused_total: 2,
    broadsheet_mail_expired_total: 3,
    broadsheet_mail_failed_tries_total: 5,
    broadsheet_mail_waiting: 6,
    broadsheet_mail_oldest_seconds: 9.5,
  });
  expect(samples.get('process_resident_memory_bytes')).toBeGreaterThan(1e6);
  expect(samples.get('process_cpu_seconds_total')).toBeGreaterThan(0);
});

test('the metrics show the longest block of the main thread since the last scrape', async () => {
  const metrics = createMetrics({}, silent);
  const longest = async () => read(await metrics.text()).get('nodejs_eventloop_lag_max_seconds') as number;
  const turn = () => new Promise((done) => setTimeout(done, 30));
  await turn();
  const until = performance.now() + 1000;
  while (performance.now() < until);
  await turn();
  const busy = await longest();
  expect(busy).toBeGreaterThan(0.9);
  await turn();
  // Without a new beginning it would be as long; a pause of the machine may add its own time.
  expect(await longest()).toBeLessThan(busy);
});

test('the metrics read their sources at each scrape and do not add them up', async () => {
  let hits = 1;
  const metrics = createMetrics({ server: () => ({ hits, notModified: 0, misses: 0, errors: 0 }) }, silent);
  expect(read(await metrics.text()).get('broadsheet_page_hits_total')).toBe(1);
  hits = 5;
  expect(read(await metrics.text()).get('broadsheet_page_hits_total')).toBe(5);
});

test('the metrics count milliseconds in buckets of seconds', async () => {
  const metrics = createMetrics({}, silent);
  for (const ms of [3, 40, 40, 99, 7000]) metrics.published(ms);
  metrics.rendered(0.7);
  const samples = read(await metrics.text());
  const bucket = (le: string) => samples.get(`broadsheet_publish_to_fresh_seconds_bucket{le="${le}"}`);
  expect([bucket('0.005'), bucket('0.05'), bucket('0.1'), bucket('5'), bucket('+Inf')]).toEqual([1, 3, 4, 4, 5]);
  expect(samples.get('broadsheet_publish_to_fresh_seconds_sum')).toBeCloseTo(7.182);
  expect(samples.get('broadsheet_render_duration_seconds_bucket{le="0.0005"}')).toBe(0);
  expect(samples.get('broadsheet_render_duration_seconds_bucket{le="0.001"}')).toBe(1);
});

test('the metrics measure requests by kind, with every kind present from the start', async () => {
  const metrics = createMetrics({}, silent);
  for (const ms of [0.4, 30, 12_000]) metrics.answered('api', ms);
  const samples = read(await metrics.text());
  const bucket = (le: string) => samples.get(`broadsheet_request_seconds_bucket{le="${le}",kind="api"}`);
  expect([bucket('0.001'), bucket('0.05'), bucket('10'), bucket('+Inf')]).toEqual([1, 2, 2, 3]);
  expect(samples.get('broadsheet_request_seconds_sum{kind="api"}')).toBeCloseTo(12.0304);
  const kinds = ['page', 'miss', 'api', 'static', 'image', 'audio', 'operators'];
  expect(kinds.map((kind) => samples.get(`broadsheet_request_seconds_count{kind="${kind}"}`))).toEqual([
    0, 0, 3, 0, 0, 0, 0,
  ]);
});

test.each(['waiting', 'backfill', 'following'])('the sync fails only while it waits after an attempt (%s)', (phase) => {
  const status = { ready: true, complete: false, phase, syncedAt: null, rejected: 0 };
  const content = { status: () => status, refused: () => ({}) };
  expect(syncCounts({ content: content as never }).failing).toBe(phase === 'waiting');
});

describe('the metrics leave out', () => {
  test('sources that do not exist', async () => {
    const text = await createMetrics({}, silent).text();
    expect(text).not.toContain('broadsheet_cdn');
  });

  test('values that are not known yet', async () => {
    const sync = () => ({ ready: false, syncedAt: null, failing: true, rejected: 0, refused: {} });
    const samples = read(await createMetrics({ sync }, silent).text());
    expect(samples.get('broadsheet_edition_ready')).toBe(0);
    expect(samples.has('broadsheet_sync_lag_seconds')).toBe(false);
    expect(samples.get('broadsheet_sync_failing')).toBe(1);
    expect(samples.get('broadsheet_sync_rejected_documents')).toBe(0);
  });

  test.each([
    { complete: false, syncedAt: null },
    { complete: true, syncedAt: 5000 },
  ])('the time of the last comparison until the archive is copied (complete: $complete)', ({ complete, syncedAt }) => {
    const status = { ready: true, complete, syncedAt: new Date(5000).toISOString(), rejected: 0 };
    const content = { status: () => status, refused: () => ({}) };
    expect(syncCounts({ content: content as never })).toMatchObject({ ready: true, syncedAt });
  });

  test('a source that fails, and log the failure', async () => {
    const error = vi.fn();
    const sources: MetricSources = {
      ...allMetricSources,
      press: () => {
        throw new Error('the store is closed');
      },
    };
    const samples = read(await createMetrics(sources, { ...silent, error }).text());
    expect(samples.has('broadsheet_pages_stored')).toBe(false);
    expect(samples.get('broadsheet_page_hits_total')).toBe(12);
    expect(error).toHaveBeenCalledWith(expect.objectContaining({ source: 'press' }), expect.any(String));
  });
});

test('two sets of metrics in one process are independent', async () => {
  const [one, two] = [createMetrics({}, silent), createMetrics({}, silent)];
  one.published(10);
  expect(read(await two.text()).get('broadsheet_publish_to_fresh_seconds_count')).toBe(0);
});
