import { expect, test } from 'vitest';
import { headlineSize } from './model.ts';

test.each([
  ['The Night Switchman', 'large'],
  ['x'.repeat(73), 'medium'],
  ['x'.repeat(121), 'small'],
  ['🗞️'.repeat(36), 'large'],
  ['', 'large'],
])('%#', (title, size) => expect(headlineSize(title)).toBe(size));
