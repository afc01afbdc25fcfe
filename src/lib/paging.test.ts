import { describe, expect, it } from 'vitest';
import { isAlias, listPage, pageHref, pageNumber, paging } from './paging.ts';

const query = (text: string) => new URLSearchParams(text);

describe('pageNumber', () => {
  it('is 1 without the parameter', () => {
    expect(pageNumber(query(''))).toBe(1);
    expect(pageNumber(query('utm_source=x'))).toBe(1);
  });

  it.each(['0', '-1', 'abc', '02', '1.5', '', '9999999', '1e3', ' 2'])('refuses %j', (text) => {
    expect(pageNumber(new URLSearchParams({ page: text }))).toBeNull();
  });

  it('reads the parameter, and recognizes page=1 as an alias', () => {
    expect(pageNumber(query('page=12'))).toBe(12);
    expect(isAlias(query('page=1'))).toBe(true);
    expect(isAlias(query('page=2'))).toBe(false);
  });
});

describe('paging', () => {
  it('links to the previous and next page', () => {
    expect(paging('/section/politics', 2, 13, 6)).toEqual({
      page: 2,
      pages: 3,
      previous: '/section/politics',
      next: '/section/politics?page=3',
    });
  });

  it('has no next page on the last one, and is null beyond it', () => {
    expect(paging('/latest', 3, 18, 6)?.next).toBeNull();
    expect(paging('/latest', 4, 18, 6)).toBeNull();
  });

  it('has a first page even if the list is empty', () => {
    expect(paging('/latest', 1, 0, 6)).toEqual({ page: 1, pages: 1, previous: null, next: null });
    expect(paging('/latest', 2, 0, 6)).toBeNull();
  });

  it('gives the first page the URL without a page parameter', () => {
    expect(pageHref('/latest', 1)).toBe('/latest');
    expect(pageHref('/media?section=foreign', 1)).toBe('/media?section=foreign');
  });

  it('keeps the list’s other parameters', () => {
    expect(pageHref('/media?section=foreign', 2)).toBe('/media?section=foreign&page=2');
    expect(paging('/search?q=fish%20%26%20chips', 2, 30, 10)).toMatchObject({
      previous: '/search?q=fish%20%26%20chips',
      next: '/search?q=fish%20%26%20chips&page=3',
    });
  });
});

describe('listPage', () => {
  const read = (part: { offset: number; limit: number }) => ({ part, total: 13 });
  const page = (query: string) => listPage(new URL(`https://paper.example/latest${query}`), '/latest', 6, read);

  it('reads the part of the list that the URL asks for', () => {
    expect(page('?page=2')).toMatchObject({ part: { offset: 6, limit: 6 }, first: false, suffix: ', page 2' });
    expect(page('')).toMatchObject({ part: { offset: 0 }, first: true, suffix: '', place: { next: '/latest?page=2' } });
  });

  it.each([
    ['?page=1', 301],
    ['?page=4', 404],
    ['?page=x', 404],
  ])('responds to %s with %i', (query, status) => {
    expect((page(query) as Response).status).toBe(status);
  });
});
