import { expect, it } from 'vitest';
import { retryAfter } from './retry-after.ts';

it('Retry-After is read in seconds or as a date', () => {
  const now = Date.UTC(2026, 10, 21, 12);
  expect(retryAfter('120', now)).toBe(120_000);
  expect(retryAfter('Sat, 21 Nov 2026 12:00:30 GMT', now)).toBe(30_000);
  expect(retryAfter('Sat, 21 Nov 2026 11:00:00 GMT', now)).toBe(0);
  expect(retryAfter('soon', now)).toBeNull();
  expect(retryAfter(null, now)).toBeNull();
});
