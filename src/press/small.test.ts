import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTagChanges } from './cache/cache-state.ts';
import { createQueue } from './scheduler/priority-queue.ts';

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
