import { expect, it } from 'vitest';
import { userHash, zephrSubscription } from './routes.server.ts';
import type { Subscription } from './schema.ts';

it('a customer id is signed with hex HMAC-SHA256', () => {
  expect(userHash('key', 'cus_1')).toMatch(/^[0-9a-f]{64}$/);
  expect(userHash('key', 'cus_1')).not.toBe(userHash('key', 'cus_2'));
  expect(userHash('key', 'The quick brown fox jumps over the lazy dog')).toBe(
    'f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8',
  );
});

const quarterly: Subscription = {
  id: 'sub_1',
  currency: 'usd',
  preDiscountPrice: 3300,
  price: 3000,
  productId: 'sun-reader',
  planId: 'reader-quarterly',
  planName: 'Quarterly',
  interval: 'month',
  intervalCount: 3,
  print: false,
  status: 'active',
  nextBillingDate: '2027-02-20T12:00:00.000Z',
  paidUntil: '2027-02-20T12:00:00.000Z',
  cancelAtPeriodEnd: false,
};

it('a subscription is described in Zephr’s format', () => {
  expect(zephrSubscription(quarterly)).toEqual({
    externalId: 'sub_1',
    managedBy: 'STRIPE',
    billingFrequency: 3,
    billingFrequencyUnit: 'MONTH',
    blaizeProduct: { id: 'sun-reader', label: 'Quarterly', description: '', tenantId: '', subTenantId: '' },
    currencyCode: 'USD',
    discountsApplied: true,
    ended: false,
    ends: null,
    multiphasePlan: false,
    nextBillingTime: '2027-02-20T12:00:00.000Z',
    paidThroughDate: '2027-02-20T12:00:00.000Z',
    planId: 'reader-quarterly',
    planName: 'Quarterly',
    preDiscountPrice: 3300,
    state: 'ACTIVE',
    taxRates: [],
    transactionRecords: [],
  });
});

it.each<[string, Partial<Subscription>, object]>([
  ['billed weekly', { interval: 'week', intervalCount: 1 }, { billingFrequency: 1, billingFrequencyUnit: 'WEEK' }],
  ['at its full price', { price: 3300 }, { discountsApplied: false }],
  [
    'that is canceled',
    { cancelAtPeriodEnd: true, nextBillingDate: null },
    { ended: false, ends: quarterly.paidUntil, nextBillingTime: null },
  ],
  ['that has ended', { status: 'canceled' }, { ended: true, ends: quarterly.paidUntil, state: 'CANCELED' }],
])('a subscription %s is described in Zephr’s format', (_, change, described) => {
  expect(zephrSubscription({ ...quarterly, ...change })).toMatchObject(described);
});

it('a subscription without an interval count has billing frequency 1', () => {
  const { intervalCount: _, ...yearly } = { ...quarterly, interval: 'year' as const };
  expect(zephrSubscription(yearly)).toMatchObject({ billingFrequency: 1, billingFrequencyUnit: 'YEAR' });
});
