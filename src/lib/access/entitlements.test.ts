import { describe, expect, test } from 'vitest';
import { accessDetails, type View } from './answers.ts';
import {
  anonymous,
  type Entitlements,
  entitlementsOf,
  grantOf,
  registeredGrant,
  runningProducts,
} from './entitlements.ts';

const now = Date.UTC(2026, 10, 21);
const hour = 3_600_000;
const paid = (product: string, until: number) => ({ product, until, trialing: false });

describe('grantOf', () => {
  test.each([
    ['gives the registered level without a product', [], registeredGrant],
    [
      'gives a reader subscriber access until the paid time ends',
      [paid('sun-reader', now + 1)],
      { level: 'subscriber', until: now + 1, visitor: 'reader' },
    ],
    ['gives the registered level at the moment the paid time ends', [paid('sun-reader', now)], registeredGrant],
    ['gives the registered level for a product that is not a tier', [paid('sun-shop', now + hour)], registeredGrant],
    [
      'combines the higher tier of two products with the later end',
      [paid('sun-reader', now + 2 * hour), paid('sun-member', now + hour)],
      { level: 'subscriber', until: now + 2 * hour, visitor: 'member' },
    ],
    [
      'makes a reader with member and founder a founder',
      [paid('sun-member', now + hour), paid('sun-founder', now + hour)],
      { level: 'subscriber', until: now + hour, visitor: 'founder' },
    ],
  ])('%s', (_name, given, expected) => expect(grantOf(given, now)).toEqual(expected));

  test('a timed trial gives subscriber access, but the visitor stays registered', () => {
    expect(grantOf([], now, now + hour)).toEqual({ level: 'subscriber', until: now + hour, visitor: 'registered' });
    expect(grantOf([], now, now)).toEqual(registeredGrant);
  });
  test('access lasts until both the subscription and the trial have ended', () => {
    expect(grantOf([paid('sun-reader', now + 2)], now, now + 1).until).toBe(now + 2);
    expect(grantOf([paid('sun-reader', now + 1)], now, now + 2)).toMatchObject({ until: now + 2, visitor: 'reader' });
  });
});

test('runningProducts lists each product once, the highest first', () => {
  const given = [paid('sun-reader', now + 1), paid('sun-founder', now + 1), paid('sun-reader', now + 2)];
  expect(runningProducts(given, now)).toEqual(['founder', 'reader']);
});

describe('entitlementsOf', () => {
  const day = 24 * hour;
  const terms = { trialHours: 0, promotionDays: 60 };
  const trial = (product: string, until: number) => ({ product, until, trialing: true });

  test.each([
    ['one in its introductory period', [trial('sun-reader', now + day)], now + day],
    [
      'several in their introductory periods, of which the last end counts',
      [trial('sun-reader', now + 2), trial('sun-member', now + day)],
      now + day,
    ],
    ['none', [], null],
    ['one that is paid in full', [paid('sun-reader', now + day)], null],
    [
      'one in its introductory period and one paid in full',
      [trial('sun-reader', now + day), paid('sun-member', now + 1)],
      null,
    ],
    [
      'one in its introductory period and one that was paid in full and has ended',
      [trial('sun-reader', now + day), paid('sun-member', now)],
      now + day,
    ],
    [
      'one in its introductory period and one that is not a tier',
      [trial('sun-reader', now + day), paid('sun-shop', now + day)],
      now + day,
    ],
    ['one whose introductory period has ended', [trial('sun-reader', now)], null],
  ])('returns the promotion for products: %s', (_name, given, endsAt) => {
    const promotion = endsAt === null ? null : { startedAt: endsAt - 60 * day, endsAt };
    expect(entitlementsOf(given, null, terms, now).promotion).toEqual(promotion);
  });

  test('the promotion has no start when the catalog does not say how long it lasts', () => {
    const { promotion } = entitlementsOf(
      [trial('sun-reader', now + day)],
      null,
      { ...terms, promotionDays: null },
      now,
    );
    expect(promotion).toEqual({ startedAt: null, endsAt: now + day });
  });
});

describe('the details of a decision', () => {
  const view = (entitlements: Entitlements, more: Partial<View> = {}): View => ({
    entitlements,
    path: '/article/a',
    subject: 'default',
    gift: false,
    meter: { state: 'left', total: 3, remaining: 2, counted: false },
    gifts: null,
    now,
    ...more,
  });
  const of = (...products: readonly string[]) =>
    entitlementsOf(
      products.map((product) => paid(product, now + hour)),
      null,
      { trialHours: 0, promotionDays: null },
      now,
    );

  test('say that the highest of several products opened the article', () => {
    expect(accessDetails(view(of('sun-reader', 'sun-founder'))).entitlements).toMatchObject({
      'sun-founder': { usedInDecision: true },
      'sun-reader': { usedInDecision: false },
      registered: { usedInDecision: false },
    });
  });

  test('say that no product opened a free article', () => {
    const { entitlements } = accessDetails(view(of('sun-reader'), { subject: 'free' }));
    expect(entitlements).toMatchObject({ 'sun-reader': { usedInDecision: false } });
  });

  test('say that an account opened an article for registered readers without using the meter', () => {
    const { entitlements, meters } = accessDetails(view(of(), { subject: 'registered' }));
    expect(entitlements).toMatchObject({ registered: { usedInDecision: true } });
    expect(meters).toMatchObject({ articles: { usedInDecision: false } });
  });

  test('say that a metered article used the meter, unless a gift opened it', () => {
    const used = (gift: boolean) => accessDetails(view(of(), { gift })).meters;
    expect(used(false)).toMatchObject({ articles: { usedInDecision: true } });
    expect(used(true)).toMatchObject({ articles: { usedInDecision: false } });
  });

  test('list no entitlement for a reader without an account, and no decision for a page that is not an article', () => {
    const { entitlements, accessDecisions } = accessDetails(view(anonymous, { subject: 'none' }));
    expect([entitlements, accessDecisions]).toEqual([{}, {}]);
  });
});
