/** Histograms of what browsers measure, by kind of page and device. */
import { Histogram, type Registry } from 'prom-client';
import {
  type VitalName,
  type VitalsFigure,
  type VitalsReport,
  vitalNames,
  vitals,
  vitalsDevices,
  vitalsPages,
} from '../../lib/vitals/model.ts';

export interface VitalsMetrics {
  /** Counts one view of a page. */
  observe(report: VitalsReport): void;
  /** Kinds of pages that were measured, with the 75th percentile of each vital. */
  figures(): Promise<readonly VitalsFigure[]>;
}

/** Adds the histograms to a registry. */
export function createVitalsMetrics(registry: Registry): VitalsMetrics {
  const histogram = (vital: VitalName) =>
    new Histogram({
      name: vitals[vital].metric,
      help: `${vitals[vital].name} as measured by readers' browsers.`,
      labelNames: ['page', 'device'] as const,
      buckets: [...vitals[vital].buckets],
      registers: [registry],
    });
  const histograms = new Map(vitalNames.map((vital) => [vital, histogram(vital)]));
  const views = new Map<string, number>();

  async function p75Of(vital: VitalName, page: string, device: string): Promise<number | null> {
    const values = (await histograms.get(vital)?.get())?.values ?? [];
    const counts = new Map<number, number>();
    for (const { labels, value, metricName } of values) {
      if (!metricName?.endsWith('_bucket') || labels.page !== page || labels.device !== device) continue;
      const { le } = labels as { readonly le?: string | number };
      counts.set(le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), value);
    }
    return quantile(0.75, counts);
  }

  return {
    observe({ page, device, values }) {
      views.set(`${page} ${device}`, (views.get(`${page} ${device}`) ?? 0) + 1);
      for (const [vital, each] of histograms) {
        const value = values[vital];
        if (value !== undefined) each.observe({ page, device }, value);
      }
    },
    async figures() {
      const all: VitalsFigure[] = [];
      for (const page of vitalsPages) {
        for (const device of vitalsDevices) {
          const count = views.get(`${page} ${device}`);
          if (count === undefined) continue;
          const [lcp, inp, cls, ttfb] = await Promise.all(
            (['lcp', 'inp', 'cls', 'ttfb'] as const).map((vital) => p75Of(vital, page, device)),
          );
          const p75 = { lcp: lcp ?? null, inp: inp ?? null, cls: cls ?? null, ttfb: ttfb ?? null };
          all.push({ page, device, views: count, p75 });
        }
      }
      return all;
    },
  };
}

/**
 * A quantile, interpolated linearly within its bucket as Prometheus does.
 *
 * @param counts observations up to each upper bound
 * @returns `null` without an observation
 */
export function quantile(share: number, counts: ReadonlyMap<number, number>): number | null {
  const buckets = [...counts].toSorted(([a], [b]) => a - b);
  const rank = (buckets.at(-1)?.[1] ?? 0) * share;
  if (rank === 0) return null;
  let [below, lower] = [0, 0];
  for (const [upper, count] of buckets) {
    // The last bucket has no upper limit.
    if (upper === Number.POSITIVE_INFINITY) return lower;
    if (count >= rank) return lower + ((upper - lower) * (rank - below)) / (count - below);
    [below, lower] = [count, upper];
  }
  return lower;
}
