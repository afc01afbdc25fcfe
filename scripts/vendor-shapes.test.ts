/** The shapes that stand-ins hold pages to are those of the installed declarations, and differences are reported. */
import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { documentedShapes } from '../sandbox/third-party/documented-shapes.ts';
import { shapesFile, vendorShapes } from './vendor-shapes.ts';

const shapes = JSON.parse(readFileSync(shapesFile, 'utf8')) as ReturnType<typeof vendorShapes>;

it('the stored vendor shapes match the installed packages (run "node scripts/vendor-shapes.ts" after an update)', () => {
  expect(vendorShapes()).toEqual(shapes);
});

describe('the check of calls to a vendor’s script', () => {
  interface Checker {
    check(type: string, value: unknown): void;
    wrap(name: string, implementation: object): Record<string, (...given: unknown[]) => unknown>;
  }
  const file = new URL('../sandbox/third-party/scripts/checker.js', import.meta.url);
  function checkerFor(vendor: object): { checker: Checker; faults: unknown[] } {
    const faults: unknown[] = [];
    const make = runInNewContext(`${readFileSync(file, 'utf8')}; makeChecker`) as (...given: unknown[]) => Checker;
    return { checker: make(vendor, (_what: string, message: unknown) => faults.push(message)), faults };
  }
  const slot = { setConfig() {}, defineSizeMapping() {} };
  const tag = { setConfig() {}, display() {}, defineSlot() {}, enableServices() {} };
  const made: Readonly<Record<string, (checker: Checker) => unknown>> = {
    'googletag has no setconfig': (checker) => checker.wrap('googletag', tag).setconfig?.({}),
    'googletag.setConfig(0) has no lazyload': (checker) => checker.wrap('googletag', tag).setConfig?.({ lazyload: {} }),
    'googletag.setConfig(0).lazyLoad has no fetchMargin': (checker) =>
      checker.wrap('googletag', tag).setConfig?.({ lazyLoad: { fetchMargin: 1 } }),
    'googletag.setConfig(0).lazyLoad.mobileScaling is "2", which is not an allowed value': (checker) =>
      checker.wrap('googletag', tag).setConfig?.({ lazyLoad: { mobileScaling: '2' } }),
    'googletag.defineSlot takes 2 to 3 arguments, but got 1': (checker) =>
      checker.wrap('googletag', tag).defineSlot?.('/1/a'),
    'googletag.defineSlot(0) is 1, not a string': (checker) =>
      checker.wrap('googletag', tag).defineSlot?.(1, [300, 250]),
    'googletag has no refresh': (checker) => checker.wrap('googletag', tag).refresh?.(),
    'Slot.setConfig(0).safeFrame has no force': (checker) =>
      checker.wrap('Slot', slot).setConfig?.({ safeFrame: { force: 1 } }),
  };
  it.each(Object.entries(made))('reports that %s', (message, call) => {
    const { checker, faults } = checkerFor(shapes.gpt ?? {});
    expect(() => call(checker)).toThrow();
    expect(faults).toEqual([message]);
  });

  it.each([
    [
      'OneSignal.init() without an app ID',
      'onesignal',
      'OneSignal',
      { init() {} },
      (sdk: Record<string, (...given: unknown[]) => unknown>) => sdk.init?.({}),
      /appId is missing/,
    ],
    [
      'OneSignal.init() with an unknown option',
      'onesignal',
      'OneSignal',
      { init() {} },
      (sdk: Record<string, (...given: unknown[]) => unknown>) => sdk.init?.({ appId: 'a', serviceWorkerpath: 'b' }),
      /has no serviceWorkerpath/,
    ],
    [
      'OneSignal.User.addTags() with a tag that isn’t a string',
      'onesignal',
      'User',
      { addTags() {} },
      (user: Record<string, (...given: unknown[]) => unknown>) => user.addTags?.({ paying: true }),
      /paying is true, not a string/,
    ],
  ] as const)('refuses %s', (_, vendor, name, implementation, call, message) => {
    const { checker, faults } = checkerFor(shapes[vendor] ?? {});
    expect(() => call(checker.wrap(name, implementation))).toThrow(message);
    expect(faults).toHaveLength(1);
  });

  it.each([
    ['a missing Marfeel configuration', 'marfeel', 'Config', undefined, /not an object/],
    ['a Marfeel configuration without an account ID', 'marfeel', 'Config', {}, /accountId is missing/],
    ['a Marfeel account ID that is a string', 'marfeel', 'Config', { accountId: '12' }, /not a number/],
    [
      'an unknown GrowSurf setting',
      'growsurf',
      'Settings',
      { campaignId: 'a', version: '2', email: 'ann@example.com' },
      /has no email/,
    ],
    ['Churnkey options without the hash', 'churnkey', 'Options', { customerId: 'cus_1' }, /authHash is missing/],
  ] as const)('refuses %s', (_, vendor, type, value, message) => {
    const { checker } = checkerFor(documentedShapes[vendor]);
    expect(() => checker.check(type, value)).toThrow(message);
  });

  it('accepts calls that the declarations allow', () => {
    const { checker, faults } = checkerFor(shapes.gpt ?? {});
    const googletag = checker.wrap('googletag', tag);
    googletag.setConfig?.({ lazyLoad: { fetchMarginPercent: 200 }, targeting: { section: 'a' } });
    googletag.defineSlot?.('/1/a', [[300, 250]], 'ad-1');
    googletag.enableServices?.();
    const gtm = checkerFor(shapes.gtm ?? {});
    gtm.checker.check('ConsentParams', { ad_storage: 'denied' });
    expect([faults, gtm.faults]).toEqual([[], []]);
  });
});
