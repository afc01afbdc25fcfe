import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { createAccessCookie, createPassCookie } from './access-cookie.ts';

const key = (id: string) => ({ id, secret: `${id}-`.padEnd(40, 's') });
let now = 1_800_000_000_000;
const later = () => now / 1000 + 600;
const cookie = createAccessCookie({ name: 'access', keys: [key('new'), key('old')], now: () => now });

describe('the access cookie', () => {
  it('gives the access level that was signed', () => {
    const value = cookie.sign('subscriber', later());
    expect(value).toMatch(/^v1\.new\.\d+\.subscriber\.[\w-]{43}$/);
    expect(cookie.verify(value)).toBe('subscriber');
    expect(cookie.levelFor(`a=b; access=${value}; c=d`)).toBe('subscriber');
    expect(cookie.levelFor(`access=${cookie.sign('registered', later())}`)).toBe('registered');
  });

  it('expires even if it was verified before', () => {
    const value = cookie.sign('registered', later());
    expect(cookie.verify(value)).toBe('registered');
    now += 600_000;
    expect(cookie.verify(value)).toBeNull();
  });

  it('stays valid after a change of keys until its own key is removed', () => {
    const old = createAccessCookie({ name: 'access', keys: [key('old')], now: () => now });
    const value = old.sign('subscriber', later());
    expect(cookie.verify(value)).toBe('subscriber');
    expect(createAccessCookie({ name: 'access', keys: [key('new')], now: () => now }).verify(value)).toBeNull();
  });

  it('is rejected when altered, truncated or invented', () => {
    const value = cookie.sign('registered', later());
    const parts = value.split('.');
    const forged = [
      value.replace('registered', 'subscriber'),
      value.replace(parts[2] ?? '', String(later() + 99_999)),
      value.replace('.new.', '.old.'),
      value.replace('.new.', '.none.'),
      value.replace('v1', 'v2'),
      value.slice(0, -1),
      `${value}A`,
      parts.slice(0, 4).join('.'),
      `${parts.slice(0, 4).join('.')}.`,
      `${parts.slice(0, 4).join('.')}.${'A'.repeat(43)}`,
      '',
      'subscriber',
      'v1.new.9999999999.subscriber.',
      value.toUpperCase(),
    ];
    for (const one of forged) expect(cookie.verify(one), one).toBeNull();
    expect(cookie.levelFor(undefined)).toBeNull();
    expect(cookie.levelFor(`xaccess=${value}`)).toBeNull();
    expect(cookie.levelFor(`access =${value}`)).toBeNull();
  });

  it('is accepted with only one spelling of its last character', () => {
    const value = cookie.sign('subscriber', later());
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const believed = [...letters].filter((letter) => cookie.verify(value.slice(0, -1) + letter) !== null);
    expect(believed).toEqual([value.at(-1)]);
  });

  it('is found after an invalid cookie of the same name', () => {
    const value = cookie.sign('subscriber', later());
    expect(cookie.levelFor(`access=x; access=${value}`)).toBe('subscriber');
  });

  it('is rejected for random text and after any change of one character', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        expect(cookie.levelFor(`access=${text}`)).toBeNull();
      }),
    );
    const value = cookie.sign('subscriber', later());
    fc.assert(
      fc.property(fc.nat(value.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, letter) => {
        fc.pre(value[at] !== letter);
        expect(cookie.verify(value.slice(0, at) + letter + value.slice(at + 1))).toBeNull();
      }),
    );
  });

  it('requires keys with unique valid ids and long secrets', () => {
    expect(() => createAccessCookie({ name: 'a', keys: [] })).toThrow('at least one key');
    expect(() => createAccessCookie({ name: 'a', keys: [{ id: 'x', secret: 'short' }] })).toThrow('32');
    expect(() => createAccessCookie({ name: 'a', keys: [{ id: 'x.y', secret: 's'.repeat(32) }] })).toThrow(
      'not a key id',
    );
    expect(() => createAccessCookie({ name: 'a', keys: [key('x'), key('x')] })).toThrow('same id');
  });
});

const passKey = { id: 'k1', secret: 'a secret that is long enough for a test' };
let clock = Date.UTC(2026, 10, 21);
const passNow = () => clock;
const pass = createPassCookie({ name: 'gift', keys: [passKey], now: passNow });
const page = '/article/a-bridge';
const soon = () => Math.floor(clock / 1000) + 60;

describe('a pass cookie', () => {
  test('opens its page, wherever it is in the cookie header', () => {
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
  test('expires', () => {
    const value = pass.sign(page, soon());
    expect(pass.opens(`gift=${value}`, page)).toBe(true);
    clock += 61_000;
    expect(pass.opens(`gift=${value}`, page)).toBe(false);
  });
  test.each([
    ['no cookies', undefined],
    ['another cookie name', `xgift=${pass.sign(page, soon())}`],
    [
      'another secret',
      `gift=${createPassCookie({ name: 'gift', keys: [{ ...passKey, secret: 'x'.repeat(40) }], now: passNow }).sign(page, soon())}`,
    ],
    [
      'an unknown key',
      `gift=${createPassCookie({ name: 'gift', keys: [{ ...passKey, id: 'k2' }], now: passNow }).sign(page, soon())}`,
    ],
    ['a later expiry', `gift=${pass.sign(page, soon()).replace(/\.\d+\./, '.99999999999.')}`],
    ['no signature', `gift=${pass.sign(page, soon()).replace(/[^.]+$/, '')}`],
    ['a very long value', `gift=${'v1.k1.'.padEnd(5000, '9')}`],
    ['eight cookies of its name in front of it', `${'gift=x; '.repeat(8)}gift=${pass.sign(page, soon())}`],
  ])('does not open its page with %s', (_name, header) => expect(pass.opens(header, page)).toBe(false));
  test('opens its page if it was signed with an older key that is still configured', () => {
    const turned = createPassCookie({
      name: 'gift',
      keys: [{ id: 'k2', secret: 'y'.repeat(40) }, passKey],
      now: passNow,
    });
    expect(turned.opens(`gift=${pass.sign(page, soon())}`, page)).toBe(true);
  });
  test('is not accepted as an access cookie, nor an access cookie as a pass', () => {
    const access = createAccessCookie({ name: 'access', keys: [passKey], now: passNow });
    expect(access.verify(pass.sign(page, soon()))).toBeNull();
    expect(pass.opens(`gift=${access.sign('subscriber', soon())}`, page)).toBe(false);
  });
});
