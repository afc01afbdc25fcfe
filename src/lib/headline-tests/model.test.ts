import { describe, expect, it } from 'vitest';
import { groupCookie, groupIn, groups, headlineFor, mayTakePart } from './model.ts';

describe('the reader’s group in the cookie header', () => {
  it('is a number from 0 to 11', () => {
    for (let group = 0; group < groups; group++) {
      expect(groupIn(`a=b; headline-group=${group}`)).toBe(group);
      expect(groupIn(`headline-group=${group};a=b`)).toBe(group);
      expect(groupIn(groupCookie(group, true).split(';')[0])).toBe(group);
    }
  });

  it.each([
    '',
    'headline-group=',
    'headline-group=12',
    'headline-group=-1',
    'headline-group=01',
    'headline-group=1.5',
    'headline-group=7x',
    'headline-group=0x1',
    'headline-group=1e1',
    `headline-group=${'9'.repeat(5000)}`,
    'headline-group=__proto__',
    'my-headline-group=3',
    'headline-groups=3',
    'headline-group==3',
    'headline-group="3"',
    'HEADLINE-GROUP=3',
  ])('is null for %j', (cookies) => {
    expect(groupIn(cookies)).toBeNull();
  });

  it('is not read from a cookie whose name only ends with the right name', () => {
    expect(groupIn('my-headline-group=3; headline-group=4')).toBe(4);
    expect(groupIn(undefined)).toBeNull();
  });

  it('is set with SameSite and HttpOnly for two weeks, and deleted with Max-Age=0', () => {
    expect(groupCookie(7, true)).toBe('headline-group=7; Path=/; Max-Age=1209600; SameSite=Lax; HttpOnly; Secure');
    expect(groupCookie(null, false)).toBe('headline-group=; Path=/; Max-Age=0; SameSite=Lax; HttpOnly');
  });
});

describe('who may take part in headline tests', () => {
  it('only readers who consented to measurement, in the mode “consent”', () => {
    expect(mayTakePart('', false, 'consent')).toBe(false);
    expect(mayTakePart('privacy-choices=1', false, 'consent')).toBe(false);
    expect(mayTakePart('privacy-choices=1.advertising', false, 'consent')).toBe(false);
    expect(mayTakePart('privacy-choices=1.measurement', false, 'consent')).toBe(true);
    expect(mayTakePart('privacy-choices=1.measurement', true, 'consent')).toBe(true);
    expect(mayTakePart('privacy-choices=0.measurement', false, 'consent')).toBe(false);
  });

  it('all readers except those who refused measurement, in the mode “all”', () => {
    expect(mayTakePart('', false, 'all')).toBe(true);
    expect(mayTakePart('privacy-choices=1', false, 'all')).toBe(false);
    expect(mayTakePart('privacy-choices=1.measurement', false, 'all')).toBe(true);
  });
});

describe('the headline that a group sees', () => {
  const ids = Array.from({ length: 200 }, (_, at) => ((at + 1) * 0x9e3779b1).toString(16).padStart(16, '0').slice(-16));
  const all = Array.from({ length: groups }, (_, group) => group);

  it.each([2, 3, 4])('is one of %i, and each headline is seen by equally many groups', (headlines) => {
    for (const id of ids) {
      const seen = new Array<number>(headlines).fill(0);
      for (const group of all) {
        const headline = headlineFor(id, headlines, group);
        seen[headline] = (seen[headline] ?? 0) + 1;
      }
      expect(seen).toEqual(new Array(headlines).fill(groups / headlines));
    }
  });

  it('is the same in every process, and after more tests than are remembered', () => {
    const seen = (id: string) => all.map((group) => headlineFor(id, 4, group)).join('');
    expect(seen('00000000000000a1')).toBe('210230110323');
    // More tests than are remembered.
    for (let at = 0; at < 1500; at++) headlineFor(at.toString(16).padStart(16, '0'), 4, 0);
    expect(seen('00000000000000a1')).toBe('210230110323');
    expect(seen('9e3779b97f4a7c15')).toBe('210121002333');
  });

  it('is assigned differently in each test', () => {
    const orders = new Set(ids.map((id) => all.map((group) => headlineFor(id, 2, group)).join('')));
    expect(orders.size).toBeGreaterThan(100);
    // Each group sees each headline in about half of the tests.
    for (const group of all) {
      const second = ids.filter((id) => headlineFor(id, 2, group) === 1).length;
      expect(second).toBeGreaterThan(60);
      expect(second).toBeLessThan(140);
    }
  });
});
