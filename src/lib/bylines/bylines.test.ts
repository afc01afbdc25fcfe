import { describe, expect, it } from 'vitest';
import type { Byline } from '../content/model.ts';
import { byLastName, bylineText, contributorCredits, creditsOf, shortByline, shortNames, soleAuthor } from './model.ts';

const names = ['Ada Moss', 'Ben Lee', 'Cy Park', 'Di Rowe', 'Ed Vance'];
const person = (name: string, at: number) => ({ id: at + 1, name, slug: name.toLowerCase().replace(' ', '-') });
const byline = (count: number, more: Partial<Byline> = {}): Byline => ({
  authors: names.slice(0, count).map(person),
  contributors: [],
  agency: null,
  ...more,
});
const agency = { name: 'Associated Press', url: 'https://ap.example/' };

describe('a byline as text', () => {
  it.each([
    [0, '', ''],
    [1, 'Ada Moss', 'Ada Moss'],
    [2, 'Ada Moss and Ben Lee', 'Ada Moss and Ben Lee'],
    [3, 'Ada Moss, Ben Lee and Cy Park', 'Ada Moss, Ben Lee and Cy Park'],
    [4, 'Ada Moss, Ben Lee, Cy Park and Di Rowe', 'Ada Moss, Ben Lee and 2 others'],
    [5, 'Ada Moss, Ben Lee, Cy Park, Di Rowe and Ed Vance', 'Ada Moss, Ben Lee and 3 others'],
  ])('with %d authors names all of them, or shortens lists of more than three', (count, all, few) => {
    expect([bylineText(byline(count)), shortByline(byline(count))]).toEqual([all, few]);
  });

  it('names the agency last, or alone when there are no authors', () => {
    expect(bylineText(byline(0, { agency }))).toBe('Associated Press');
    expect(bylineText(byline(1, { agency }))).toBe('Ada Moss and Associated Press');
    expect(shortByline(byline(3, { agency }))).toBe('Ada Moss, Ben Lee and 2 others');
  });
});

it('names link to author pages, and an agency to its website if it has one', () => {
  const contributors = [person('Cy Park', 2)];
  const whole = byline(1, { agency, contributors });
  expect(creditsOf(whole)).toEqual([
    { name: 'Ada Moss', href: '/author/ada-moss', author: true },
    { name: 'Associated Press', href: 'https://ap.example/', author: false },
  ]);
  expect(creditsOf(byline(0, { agency: { ...agency, url: '' } }))[0]?.href).toBeNull();
  expect(contributorCredits(whole)).toEqual([{ name: 'Cy Park', href: '/author/cy-park', author: true }]);
  expect(shortNames(creditsOf(byline(5)))).toMatchObject({
    others: 3,
    shown: [{ name: 'Ada Moss' }, { name: 'Ben Lee' }],
  });
});

it('a story has a sole author only without contributors and agency', () => {
  expect(soleAuthor(byline(1))?.name).toBe('Ada Moss');
  const others = [byline(0), byline(2), byline(1, { agency }), byline(1, { contributors: [person('Cy Park', 2)] })];
  expect(others.map(soleAuthor)).toEqual([null, null, null, null]);
});

it('authors are sorted by last name, groups by their name without “The”', () => {
  const people = ['Ben Zell', 'The Editors', 'Ada Moss', 'Martin King Jr.', 'Óscar Álvarez', 'Plato'];
  expect(byLastName(people.map((name) => ({ name }))).map(({ name }) => name)).toEqual([
    'Óscar Álvarez',
    'The Editors',
    'Martin King Jr.',
    'Ada Moss',
    'Plato',
    'Ben Zell',
  ]);
});
