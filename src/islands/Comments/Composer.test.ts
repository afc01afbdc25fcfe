// @vitest-environment jsdom
import { expect, it } from 'vitest';
import { commentInvalid, tooLong } from '../../lib/comments/schema.ts';
import { wrongField } from './Composer.tsx';

it('a comment’s first wrong field is reported: an empty or too long text, then a missing name', () => {
  expect(wrongField('  \n ', 10, undefined)).toEqual({ field: 'text', message: commentInvalid.empty });
  expect(wrongField('twelve signs', 10, '')).toEqual({ field: 'text', message: tooLong(2) });
  expect(wrongField('short', 10, '')).toEqual({ field: 'name', message: commentInvalid.noName });
  expect(wrongField('short', 10, undefined)).toBeNull();
  expect(wrongField('short', 10, 'Ada Lovelace')).toBeNull();
});
