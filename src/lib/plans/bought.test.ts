import { expect, test } from 'vitest';
import type { Subscription } from '../billing/wire.ts';
import { boughtOf } from './bought.ts';

const subscription: Subscription = {
  id: 'sub_1',
  currency: 'usd',
  preDiscountPrice: 12_000,
  nextBillingDate: '2027-01-20T12:00:00Z',
  price: 12_000,
  productId: 'sun-reader',
  planId: 'reader-yearly',
  planName: 'Yearly',
  interval: 'year',
  print: false,
  status: 'active',
  cancelAtPeriodEnd: false,
  paidUntil: '2027-01-20T12:00:00Z',
};
const words = (part: Partial<Subscription>) =>
  boughtOf({ ...subscription, ...part }, (instant) => instant.slice(0, 10));

test('what was bought, and the next bill', () => {
  expect(words({})).toEqual({ name: 'Sun Reader', next: 'The next bill is $120 on 2027-01-20.', print: false });
  expect(words({ productId: 'sun-member', print: true, price: 28_050 })).toEqual({
    name: 'Sun Member with the print edition',
    next: 'The next bill is $280.50 on 2027-01-20.',
    print: true,
  });
});

test('a product that is no tier goes by the name of its plan', () => {
  expect(words({ productId: 'sun-king' })?.name).toBe('Yearly');
});

test('the end, where nothing is billed any more', () => {
  expect(words({ cancelAtPeriodEnd: true })?.next).toBe('It ends on 2027-01-20.');
  expect(words({ nextBillingDate: null })?.next).toBe('It ends on 2027-01-20.');
});

test('nothing, where nothing runs', () => {
  expect(boughtOf(null, String)).toBeNull();
  for (const status of ['canceled', 'incomplete', 'unpaid'] as const) expect(words({ status })).toBeNull();
});
