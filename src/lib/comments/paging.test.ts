import { expect, test } from 'vitest';
import { commentNumber, commentsPath, counted, threadPath } from './paging.ts';

test('the first page has the plain address', () => {
  expect(commentsPath('a-slug')).toBe('/article/a-slug/comments');
  expect(commentsPath('a-slug', 3)).toBe('/article/a-slug/comments?page=3');
  expect(threadPath('a-slug', 7)).toBe('/article/a-slug/comments/7');
  expect(threadPath('a-slug', 7, 2)).toBe('/article/a-slug/comments/7?page=2');
});

test.each([
  ['1', 1],
  // An old newspaper has millions of comments.
  ['12345678', 12_345_678],
  ['', null],
  ['0', null],
  ['07', null],
  ['-1', null],
  ['1.5', null],
  ['1e3', null],
  ['9'.repeat(16), null],
  ['x', null],
])('comment %j is %j', (given, id) => expect(commentNumber(given)).toBe(id));

test('counts', () => {
  expect([counted(0, 'comment'), counted(1, 'reply', 'replies'), counted(1204, 'comment')]).toEqual([
    '0 comments',
    '1 reply',
    '1,204 comments',
  ]);
});
