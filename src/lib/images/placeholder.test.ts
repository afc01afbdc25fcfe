import { expect, it } from 'vitest';
import { placeholderColour } from './placeholder.ts';

it('takes turns in white, gold and red', () => {
  expect([0, 1, 2, 3, 4].map(placeholderColour)).toEqual(['white', 'gold', 'red', 'white', 'gold']);
});
