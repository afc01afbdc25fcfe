import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readCookies, setCookie } from './cookies.server.ts';

beforeEach(() => vi.useFakeTimers({ now: Date.UTC(2026, 10, 20, 12), toFake: ['Date'] }));
afterEach(() => vi.useRealTimers());

test('a cookie has an Expires date that matches its Max-Age', () => {
  const options = { httpOnly: true, secure: true };
  expect(setCookie('a', '1', { ...options, maxAge: 3600 })).toBe(
    'a=1; Path=/; Max-Age=3600; Expires=Fri, 20 Nov 2026 13:00:00 GMT; SameSite=Lax; HttpOnly; Secure',
  );
  expect(setCookie('a', '', { ...options, maxAge: 0, path: '/gift' })).toBe(
    'a=; Path=/gift; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT; SameSite=Lax; HttpOnly; Secure',
  );
  expect(setCookie('a', '1', { maxAge: 3600, httpOnly: false, secure: false, sameSite: 'Strict' })).toBe(
    'a=1; Path=/; Max-Age=3600; Expires=Fri, 20 Nov 2026 13:00:00 GMT; SameSite=Strict',
  );
});

test('readCookies returns at most four cookies of a name, and none with a similar name', () => {
  const header = 'aa=0; a=1;a=2; b; a = 3 ;ab=0; a=4=4; a=5';
  expect(readCookies(header, 'a')).toEqual(['1', '2', '3', '4=4']);
  expect(readCookies(null, 'a')).toEqual([]);
});
