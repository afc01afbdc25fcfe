import { describe, expect, it } from 'vitest';
import type { Card } from '../content/model.ts';
import { savedPage } from './model.ts';

/** An edition that has the articles with even numbers. */
const content = {
  articles: ({ ids = [], limit = 10 }: { ids?: readonly number[]; limit?: number }) => ({
    items: ids
      .filter((id) => id % 2 === 0)
      .slice(0, limit)
      .map((id) => ({ id }) as Card),
    total: 0,
  }),
};
const kept = (...ids: number[]) => ids.map((articleId) => ({ articleId, at: articleId * 10 }));

describe('a page of a reader’s saved stories', () => {
  it('keeps the list’s order, omits withdrawn stories, and has the total of the remaining', () => {
    const page = savedPage(content, kept(8, 7, 6, 5, 4, 2), { offset: 1, limit: 2 });
    expect(page.items.map(({ id, at }) => [id, at])).toEqual([
      [6, 60],
      [4, 40],
    ]);
    expect(page.total).toBe(4);
  });

  it('is empty if no story is saved or all are withdrawn', () => {
    expect(savedPage(content, [], { offset: 0, limit: 20 })).toEqual({ items: [], total: 0 });
    expect(savedPage(content, kept(1, 3), { offset: 0, limit: 20 })).toEqual({ items: [], total: 0 });
  });
});
