import { describe, expect, test } from 'vitest';
import { createAccessCookie } from './access-cookie.ts';
import { createPassCookie } from './pass-cookie.ts';

const key = { id: 'k1', secret: 'a secret that is long enough for a test' };
let clock = Date.UTC(2026, 10, 21);
const now = () => clock;
const pass = createPassCookie({ name: 'gift', keys: [key], now });
const page = '/article/a-bridge';
const soon = () => Math.floor(clock / 1000) + 60;

describe('a pass', () => {
  test('opens its page, wherever it stands in the header', () => {
    const value = pass.sign(page, soon());
    for (const header of [`gift=${value}`, `a=b; gift=${value}; c=d`, `gift=x; gift=${value}`, `a=b;gift=${value} `]) {
      expect(pass.opens(header, page), header).toBe(true);
      expect(pass.opens(header, page), 'again').toBe(true);
    }
  });
  test('opens no other page', () => {
    const value = pass.sign(page, soon());
    for (const other of ['/article/another', '/article/a-bridg', `${page}/comments`, `${page}?page=2`, '/'])
      expect(pass.opens(`gift=${value}`, other), other).toBe(false);
  });
  test('ends', () => {
    const value = pass.sign(page, soon());
    expect(pass.opens(`gift=${value}`, page)).toBe(true);
    clock += 61_000;
    expect(pass.opens(`gift=${value}`, page)).toBe(false);
  });
  test.each([
    ['nothing', undefined],
    ['another name', `xgift=${pass.sign(page, soon())}`],
    [
      'another secret',
      `gift=${createPassCookie({ name: 'gift', keys: [{ ...key, secret: 'x'.repeat(40) }], now }).sign(page, soon())}`,
    ],
    [
      'an unknown key',
      `gift=${createPassCookie({ name: 'gift', keys: [{ ...key, id: 'k2' }], now }).sign(page, soon())}`,
    ],
    ['a later expiry', `gift=${pass.sign(page, soon()).replace(/\.\d+\./, '.99999999999.')}`],
    ['no signature', `gift=${pass.sign(page, soon()).replace(/[^.]+$/, '')}`],
    ['something very long', `gift=${'v1.k1.'.padEnd(5000, '9')}`],
    ['too many before it', `${'gift=x; '.repeat(8)}gift=${pass.sign(page, soon())}`],
  ])('is not %s', (_name, header) => expect(pass.opens(header, page)).toBe(false));
  test('a key that was taken out of use as first still opens', () => {
    const turned = createPassCookie({ name: 'gift', keys: [{ id: 'k2', secret: 'y'.repeat(40) }, key], now });
    expect(turned.opens(`gift=${pass.sign(page, soon())}`, page)).toBe(true);
  });
  test('is no access cookie, and an access cookie is no pass', () => {
    const access = createAccessCookie({ name: 'access', keys: [key], now });
    expect(access.verify(pass.sign(page, soon()))).toBeNull();
    expect(pass.opens(`gift=${access.sign('subscriber', soon())}`, page)).toBe(false);
  });
});
