import { expect, test } from 'vitest';
import { refuse, tooManyRequests, tooManyTries } from './answer.ts';

test.each([
  [1, 'a second'],
  [59, '59 seconds'],
  [60, 'a minute'],
  [61, '2 minutes'],
  [59 * 60, '59 minutes'],
  [59 * 60 + 1, 'an hour'],
  [60 * 60, 'an hour'],
  [60 * 60 + 1, '2 hours'],
])('the message about too many tries calls a wait of %i seconds “%s”', (seconds, words) => {
  expect(tooManyTries(seconds)).toBe(`Too many tries. Please wait ${words}, then try again.`);
});

test('a 429 response has the seconds to wait in its body and header; a 400 response has neither', () => {
  expect(tooManyRequests(90)).toMatchObject({
    status: 429,
    body: { retryAfter: 90 },
    headers: { 'Retry-After': '90' },
  });
  expect(refuse(400, 'No.')).toEqual({ status: 400, body: { message: 'No.' } });
});
