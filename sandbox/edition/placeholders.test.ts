import { expect, test } from 'vitest';
import { picturesWithin, withAddresses } from './placeholders.ts';

test('each {{art:…}} motif is drawn once and used wherever a body names it', () => {
  const bodies = ['<img src="{{art:ship}}"><img src="{{art:storm-sea}}">', '<img src="{{art:ship}}">'];
  const wishes = picturesWithin(bodies);
  expect(wishes.map(({ motif }) => motif)).toEqual(['ship', 'storm-sea']);
  expect(withAddresses(bodies[1] ?? '', (seed) => `/uploads/${seed}.jpg`)).toBe(`<img src="/uploads/${wishes[0]?.seed}.jpg">`);
});

test('braces other than {{art:…}} are left unchanged', () => {
  expect(withAddresses('{{constructor}} {{ art:ship }}', () => 'x')).toBe('{{constructor}} {{ art:ship }}');
});
