// @vitest-environment jsdom
import { afterEach, describe, expect, it, vi } from 'vitest';
import { grantedByTcf, listenToPlatform } from './platform.ts';

const numbered = (...numbers: readonly number[]) => Object.fromEntries(numbers.map((number) => [number, true]));
const data = (consents: readonly number[], interests: readonly number[] = [], vendors: readonly number[] = [755]) => ({
  gdprApplies: true,
  eventStatus: 'useractioncomplete' as const,
  purpose: { consents: numbered(...consents), legitimateInterests: numbered(...interests) },
  vendor: { consents: numbered(...vendors) },
});
afterEach(() => {
  delete window.__tcfapi;
});

describe('an answer of a consent platform', () => {
  it.each([
    ['everything', data([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), ['measurement', 'marketing', 'advertising']],
    ['nothing', data([]), []],
    ['nothing without consent to storage', data([2, 3, 4, 5, 6, 7, 8]), []],
    ['measurement alone', data([1, 8]), ['measurement']],
    ['no marketing with half of its consents', data([1, 5]), []],
    ['advertising with legitimate interests', data([1, 3, 4], [2, 7]), ['advertising']],
    ['no advertising without its measurement', data([1, 3, 4], [2]), []],
    ['no advertising on legitimate interests alone', data([1], [2, 3, 4, 7]), []],
    ['no advertising without consent for Google', data([1, 2, 3, 4, 7], [], [1]), []],
    [
      'no advertising when Google was not disclosed',
      {
        ...data([1, 3, 4], [2, 7]),
        vendor: { consents: numbered(755), disclosedVendors: numbered(1) },
      },
      [],
    ],
    [
      'advertising when Google was disclosed',
      {
        ...data([1, 3, 4], [2, 7]),
        vendor: { consents: numbered(755), disclosedVendors: numbered(1, 755) },
      },
      ['advertising'],
    ],
    ['nothing without data', {}, []],
  ])('allows the right purposes: %s', (_, given, expected) => {
    expect(grantedByTcf(given)).toEqual(expected);
  });
});

describe('a consent platform', () => {
  function arrive() {
    let answer: (data: object, success: boolean) => void = () => {};
    window.__tcfapi = (command, version, callback) => {
      expect([command, version]).toEqual(['addEventListener', 2]);
      answer = callback as typeof answer;
    };
    const listener = { outside: vi.fn(), answered: vi.fn() };
    listenToPlatform(listener);
    return { answer: (given: object, success = true) => answer(given, success), listener };
  }

  it('passes on its answer once it has one, and not while it asks', () => {
    const { answer, listener } = arrive();
    answer({ ...data([1, 8]), eventStatus: 'cmpuishown' });
    answer({}, false);
    expect(listener.answered).not.toHaveBeenCalled();
    answer({ ...data([1, 8]), eventStatus: 'tcloaded' });
    answer(data([]));
    expect(listener.answered.mock.calls).toEqual([
      [['measurement'], false],
      [[], true],
    ]);
    expect(listener.outside).not.toHaveBeenCalled();
  });

  it('reports its first answer on a page as a choice made earlier', () => {
    const { answer, listener } = arrive();
    answer(data([1, 8]));
    expect(listener.answered.mock.calls).toEqual([[['measurement'], false]]);
  });

  it('leaves the question to the site when the framework does not apply', () => {
    const { answer, listener } = arrive();
    answer({ gdprApplies: false, eventStatus: 'tcloaded' });
    expect([listener.outside.mock.calls.length, listener.answered.mock.calls.length]).toEqual([1, 0]);
  });

  it('may be missing without an error', () => {
    expect(() => listenToPlatform({ outside: vi.fn(), answered: vi.fn() })).not.toThrow();
  });
});
