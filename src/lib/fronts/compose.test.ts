import { describe, expect, it } from 'vitest';
import type { Card, TopStories } from '../content/model.ts';
import { composeHome, composeSection, type Package, withinPage } from './compose.ts';
import {
  changeTimesOf,
  type FrontPlan,
  type FrontSlot,
  isPackagePlace,
  type PackagePlace,
  type Placed,
  sectionOfFront,
  slotsAt,
} from './model.ts';

const card = (id: number, part: Partial<Card> = {}): Card => ({
  id,
  slug: `story-${id}`,
  title: `Story ${id}`,
  excerpt: `Words ${id}.`,
  image: null,
  byline: { authors: [], contributors: [], agency: null },
  section: null,
  date: '2026-11-21T10:00:00Z',
  modified: '2026-11-21T10:00:00Z',
  access: 'default',
  minutes: 2,
  ...part,
});
const newest = Array.from({ length: 20 }, (_, index) => card(100 - index));
const none: TopStories = { featured: null, others: [], ids: [] };
const chosen: TopStories = {
  featured: { ...card(50), breaking: true, bulleted: true, featuredExcerpt: 'One\nTwo' },
  others: [51, 52, 53, 54, 55, 56].map((id) => card(id)),
  ids: [50, 51, 52, 53, 54, 55, 56],
};
const place = (kind: Placed['kind'], id: number, related: Placed['related'] = []): Placed => ({
  kind,
  card: card(id),
  related,
});
const ids = (cards: readonly Card[]) => cards.map(({ id }) => id);

const slot = (story: number, part: Partial<FrontSlot> = {}): FrontSlot => ({
  kind: 'second',
  story,
  headline: '',
  picture: null,
  from: null,
  until: null,
  related: [],
  ...part,
});

describe('a front-page plan', () => {
  const plan: FrontPlan = {
    slots: [
      slot(1),
      slot(2, { from: '2026-11-25T10:00:00Z' }),
      slot(3, { from: '2026-11-25T09:00:00Z', until: '2026-11-25T10:00:00Z' }),
    ],
    next: { at: '2026-11-25T12:00:00Z', slots: [slot(4), slot(5, { until: '2026-11-25T13:00:00Z' })] },
  };

  it.each([
    ['2026-11-25T08:59:59Z', [1]],
    ['2026-11-25T09:00:00Z', [1, 3]],
    ['2026-11-25T10:00:00Z', [1, 2]],
    ['2026-11-25T11:59:59Z', [1, 2]],
    ['2026-11-25T12:00:00Z', [4, 5]],
    ['2026-11-25T13:00:00Z', [4]],
  ])('at %s has the stories whose times include it', (instant, stories) => {
    expect(slotsAt(plan, instant).map(({ story }) => story)).toEqual(stories);
  });

  it('lists each time at which it changes once', () => {
    expect(changeTimesOf(plan)).toEqual([
      '2026-11-25T09:00:00Z',
      '2026-11-25T10:00:00Z',
      '2026-11-25T12:00:00Z',
      '2026-11-25T13:00:00Z',
    ]);
    expect(changeTimesOf({ slots: [slot(1)], next: null })).toEqual([]);
  });

  it.each([
    ['home', null],
    ['section-12', 12],
    ['section-0', undefined],
    ['section-1x', undefined],
    ['home-2', undefined],
    ['', undefined],
  ])('with the key “%s” is for section %s (null: the home page)', (key, section) =>
    expect(sectionOfFront(key)).toBe(section),
  );
});

describe('the home page', () => {
  it('without placed stories shows the editors’ list, or else the newest stories', () => {
    expect(composeHome([], chosen, newest)).toMatchObject({
      lead: chosen.featured,
      others: chosen.others,
      packages: [],
    });
    const { lead, others, ids: shown } = composeHome([], none, newest);
    expect(lead).toMatchObject({ id: 100, breaking: false, featuredExcerpt: newest[0]?.excerpt });
    expect(ids(others)).toEqual([99, 98, 97, 96, 95]);
    expect([...shown]).toEqual([100, 99, 98, 97, 96, 95]);
    expect(composeHome([], none, [])).toMatchObject({ lead: null, others: [] });
  });

  it('shows placed stories first, and fills the rest without duplicates', () => {
    const placed = [place('second', 52), place('lead', 98), place('second', 97)];
    const { lead, others } = composeHome(placed, chosen, newest);
    expect([lead?.id, lead?.breaking]).toEqual([98, false]);
    expect(ids(others)).toEqual([52, 97, 50, 51, 53, 54]);
    const filled = composeHome([place('second', 99)], none, newest);
    expect([filled.lead?.id, ids(filled.others)]).toEqual([100, [99, 98, 97, 96, 95]]);
  });

  it('keeps the top story’s label and text when it is placed as lead with its own headline', () => {
    const placed = [{ ...place('lead', 50), card: card(50, { title: 'For this place' }) }];
    expect(composeHome(placed, chosen, newest).lead).toMatchObject({
      title: 'For this place',
      breaking: true,
      featuredExcerpt: 'One\nTwo',
    });
  });

  it('uses the first of two leads as lead, and shows each story once', () => {
    const placed = [place('lead', 1), place('lead', 2), place('second', 1), place('package', 2)];
    const { lead, others, packages } = composeHome(placed, none, newest);
    expect([lead?.id, ids(others)[0], packages]).toEqual([1, 2, []]);
  });

  it('shows each story once, whether in a package or placed by itself', () => {
    const link = (story: number | null) => ({ href: `/${story}`, title: 'A', story });
    const placed = [
      place('package', 100, [link(99), link(98), link(null)]),
      place('second', 98),
      place('package', 97, [link(99)]),
    ];
    const { lead, others, packages, ids: shown } = composeHome(placed, none, newest);
    expect(packages.map(({ related }) => related.map(({ story }) => story))).toEqual([[99, null], []]);
    expect([lead?.id, ids(others)]).toEqual([96, [98, 95, 94, 93, 92]]);
    expect([99, 100, 97].every((id) => shown.has(id))).toBe(true);
  });

  it('has nine places below the lead, and leaves stories beyond them to their sections', () => {
    const placed = Array.from({ length: 12 }, (_, at) => place('second', at + 1));
    const { others, ids: shown } = composeHome(placed, none, newest);
    expect(ids(others)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect([9, 10].map((id) => shown.has(id))).toEqual([true, false]);
  });
});

describe('a section page', () => {
  const items = newest.slice(0, 6);

  it('without placed stories shows its list, with the first three in front', () => {
    const { front, listed, isPlaced, packages } = composeSection([], items, 3);
    expect([ids(front), ids(listed), isPlaced, packages]).toEqual([[100, 99, 98], [97, 96, 95], false, []]);
    expect(composeSection([], items, 0)).toMatchObject({ front: [], listed: items });
  });

  it('shows placed stories first, and each story of its list once', () => {
    const placed = [place('second', 97), place('lead', 7), place('package', 95)];
    const { front, listed, isPlaced, packages } = composeSection(placed, items, 3);
    expect([ids(front), ids(listed), isPlaced]).toEqual([[7, 97, 100], [99, 98, 96], true]);
    expect(packages.map(({ main }) => main.id)).toEqual([95]);
  });

  it('leads with the newest story when no lead is placed', () => {
    const { front, listed } = composeSection([place('second', 7)], items, 3);
    expect([ids(front), ids(listed)]).toEqual([
      [100, 7, 99],
      [98, 97, 96, 95],
    ]);
  });
});

describe('the position of a package', () => {
  const packageAt = (id: number, after?: PackagePlace): Placed => ({
    ...place('package', id),
    ...(after && { after }),
  });
  const placesOf = (packages: readonly Package[]) => packages.map(({ main, after }) => [main.id, after]);

  it.each(['start', 'lead', 'seconds', 'row-1', 'row-9', 'row-20'])('may be %s', (after) =>
    expect(isPackagePlace(after)).toBe(true),
  );

  it.each([
    '',
    'end',
    'row-0',
    'row-21',
    'row-99',
    'row-1x',
    'row-01',
    'row--1',
    'Lead',
    'constructor',
    null,
    3,
    {},
    ['lead'],
  ])('cannot be %j', (after) => expect(isPackagePlace(after)).toBe(false));

  it('is after the second stories by default, and packages are sorted from the top of the page down', () => {
    const placed = [
      packageAt(1, 'row-10'),
      packageAt(2, 'row-2'),
      packageAt(3),
      packageAt(4, 'start'),
      packageAt(5, 'lead'),
      packageAt(6, 'seconds'),
    ];
    const expected = [
      [4, 'start'],
      [5, 'lead'],
      [3, 'seconds'],
      [6, 'seconds'],
      [2, 'row-2'],
      [1, 'row-10'],
    ];
    expect(placesOf(composeHome(placed, chosen, newest).packages)).toEqual(expected);
    expect(composeHome(placed, chosen, newest).lead?.id).toBe(50);
  });

  it('moves up to the last row, or to after the second stories, when the page has too few rows', () => {
    const { packages } = composeHome(
      [packageAt(1, 'lead'), packageAt(2, 'row-2'), packageAt(3, 'row-9')],
      none,
      newest,
    );
    expect(placesOf(withinPage(packages, 4, true))).toEqual([
      [1, 'lead'],
      [2, 'row-2'],
      [3, 'row-4'],
    ]);
    expect(placesOf(withinPage(packages, 0, false)).map(([, after]) => after)).toEqual([
      'seconds',
      'seconds',
      'seconds',
    ]);
  });

  it('counts the stories of a section’s list as rows', () => {
    const placed = [packageAt(100, 'row-2'), packageAt(99, 'row-7'), packageAt(98, 'start')];
    const { front, listed, packages } = composeSection(placed, newest.slice(0, 8), 3);
    expect([ids(front), ids(listed)]).toEqual([
      [97, 96, 95],
      [94, 93],
    ]);
    expect(placesOf(packages)).toEqual([
      [98, 'start'],
      [100, 'row-2'],
      [99, 'row-2'],
    ]);
    const full = composeSection([packageAt(100, 'row-1'), packageAt(99, 'lead')], newest.slice(0, 2), 3);
    expect([full.front, full.listed, placesOf(full.packages)]).toEqual([
      [],
      [],
      [
        [99, 'seconds'],
        [100, 'seconds'],
      ],
    ]);
  });
});
