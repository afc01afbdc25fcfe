import { describe, expect, test } from 'vitest';
import { grantOf, registeredGrant, runningProducts } from './entitlements.ts';

const now = Date.UTC(2026, 10, 21);
const hour = 3_600_000;
const paid = (product: string, until: number) => ({ product, until, trialing: false });

describe('grantOf', () => {
  test.each([
    ['nothing', [], registeredGrant],
    ['a reader', [paid('sun-reader', now + 1)], { level: 'subscriber', until: now + 1, visitor: 'reader' }],
    ['what has just ended', [paid('sun-reader', now)], registeredGrant],
    ['another product', [paid('sun-shop', now + hour)], registeredGrant],
    [
      'a member who was a reader for longer',
      [paid('sun-reader', now + 2 * hour), paid('sun-member', now + hour)],
      { level: 'subscriber', until: now + 2 * hour, visitor: 'member' },
    ],
    [
      'a founder',
      [paid('sun-member', now + hour), paid('sun-founder', now + hour)],
      { level: 'subscriber', until: now + hour, visitor: 'founder' },
    ],
  ])('%s', (_name, given, expected) => expect(grantOf(given, now)).toEqual(expected));

  test('a timed trial opens everything, and the reader stays a registered one', () => {
    expect(grantOf([], now, now + hour)).toEqual({ level: 'subscriber', until: now + hour, visitor: 'registered' });
    expect(grantOf([], now, now)).toEqual(registeredGrant);
  });
  test('what ends last counts', () => {
    expect(grantOf([paid('sun-reader', now + 2)], now, now + 1).until).toBe(now + 2);
    expect(grantOf([paid('sun-reader', now + 1)], now, now + 2)).toMatchObject({ until: now + 2, visitor: 'reader' });
  });
});

test('runningProducts names each once, the highest first', () => {
  const given = [paid('sun-reader', now + 1), paid('sun-founder', now + 1), paid('sun-reader', now + 2)];
  expect(runningProducts(given, now)).toEqual(['founder', 'reader']);
});
