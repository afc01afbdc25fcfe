import { expect, it } from 'vitest';
import { formatBytes, formatDuration, formatShare, promisedMs, publishChart } from './chart.ts';

it('the chart of publishes has one bar for each, oldest on the left, and the longest at full height', () => {
  const chart = publishChart([
    { ms: 400, pages: 3, reason: 'second' },
    { ms: 20, pages: 1, reason: 'first' },
  ]);
  expect(chart.bars.map(({ label }) => label)).toEqual(['first: 20 ms, 1 page', 'second: 400 ms, 3 pages']);
  expect(chart.bars.map(({ late }) => late)).toEqual([false, true]);
  expect(chart.bars[1]?.height).toBe(chart.height);
  expect((chart.bars[0]?.x ?? 0) < (chart.bars[1]?.x ?? 0)).toBe(true);
  expect(chart.promiseY).toBe(Math.round((1 - promisedMs / 400) * chart.height * 10) / 10);
});

it('the chart of publishes shows the promised time even above all bars, and a publish in progress', () => {
  const chart = publishChart([{ ms: null, pages: 0, reason: '' }]);
  expect(chart.topMs).toBe(promisedMs * 1.5);
  expect(chart.bars[0]).toMatchObject({ open: true, late: false, label: 'a change: in progress' });
});

it('the chart of publishes shows only the latest that fit', () => {
  const many = Array.from({ length: 90 }, (_, ms) => ({ ms, pages: 1, reason: `n${ms}` }));
  const { bars, width } = publishChart(many, 40);
  expect(bars).toHaveLength(40);
  expect(bars.at(-1)?.label).toContain('n0');
  expect((bars.at(-1)?.x ?? 0) + (bars.at(-1)?.width ?? 0)).toBeLessThanOrEqual(width);
});

it('durations, sizes and shares are formatted with their units', () => {
  expect([formatDuration(31.2), formatDuration(1400), formatDuration(180_000)]).toEqual(['31 ms', '1.4 s', '3 min']);
  expect([formatBytes(412), formatBytes(31_400), formatBytes(2_500_000), formatBytes(256e6), formatBytes(3e9)]).toEqual(
    ['412 bytes', '31.4 kB', '2.5 MB', '256 MB', '3.0 GB'],
  );
  expect([formatShare(0, 0), formatShare(973, 1000), formatShare(5, 5)]).toEqual(['–', '97.3%', '100%']);
  // One failure in ten thousand isn't rounded away.
  expect(formatShare(9999, 10_000)).toBe('99.9%');
});
