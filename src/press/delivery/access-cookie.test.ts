import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAccessCookie } from './access-cookie.ts';

const key = (id: string) => ({ id, secret: `${id}-`.padEnd(40, 's') });
let now = 1_800_000_000_000;
const later = () => now / 1000 + 600;
const cookie = createAccessCookie({ name: 'access', keys: [key('new'), key('old')], now: () => now });

describe('the access cookie', () => {
  it('says the level that was signed', () => {
    const value = cookie.sign('subscriber', later());
    expect(value).toMatch(/^v1\.new\.\d+\.subscriber\.[\w-]{43}$/);
    expect(cookie.verify(value)).toBe('subscriber');
    expect(cookie.levelFor(`a=b; access=${value}; c=d`)).toBe('subscriber');
    expect(cookie.levelFor(`access=${cookie.sign('registered', later())}`)).toBe('registered');
  });

  it('expires, also when it was verified before', () => {
    const value = cookie.sign('registered', later());
    expect(cookie.verify(value)).toBe('registered');
    now += 600_000;
    expect(cookie.verify(value)).toBeNull();
  });

  it('outlives the change of its key until the key is taken away', () => {
    const old = createAccessCookie({ name: 'access', keys: [key('old')], now: () => now });
    const value = old.sign('subscriber', later());
    expect(cookie.verify(value)).toBe('subscriber');
    expect(createAccessCookie({ name: 'access', keys: [key('new')], now: () => now }).verify(value)).toBeNull();
  });

  it('is not believed when it was changed, cut or made up', () => {
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

  it('has one spelling: no other last character is believed', () => {
    const value = cookie.sign('subscriber', later());
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const believed = [...letters].filter((letter) => cookie.verify(value.slice(0, -1) + letter) !== null);
    expect(believed).toEqual([value.at(-1)]);
  });

  it('is found behind a planted one of the same name', () => {
    const value = cookie.sign('subscriber', later());
    expect(cookie.levelFor(`access=x; access=${value}`)).toBe('subscriber');
  });

  it('never comes from chance', () => {
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

  it('needs fit keys', () => {
    expect(() => createAccessCookie({ name: 'a', keys: [] })).toThrow('at least one key');
    expect(() => createAccessCookie({ name: 'a', keys: [{ id: 'x', secret: 'short' }] })).toThrow('32');
    expect(() => createAccessCookie({ name: 'a', keys: [{ id: 'x.y', secret: 's'.repeat(32) }] })).toThrow('no id');
    expect(() => createAccessCookie({ name: 'a', keys: [key('x'), key('x')] })).toThrow('same id');
  });
});
