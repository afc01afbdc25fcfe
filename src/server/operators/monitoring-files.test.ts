/** deploy/grafana and deploy/prometheus query metrics that the site has, and alert where docs/operations.md says to act. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { root } from '../../../scripts/setup/places.mjs';
import { allMetricSources } from '../../../tests/fixtures/metric-sources.ts';
import { silent } from '../../lib/logging.ts';
import { createMetrics } from './metrics.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const read = (path: string): string => readFileSync(join(root, 'deploy', path), 'utf8');
const { groups } = parse(read('prometheus/alerts.yaml')) as { groups: readonly { rules: readonly Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const { panels } = JSON.parse(read('grafana/broadsheet.json')) as { panels: readonly Panel[] };
const charts = panels.filter(({ type }) => type !== 'row');
const queries = charts.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** Metrics of Prometheus itself that the files use. */
const ofPrometheus = ['up'];
/** Words of a query that are metric names: all but labels, functions, operators and strings. */
const metricsIn = (query: string): string[] =>
  query
    .replace(/\{[^}]*\}/g, '')
    .replace(/\[[^\]]*\]/g, '')
    .replace(/\b(?:by|on|group_left) \([^)]*\)/g, '')
    .replace(/\boffset \w+/g, '')
    .match(/\b[a-z][a-z_]+\b(?! *\()/g)
    ?.filter((word) => !['and', 'unless'].includes(word)) ?? [];

/** The names in a row of the table in docs/operations.md, some of them shortened (`…_total`) or of several metrics (`process_*`). */
const patternsOf = (names: string): RegExp[] =>
  [...names.matchAll(/`(…?)([a-z0-9_*]+)/g)].map(([, more, name = '']) => {
    const pattern = name.replaceAll('*', '\\w+');
    return new RegExp(more ? `${pattern}$` : `^${pattern}$`);
  });
const monitoring = /^## Monitoring$(.*?)^## /ms.exec(readFileSync(join(root, 'docs/operations.md'), 'utf8'))?.[1] ?? '';
const rows = [...monitoring.matchAll(/^\| (`(?:broadsheet|nodejs|process)_.*?) \| .* \| (.*?) ?\|$/gm)];

let known: ReadonlySet<string>;
/** Without the series of a histogram. */
let metrics: readonly string[];
beforeAll(async () => {
  const site = createMetrics(allMetricSources, silent);
  site.measured({ page: 'home', device: 'phone', values: { lcp: 1, inp: 0.1, cls: 0, ttfb: 0.1 } });
  const text = await site.text();
  metrics = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name);
  known = new Set([...ofPrometheus, ...[...text.matchAll(/^([a-z_]+)[ {]/gm)].map(([, name = '']) => name)]);
});

it.each([
  ['the alerts', rules.map(({ expr }) => expr)],
  ['the dashboard', queries],
])('%s use only metrics that exist', (_file, all) => {
  const used = all.map((query) => ({ query, metrics: metricsIn(query) }));
  expect(used.filter(({ metrics }) => metrics.length === 0)).toEqual([]);
  expect([...new Set(used.flatMap(({ metrics }) => metrics))].filter((name) => !known.has(name))).toEqual([]);
});

it('every alert rule waits, has a severity, and says in one sentence what to do', () => {
  expect(rules.length).toBeGreaterThan(20);
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const rule of rules) {
    expect(rule.alert).toMatch(/^Broadsheet[A-Z]\w+$/);
    expect(rule.for).toMatch(/^[1-9]\d*[mhd]$/);
    expect(['page', 'ticket']).toContain(rule.labels.severity);
    expect(rule.annotations.summary).toMatch(/^\S(?:(?!\. ).)+\.$/);
  }
});

it('every metric that operators act on has an alert', () => {
  const acted = rows.filter(([, , when]) => when).map(([, names = '']) => names);
  expect(acted.length).toBeGreaterThan(20);
  const watched = rules.flatMap(({ expr }) => metricsIn(expr)).map((name) => name.replace(/_bucket$/, ''));
  const isWatched = (names: string): boolean =>
    watched.some((name) => patternsOf(names).some((pattern) => pattern.test(name)));
  expect(acted.filter((names) => !isWatched(names))).toEqual([]);
});

it('the operations guide lists every metric, and no other', () => {
  const patterns = rows.flatMap(([, names = '']) => patternsOf(names));
  expect(metrics.filter((name) => !patterns.some((pattern) => pattern.test(name)))).toEqual([]);
  expect(patterns.filter((pattern) => !metrics.some((name) => pattern.test(name)))).toEqual([]);
});

it('each dashboard panel has its own title and position', () => {
  expect(charts.length).toBeGreaterThan(12);
  expect(new Set(charts.map(({ title }) => title)).size).toBe(charts.length);
  const places = panels.map((panel) => JSON.stringify((panel as { gridPos?: unknown }).gridPos));
  expect(new Set(places).size).toBe(panels.length);
});
