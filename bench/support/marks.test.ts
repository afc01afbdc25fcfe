import { expect, it } from 'vitest';
import { mark, marksIn } from './marks.ts';

it('marksIn lists each version mark on a page once', () => {
  const page = `<h1>Bridge opens ${mark('h1200', 3)}</h1><p>${mark('b1200', 0)}</p><a>${mark('h1200', 3)}</a>${mark('h1200', 2)}`;
  expect(marksIn(page)).toEqual([
    ['h1200', 3],
    ['b1200', 0],
    ['h1200', 2],
  ]);
  expect(marksIn('zq zqh1200 a quiz v3z')).toEqual([]);
});
