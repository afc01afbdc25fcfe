import { describe, expect, it } from 'vitest';
import { type Category, categories, plan } from './plan.ts';
import { medianRun, missedBounds, type Run, weigh } from './verdict.ts';

const run = (more: Partial<Run> = {}): Run => ({
  scores: { performance: 100, accessibility: 100, 'best-practices': 100, seo: 100 },
  layoutShift: 0,
  largestPaint: 900,
  blocked: 0,
  bytes: weigh([]),
  faults: [],
  ...more,
});
const home = plan[0];
if (!home) throw new Error('The plan is empty.');

describe('the Lighthouse benchmark', () => {
  it('adds up bytes by kind of resource, and counts unknown kinds as other', () => {
    const fetched = [
      { resourceType: 'Document', transferSize: 20_000 },
      { resourceType: 'Script', transferSize: 3000 },
      { resourceType: 'Script', transferSize: 400 },
      { resourceType: 'Manifest', transferSize: 7 },
      { transferSize: 1 },
      { resourceType: 'Image' },
    ];
    expect(weigh(fetched)).toEqual({ HTML: 20_000, CSS: 0, JS: 3400, fonts: 0, pictures: 0, other: 8 });
  });

  it('takes the median of each figure over the runs, and collects all faults', () => {
    const slow = run({ scores: { ...run().scores, performance: 70 }, largestPaint: 4000, faults: ['LCP'] });
    const all = medianRun([run(), slow, run({ layoutShift: 0.2, faults: ['LCP', 'shift'] })]);
    expect(all).toEqual(run({ faults: ['LCP', 'shift'] }));
  });

  it('lists each bound that a page misses, and no other', () => {
    expect(missedBounds(home, run())).toEqual([]);
    expect(missedBounds(home, run({ scores: { ...run().scores, performance: 98 }, layoutShift: 0.0004 }))).toEqual([]);
    const poor = run({
      scores: { performance: 97, accessibility: 99, 'best-practices': 100, seo: 96 },
      layoutShift: 0.01,
    });
    expect(missedBounds(home, poor)).toEqual([
      'performance 97, bound 98',
      'accessibility 99, bound 100',
      'seo 96, bound 100',
      'layout shift 0.010, bound 0',
    ]);
    expect(missedBounds(home, run({ scores: { ...run().scores, seo: Number.NaN } }))).toHaveLength(1);
  });

  it('requires 98 for performance on the home and article pages, 95 on the others, and 100 for everything else', () => {
    expect(plan.map(({ name }) => name)).toEqual([
      'home',
      'section',
      'article',
      'media',
      'search',
      'pricing',
      'dashboard',
    ]);
    const scored = (name: Category, score: number): Run => run({ scores: { ...run().scores, [name]: score } });
    for (const page of plan) {
      const [performance, shift] = /home|article/.test(page.name) ? [98, 0] : [95, 0.01];
      for (const category of categories) {
        const bound = category === 'performance' ? performance : 100;
        expect(missedBounds(page, scored(category, bound)), page.name).toEqual([]);
        expect(missedBounds(page, scored(category, bound - 1)), page.name).toEqual([
          `${category} ${bound - 1}, bound ${bound}`,
        ]);
      }
      expect(missedBounds(page, run({ layoutShift: shift })), page.name).toEqual([]);
      expect(missedBounds(page, run({ layoutShift: shift + 0.001 })), page.name).toHaveLength(1);
    }
  });
});
