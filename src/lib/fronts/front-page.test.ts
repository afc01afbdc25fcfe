import { describe, expect, it } from 'vitest';
import type { Card, Section } from '../content/model.ts';
import {
  bulletLines,
  evenRows,
  type Front,
  fitLayout,
  layoutOf,
  leadStory,
  pairHalves,
  pictureFirst,
  shareOut,
  topBlock,
} from './front-page.ts';

const card = (id: number): Card => ({
  id,
  slug: `story-${id}`,
  title: `Story ${id}`,
  excerpt: 'What happened.',
  image: null,
  byline: { authors: [], contributors: [], agency: null },
  section: null,
  date: '2026-11-21T10:00:00Z',
  modified: '2026-11-21T10:00:00Z',
  access: 'default',
  minutes: 2,
});
const cards = (count: number): Card[] => Array.from({ length: count }, (_, index) => card(index + 1));
const front = (layout: Front['layout']): Front => ({ section: { slug: layout } as Section, layout, cards: cards(3) });

describe('leadStory', () => {
  it('takes the editors’ choice before the newest story', () => {
    const featured = { ...card(9), breaking: true, bulleted: false, featuredExcerpt: 'Now.' };
    expect(leadStory({ featured, others: [], ids: [9] }, cards(2))).toBe(featured);
  });

  it('falls back to the newest story, and to nothing', () => {
    const none = { featured: null, others: [], ids: [] };
    expect(leadStory(none, cards(2))).toMatchObject({ id: 1, breaking: false, featuredExcerpt: 'What happened.' });
    expect(leadStory(none, [])).toBeNull();
  });
});

describe('bulletLines', () => {
  it('makes one bullet per line and drops empty lines and typed bullets', () => {
    expect(bulletLines('First\n\n • Second\n- Third ')).toEqual(['First', 'Second', 'Third']);
    expect(bulletLines('')).toEqual([]);
  });
});

describe('topBlock', () => {
  it.each([
    [0, [], 0],
    [3, [3], 0],
    [4, [2, 2], 0],
    [5, [3, 2], 0],
    [6, [3, 3], 0],
    [7, [3, 2], 2],
    [9, [3, 2], 4],
    [14, [3, 2], 4],
  ])('sets %i stories as rows of %j under the lead and %i across', (count, rows, across) => {
    const { below, row } = topBlock(cards(count));
    expect(below.map(({ length }) => length)).toEqual(rows);
    expect(row).toHaveLength(across);
    expect([...below.flat(), ...row]).toEqual(cards(count).slice(0, 9));
  });
});

describe('pictureFirst', () => {
  const image = { url: 'https://example.com/a.jpg', alt: '', width: 1600, height: 900, caption: '', credit: '' };

  it('lets the first story with a picture lead and keeps the others in order', () => {
    const list = [card(1), card(2), { ...card(3), image }, { ...card(4), image }];
    expect(pictureFirst(list).map((each) => each.id)).toEqual([3, 1, 2, 4]);
  });

  it('changes nothing where none or the first has one', () => {
    const without = cards(3);
    expect(pictureFirst(without)).toBe(without);
    const led = [{ ...card(1), image }, card(2)];
    expect(pictureFirst(led)).toBe(led);
    expect(pictureFirst([])).toEqual([]);
  });
});

describe('evenRows', () => {
  it.each([
    [8, [4, 4]],
    [7, [4, 3]],
    [5, [3, 2]],
    [1, [1]],
    [9, [4, 3, 2]],
    [0, []],
  ])('sets %i stories without a lonely last one', (count, lengths) => {
    expect(evenRows(cards(count)).map((row) => row.length)).toEqual(lengths);
  });

  it('keeps the order', () => {
    expect(evenRows([1, 2, 3, 4, 5]).flat()).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('shareOut', () => {
  const section = (slug: string, homepageCount: number) => ({ slug, homepageCount }) as Section;
  const offer = (slug: string, count: number, ids: number[], total = ids.length) => ({
    section: section(slug, count),
    cards: ids.map(card),
    total,
  });
  const ids = (shares: ReturnType<typeof shareOut>) => shares.map((share) => share.cards.map((each) => each.id));

  it('lets the section with the fewest stories choose first and shows none twice', () => {
    const shares = shareOut([offer('politics', 3, [9, 8, 7, 6, 5, 4], 40), offer('opinion', 2, [9, 7])], new Set());
    expect(shares.map((share) => share.section.slug)).toEqual(['politics', 'opinion']);
    expect(ids(shares)).toEqual([
      [8, 6, 5],
      [9, 7],
    ]);
  });

  it('keeps opinion apart from the news', () => {
    const editorials = {
      ...offer('editorials', 1, [5, 4, 3]),
      section: { ...section('editorials', 1), color: 'red' as const },
    };
    expect(ids(shareOut([editorials, offer('foreign', 2, [5, 2])], new Set()))).toEqual([[5], [2]]);
  });

  it('leaves out what stands elsewhere', () => {
    expect(ids(shareOut([offer('politics', 3, [9, 8, 7])], new Set([9, 7])))).toEqual([[8]]);
  });

  it('shows fewer rather than the same twice', () => {
    expect(ids(shareOut([offer('a', 2, [1, 2]), offer('b', 2, [1, 2])], new Set())).map((each) => each.length)).toEqual(
      [2, 0],
    );
  });
});

describe('fitLayout', () => {
  it('finds a layout that few stories fill', () => {
    expect(fitLayout('gallery', 1)).toBe('wide');
    expect(fitLayout('essays', 2)).toBe('row');
    expect(fitLayout('voices', 2)).toBe('voices');
    expect(fitLayout('half', 1)).toBe('half');
    expect(fitLayout('mirror', 6)).toBe('mirror');
  });
});

describe('pairHalves', () => {
  it('pairs neighboring halves only', () => {
    const lines = pairHalves([front('half'), front('half'), front('half'), front('row'), front('half')]);
    expect(lines.map((line) => line.length)).toEqual([2, 1, 1, 1]);
  });
});

describe('layoutOf', () => {
  it('follows the publication, then takes turns', () => {
    expect(layoutOf('culture', 0, { culture: 'gallery' })).toBe('gallery');
    expect(layoutOf('sports', 1, {})).toBe('row');
    expect(layoutOf('sports', 5, {})).toBe('row');
  });
});
