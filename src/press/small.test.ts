import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTagChanges, createUnwrittenPages } from './cache/cache-state.ts';
import { createCachedPage } from './cache/cached-page.ts';
import { createQueue } from './scheduler/priority-queue.ts';
import { pageOf } from './testing.ts';

describe('the render queue', () => {
  it('returns items by rank, and in order of arrival within a rank', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5)), (ranks) => {
        const queue = createQueue<{ rank: number; order: number }>((a, b) => a.rank < b.rank);
        for (const [order, rank] of ranks.entries()) queue.push({ rank, order });
        const out: { rank: number; order: number }[] = [];
        for (let item = queue.pop(); item; item = queue.pop()) out.push(item);
        const expected = ranks
          .map((rank, order) => ({ rank, order }))
          .sort((a, b) => a.rank - b.rank || a.order - b.order);
        expect(out).toEqual(expected);
        expect(queue.size).toBe(0);
      }),
    );
  });
});

describe('tag changes', () => {
  it('are found by tag when they came after a given number', () => {
    const changes = createTagChanges('site');
    const first = changes.note(['a'], [], null);
    const second = changes.note(['b'], ['c'], null);
    expect(changes.after(['a'], first)).toBe('nothing');
    expect(changes.after(['a'], first - 1)).toBe('changed');
    expect(changes.after(['a', 'b'], first)).toBe('changed');
    expect(changes.after(['b', 'c'], first)).toBe('withdrawn');
    expect(changes.after(['c'], second)).toBe('nothing');
    changes.note(['c'], [], null);
    expect(changes.after(['c'], second)).toBe('changed');
    changes.note(['site'], [], null);
    expect(changes.after(['x'], second)).toBe('changed');
  });

  it('take the store’s numbers, and never count backward', () => {
    const changes = createTagChanges(null);
    expect(changes.note(['a'], [], 40)).toBe(40);
    expect(changes.note(['a'], [], 7)).toBe(41);
    changes.reach(12);
    expect(changes.latest).toBe(41);
  });

  it('are remembered up to a limit, and a render older than that counts as outdated', () => {
    const changes = createTagChanges(null, 3);
    for (const tag of ['a', 'b', 'c', 'd']) changes.note([tag], [], null);
    expect(changes.after(['x'], 0)).toBe('withdrawn');
    expect(changes.after(['x'], 1)).toBe('nothing');
    expect(changes.after(['d'], 3)).toBe('changed');
  });
});

describe('pages that wait to be written', () => {
  it('are kept up to a budget, however much some of them have grown in the meantime', async () => {
    const pageNamed = async (key: string) => {
      const { page, bodies } = await pageOf(key, key.padEnd(2000, '.'));
      return { cached: createCachedPage(page, (one) => one.headers, bodies), bodies };
    };
    const first = await pageNamed('/0');
    const unwritten = createUnwrittenPages(first.cached.bytes * 3.5);
    for (let n = 0; n < 20; n++) {
      const { cached, bodies } = await pageNamed(`/${n % 10}`);
      unwritten.keep(`p/${n % 10}`, cached, bodies);
      // As when a reader asks for another encoding.
      cached.bytes += 5000;
      expect(unwritten.size).toBe(Math.min(n + 1, 3));
    }
  });
});
