import { describe, expect, it } from 'vitest';
import type { Card, Section } from '../content/model.ts';
import {
  assignStories,
  bulletLines,
  evenRows,
  type FrontSection,
  fitLayout,
  layoutOf,
  pairHalves,
  pictureFirst,
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
const front = (layout: FrontSection['layout']): FrontSection => ({
  section: { slug: layout } as Section,
  layout,
  cards: cards(3),
});

describe('splitting text into bullets', () => {
  it('makes one bullet per line and drops empty lines and typed bullets', () => {
    expect(bulletLines('First\n\n • Second\n- Third ')).toEqual(['First', 'Second', 'Third']);
    expect(bulletLines('')).toEqual([]);
  });
});

describe('the layout of the front page’s top', () => {
  it.each([
    [0, [], 0],
    [3, [3], 0],
    [4, [2, 2], 0],
    [5, [3, 2], 0],
    [6, [3, 3], 0],
    [7, [3, 2], 2],
    [9, [3, 2], 4],
    [14, [3, 2], 4],
  ])('puts %i stories into rows of %j below the lead and %i in a row across the page', (count, rows, across) => {
    const { below, row } = topBlock(cards(count));
    expect(below.map(({ length }) => length)).toEqual(rows);
    expect(row).toHaveLength(across);
    expect([...below.flat(), ...row]).toEqual(cards(count).slice(0, 9));
  });
});

describe('putting a picture first', () => {
  const image = { url: 'https://example.com/a.jpg', alt: '', width: 1600, height: 900, caption: '', credit: '' };

  it('moves the first story with a picture to the front and keeps the others in order', () => {
    const list = [card(1), card(2), { ...card(3), image }, { ...card(4), image }];
    expect(pictureFirst(list).map((each) => each.id)).toEqual([3, 1, 2, 4]);
  });

  it('changes nothing when no story has a picture, or the first one has', () => {
    const without = cards(3);
    expect(pictureFirst(without)).toBe(without);
    const led = [{ ...card(1), image }, card(2)];
    expect(pictureFirst(led)).toBe(led);
    expect(pictureFirst([])).toEqual([]);
  });
});

describe('splitting stories into even rows', () => {
  it.each([
    [8, [4, 4]],
    [7, [4, 3]],
    [5, [3, 2]],
    [1, [1]],
    [9, [4, 3, 2]],
    [0, []],
  ])('avoids a single story in the last of the rows for %i stories', (count, lengths) => {
    expect(evenRows(cards(count)).map((row) => row.length)).toEqual(lengths);
  });

  it('keeps the order of the stories', () => {
    expect(evenRows([1, 2, 3, 4, 5]).flat()).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('sharing stories among sections', () => {
  const section = (slug: string, homepageCount: number) => ({ slug, homepageCount }) as Section;
  const offer = (slug: string, count: number, ids: number[], total = ids.length) => ({
    section: section(slug, count),
    cards: ids.map(card),
    total,
  });
  const ids = (shares: ReturnType<typeof assignStories>) => shares.map((share) => share.cards.map((each) => each.id));

  it('lets the section with the fewest stories choose first, and shows no story twice', () => {
    const shares = assignStories(
      [offer('politics', 3, [9, 8, 7, 6, 5, 4], 40), offer('opinion', 2, [9, 7])],
      new Set(),
    );
    expect(shares.map((share) => share.section.slug)).toEqual(['politics', 'opinion']);
    expect(ids(shares)).toEqual([
      [8, 6, 5],
      [9, 7],
    ]);
  });

  it('lets opinion sections choose before news sections', () => {
    const editorials = {
      ...offer('editorials', 1, [5, 4, 3]),
      section: { ...section('editorials', 1), color: 'red' as const },
    };
    expect(ids(assignStories([editorials, offer('foreign', 2, [5, 2])], new Set()))).toEqual([[5], [2]]);
  });

  it('leaves out stories that are shown elsewhere', () => {
    expect(ids(assignStories([offer('politics', 3, [9, 8, 7])], new Set([9, 7])))).toEqual([[8]]);
  });

  it('shows fewer stories rather than one twice', () => {
    expect(
      ids(assignStories([offer('a', 2, [1, 2]), offer('b', 2, [1, 2])], new Set())).map((each) => each.length),
    ).toEqual([2, 0]);
  });
});

describe('the layout for few stories', () => {
  it('is one that they can fill', () => {
    expect(fitLayout('gallery', 1)).toBe('wide');
    expect(fitLayout('essays', 2)).toBe('row');
    expect(fitLayout('voices', 2)).toBe('voices');
    expect(fitLayout('half', 1)).toBe('half');
    expect(fitLayout('mirror', 6)).toBe('mirror');
  });
});

describe('pairing sections', () => {
  it('joins only neighboring half-width sections', () => {
    const lines = pairHalves([front('half'), front('half'), front('half'), front('row'), front('half')]);
    expect(lines.map((line) => line.length)).toEqual([2, 1, 1, 1]);
  });
});

describe('the layout of a section', () => {
  it('is the publication’s choice, or else the next of the default layouts', () => {
    expect(layoutOf('culture', 0, { culture: 'gallery' })).toBe('gallery');
    expect(layoutOf('sports', 1, {})).toBe('row');
    expect(layoutOf('sports', 5, {})).toBe('row');
  });
});
