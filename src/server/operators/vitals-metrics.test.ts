import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createVitalsMetrics, quantile } from './vitals-metrics.ts';

describe('the 75th percentile of page speeds', () => {
  it('is interpolated within its bucket', () => {
    const counts = new Map([
      [1, 2],
      [2, 4],
      [Number.POSITIVE_INFINITY, 4],
    ]);
    expect(quantile(0.75, counts)).toBe(1.5);
    expect(quantile(0.5, counts)).toBe(1);
    expect(quantile(0.75, new Map())).toBeNull();
  });

  it('is the end of the last bucket when the values lie beyond it', () => {
    const counts = new Map([
      [1, 0],
      [Number.POSITIVE_INFINITY, 3],
    ]);
    expect(quantile(0.75, counts)).toBe(1);
  });

  it('is shown for each kind of page and device that was measured', async () => {
    const metrics = createVitalsMetrics(new Registry());
    for (const lcp of [0.3, 0.4, 0.45, 2.2])
      metrics.observe({ page: 'home', device: 'desktop', values: { lcp, cls: 0 } });
    metrics.observe({ page: 'article', device: 'phone', values: { lcp: 1.25, inp: 0.08, cls: 0, ttfb: 0.12 } });
    const figures = await metrics.figures();
    expect(figures.map(({ page, device, views }) => [page, device, views])).toEqual([
      ['home', 'desktop', 4],
      ['article', 'phone', 1],
    ]);
    expect(figures[0]?.p75.lcp).toBeCloseTo(0.5);
    expect(figures[0]?.p75.inp).toBeNull();
    expect(figures[1]?.p75.inp).toBeGreaterThan(0.05);
  });
});
