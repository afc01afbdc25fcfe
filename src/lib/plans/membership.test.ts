import { describe, expect, it, test } from 'vitest';
import type { Subscription } from '../billing/wire.ts';
import { mayUpgrade, membershipLabel, standingOf } from './membership.ts';

const held = (product: string, print = false) => ({ product, print });

describe('the label of an account (spec section 4)', () => {
  it.each([
    ['Free Account', []],
    ['Sun Reader', [held('sun-reader')]],
    ['Sun Member (Digital Only)', [held('sun-member')]],
    ['Sun Member', [held('sun-member', true)]],
    ['Sun Founder', [held('sun-founder')]],
    ['Sun Founder', [held('sun-reader'), held('sun-member'), held('sun-founder')]],
    ['Sun Member (Digital Only)', [held('sun-reader', true), held('sun-member')]],
    ['', [held('sun-king')]],
  ])('is "%s"', (label, all) => expect(membershipLabel(all)).toBe(label));

  it('offers more to everybody but founders', () => {
    expect([[], [held('sun-member')], [held('sun-founder')]].map(mayUpgrade)).toEqual([true, true, false]);
  });
});

const subscription: Subscription = {
  id: 'sub_1',
  currency: 'usd',
  preDiscountPrice: 12_000,
  price: 12_000,
  productId: 'sun-reader',
  planId: 'reader-yearly',
  planName: 'Yearly',
  interval: 'year',
  print: false,
  status: 'active',
  nextBillingDate: '2027-01-20',
  paidUntil: '2027-01-20',
  cancelAtPeriodEnd: false,
};
const standing = (part: Partial<Subscription> = {}) => standingOf({ ...subscription, ...part }, String);

test('what runs says its plan, its renewal date and its next bill', () => {
  expect(standing()).toEqual({
    kind: 'runs',
    words: null,
    facts: [
      ['Plan', 'Sun Reader, Yearly'],
      ['Renewal date', '2027-01-20'],
      ['Next bill', '$120'],
    ],
  });
  expect(standing({ price: 6000 }).facts[2]).toEqual(['Next bill', '$60 instead of $120']);
  const tax = { amount: 990, included: false };
  expect(standing({ price: 12_990, tax }).facts[2]).toEqual(['Next bill', '$120.00 + $9.90 tax']);
  expect(standing({ productId: 'mug', planName: 'Mug' }).facts[0]).toEqual(['Plan', 'Mug']);
});

test.each<[string, Partial<Subscription>, RegExp]>([
  [
    'ending',
    { cancelAtPeriodEnd: true, nextBillingDate: null },
    /cancelled\. Everything stays open to you until 2027-01-20/,
  ],
  ['unpaid', { status: 'past_due' }, /did not go through\. We try your card again on 2027-01-20\./],
  ['unpaid', { status: 'unpaid', nextBillingDate: null }, /did not go through\. The paper stays open/],
  ['paused', { status: 'paused', nextBillingDate: null }, /rests/],
  [
    'paused',
    { paused: { resumesAt: '2027-03-01' }, nextBillingDate: null },
    /Billing is paused.*resumes on 2027-03-01\. Everything stays open to you until 2027-01-20/,
  ],
  ['paused', { paused: { resumesAt: null }, nextBillingDate: null }, /nothing is charged\. Everything/],
  ['over', { status: 'canceled', nextBillingDate: null }, /has ended/],
  ['runs', { status: 'trialing' }, /first days end on 2027-01-20; then it goes on for \$120/],
  [
    'changes',
    { next: { planId: 'm', planName: 'Yearly with print', productId: 'sun-member', print: true } },
    /From 2027-01-20 on it is Sun Member with the print edition, Yearly with print\./,
  ],
])('%s: %o', (kind, part, words) => {
  expect(standing(part)).toMatchObject({ kind, words: expect.stringMatching(words) });
});
