import { expect, test } from 'vitest';
import { joinSheets } from './page-styles.ts';

const read = (sheet: string): string => `.${sheet} {}\n`;
/** The styles that a page links, joined from the sheets in its files. */
const joined = (pages: readonly (readonly string[])[]): string[][] => {
  const { files, links } = joinSheets(
    pages.map((sheets, at) => ({ name: `page-${at}`, sheets })),
    read,
  );
  return links.map((names) => names.map((name) => (files.get(name) ?? '').replaceAll(/[^\w\n]/g, '')));
};

test('the styles that all pages share are one file, and the rest of each page is another', () => {
  expect(joined([['card', 'base'], ['form', 'base'], ['base']])).toEqual([
    ['card', 'base'],
    ['form', 'base'],
    ['base'],
  ]);
});

test('the cascade keeps its order: styles after the shared ones are linked after them', () => {
  const both = joined([
    ['card', 'frame', 'base', 'late'],
    ['frame', 'base'],
  ]);
  expect(both).toEqual([['card', 'frame\nbase', 'late'], ['frame\nbase']]);
});

test('pages with the same remaining styles share a file, and a page without styles links none', () => {
  const { files, links } = joinSheets(
    [
      { name: 'thread', sheets: ['talk', 'base'] },
      { name: 'comments', sheets: ['talk', 'base'] },
      { name: 'feed', sheets: [] },
      { name: 'home', sheets: ['front', 'base'] },
    ],
    read,
  );
  expect(links[0]).toEqual(links[1]);
  expect(links[2]).toEqual([]);
  expect(files.size).toBe(3);
});

test('a style file’s name changes with its text, so that browsers can cache it forever', () => {
  const name = (text: string) => [...joinSheets([{ name: 'home', sheets: ['a'] }], () => text).files.keys()][0];
  expect(name('.a {}')).not.toBe(name('.b {}'));
});
