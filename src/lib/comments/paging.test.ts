import { expect, test } from 'vitest';
import { commentsPath, counted, pageCount, pageNumber, threadPath } from './paging.ts';

test('the first page has the plain address', () => {
  expect(commentsPath('a-slug')).toBe('/article/a-slug/comments');
  expect(commentsPath('a-slug', 3)).toBe('/article/a-slug/comments?page=3');
  expect(threadPath('a-slug', 7)).toBe('/article/a-slug/comments/7');
  expect(threadPath('a-slug', 7, 2)).toBe('/article/a-slug/comments/7?page=2');
});

test.each([
  [null, 1],
  ['', 1],
  ['1', 1],
  ['12', 12],
  ['0', null],
  ['-1', null],
  ['1.5', null],
  ['1e3', null],
  ['9999999', null],
  ['x', null],
])('page %j is %j', (given, page) => expect(pageNumber(given)).toBe(page));

test('pages and counts', () => {
  expect([pageCount(0, 10), pageCount(10, 10), pageCount(11, 10)]).toEqual([1, 1, 2]);
  expect([counted(0, 'comment'), counted(1, 'reply', 'replies'), counted(1204, 'comment')]).toEqual([
    '0 comments',
    '1 reply',
    '1,204 comments',
  ]);
});
