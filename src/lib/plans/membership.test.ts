import { describe, expect, it, test } from 'vitest';
import type { Subscription } from '../billing/schema.ts';
import {
  boughtOf,
  cardWarning,
  mayUpgrade,
  membershipLabel,
  otherSubscriptionInWords,
  resumedInWords,
  subscriptionState,
} from './membership.ts';

const held = (product: string, print = false) => ({ product, print });

describe('an account (spec section 4)', () => {
  it.each([
    ['Free Account', []],
    ['Sun Reader', [held('sun-reader')]],
    ['Sun Member (Digital Only)', [held('sun-member')]],
    ['Sun Member', [held('sun-member', true)]],
    ['Sun Founder', [held('sun-founder')]],
    ['Sun Founder', [held('sun-reader'), held('sun-member'), held('sun-founder')]],
    ['Sun Member (Digital Only)', [held('sun-reader', true), held('sun-member')]],
    ['', [held('sun-king')]],
  ])('is labeled "%s"', (label, all) => expect(membershipLabel(all)).toBe(label));

  it('may upgrade unless it is a founder’s', () => {
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
const state = (part: Partial<Subscription> = {}, now = '2026-12-01', several = false) =>
  subscriptionState({ ...subscription, ...part }, String, several, Date.parse(now));

test('a running subscription shows its plan, its renewal date and its next invoice', () => {
  expect(state()).toEqual({
    kind: 'active',
    words: null,
    facts: [
      ['Plan', 'Sun Reader, Yearly'],
      ['Renewal date', '2027-01-20'],
      ['Next bill', '$120'],
    ],
  });
  expect(state({ price: 6000 }).facts[2]).toEqual(['Next bill', '$60 instead of $120']);
  const tax = { amount: 990, included: false };
  expect(state({ price: 12_990, tax }).facts[2]).toEqual(['Next bill', '$120.00 + $9.90 tax']);
  expect(state({ productId: 'mug', planName: 'Mug' }).facts[0]).toEqual(['Plan', 'Mug']);
});

test.each<[string, Partial<Subscription>, RegExp]>([
  ['ending', { cancelAtPeriodEnd: true, nextBillingDate: null }, /canceled\. You keep full access until 2027-01-20/],
  ['overdue', { status: 'past_due' }, /didn’t go through\. We’ll try your card again on 2027-01-20\./],
  ['overdue', { status: 'unpaid', nextBillingDate: null }, /didn’t go through\. You keep full access/],
  ['overdue', { status: 'past_due', byInvoice: true }, /^Your last invoice hasn’t been paid\. You keep full access/],
  ['ending', { cancelAtPeriodEnd: true, nextBillingDate: null, byInvoice: true }, /You won’t be billed again\.$/],
  [
    'active',
    { byInvoice: true, invoiceOpen: true },
    /^You have an unpaid invoice\. Pay it by its due date to keep your access\.$/,
  ],
  [
    'active',
    { byInvoice: true, invoiceOpen: true, paidUntil: '2026-01-20' },
    /^You have an unpaid invoice\. Pay it to get access\.$/,
  ],
  ['paused', { status: 'paused', nextBillingDate: null }, /is paused\. You keep/],
  [
    'paused',
    { paused: { resumesAt: '2027-03-01' }, nextBillingDate: null },
    /Billing is paused.*resumes on 2027-03-01\. You keep full access until 2027-01-20/,
  ],
  ['paused', { paused: { resumesAt: null }, nextBillingDate: null }, /you won’t be charged\. You keep/],
  ['ended', { status: 'canceled', nextBillingDate: null }, /subscription ended/],
  ['active', { status: 'trialing' }, /introductory period ends on 2027-01-20\. After that you pay \$120/],
  [
    'changing',
    { next: { planId: 'm', planName: 'Yearly with print', productId: 'sun-member', print: true } },
    /Your plan changes to Sun Member with the print edition, Yearly with print on 2027-01-20\./,
  ],
])('a subscription is described as %s: %o', (kind, part, words) => {
  expect(state(part)).toMatchObject({ kind, words: expect.stringMatching(words) });
});

test.each<Partial<Subscription>>([
  { status: 'past_due' },
  { status: 'unpaid', nextBillingDate: null },
  { cancelAtPeriodEnd: true, nextBillingDate: null },
  { paused: { resumesAt: null }, nextBillingDate: null },
])('a subscription whose paid time is over does not promise further access: %o', (part) => {
  const { words } = state(part, '2027-01-25');
  expect(words).toContain('Your access ended on 2027-01-20.');
  expect(words).not.toContain('You keep');
});

test('one that the publisher has ended early still gives access for what is paid', () => {
  const { words } = state({ status: 'canceled', nextBillingDate: null });
  expect(words).toBe('Your subscription ended. You keep full access until 2027-01-20.');
});

test.each<[Partial<Subscription>, string, string | null]>([
  [
    { status: 'past_due' },
    'Your last payment for Sun Reader, Yearly didn’t go through. We’ll try your card again on 2027-01-20. You keep what it includes until 2027-01-20.',
    'Your last payment for Sun Reader, Yearly didn’t go through. We’ll try your card again on 2027-01-20. It gave you access until 2027-01-20.',
  ],
  [
    { paused: { resumesAt: null }, nextBillingDate: null },
    'Billing for Sun Reader, Yearly is paused, and you won’t be charged for it. You keep what it includes until 2027-01-20.',
    null,
  ],
  [
    { cancelAtPeriodEnd: true, nextBillingDate: null },
    'Sun Reader, Yearly is canceled. You keep what it includes until 2027-01-20. You won’t be charged for it again.',
    null,
  ],
  [
    { next: { planId: 'm', planName: 'Monthly', productId: 'sun-reader', print: false } },
    'Sun Reader, Yearly changes to Sun Reader, Monthly on 2027-01-20.',
    null,
  ],
])('beside another subscription, the words are only about this one: %o', (part, before, after) => {
  expect(state(part, '2026-12-01', true).words).toBe(before);
  if (after !== null) expect(state(part, '2027-01-25', true).words).toBe(after);
});

test('one that continues is named beside another one', () => {
  expect(resumedInWords(subscription, false)).toBe('Done. Your subscription continues.');
  expect(resumedInWords(subscription, true)).toBe('Done. Sun Reader, Yearly continues.');
});

test('a card that expires before a bill is warned about, with the name of the first such bill beside another', () => {
  const monthly = { ...subscription, planName: 'Monthly', nextBillingDate: '2026-12-20' };
  const warned = (expMonth: number, charged: readonly Subscription[], several = charged.length > 1) =>
    cardWarning({ expMonth, expYear: 2026 }, charged, several, Date.parse('2026-12-01'))?.split('. ')[0] ?? null;
  expect(warned(12, [monthly])).toBeNull();
  expect(warned(12, [subscription])).toBe('This card expires before your next bill');
  expect(warned(12, [monthly, subscription])).toBe('This card expires before the next bill for Sun Reader, Yearly');
  const january = { ...monthly, nextBillingDate: '2027-01-05' };
  expect(warned(12, [subscription, january])).toBe('This card expires before the next bill for Sun Reader, Monthly');
  // The other one is charged to another card.
  expect(warned(12, [monthly], true)).toBeNull();
});

test('a card that has expired is announced as such, whether a bill is planned or not', () => {
  const card = { expMonth: 11, expYear: 2026 };
  const now = Date.parse('2026-12-01');
  for (const charged of [[subscription], [{ ...subscription, nextBillingDate: null }], []])
    expect(cardWarning(card, charged, false, now)).toBe('This card has expired. Please add a new one.');
  expect(cardWarning(card, [subscription], true, now)).toBe('This card has expired. Please add a new one.');
  expect(cardWarning(card, [{ ...subscription, nextBillingDate: null }], false, now - 1)).toBeNull();
});

const words = (part: Partial<Subscription>) =>
  boughtOf({ ...subscription, ...part }, (instant) => instant.slice(0, 10));

test('a new subscription is confirmed with its name and next bill', () => {
  expect(words({})).toEqual({ name: 'Sun Reader', next: 'Your next bill is $120 on 2027-01-20.', print: false });
  expect(words({ productId: 'sun-member', print: true, price: 28_050 })).toEqual({
    name: 'Sun Member with the print edition',
    next: 'Your next bill is $280.50 on 2027-01-20.',
    print: true,
  });
});

test('a product that is not a tier is called by the name of its plan', () => {
  expect(words({ productId: 'sun-king' })?.name).toBe('Yearly');
});

test('a subscription without a further bill is confirmed with its end date', () => {
  expect(words({ cancelAtPeriodEnd: true })?.next).toBe('It ends on 2027-01-20.');
  expect(words({ nextBillingDate: null })?.next).toBe('It ends on 2027-01-20.');
});

test('a second subscription is described with its end date or next bill', () => {
  const inWords = (part: Partial<Subscription>) =>
    otherSubscriptionInWords({ ...subscription, ...part }, (at) => at.slice(0, 10));
  expect(inWords({ cancelAtPeriodEnd: true })).toBe('You also have Sun Reader, Yearly. It ends on 2027-01-20.');
  expect(inWords({})).toBe('You also have Sun Reader, Yearly. Its next bill is $120 on 2027-01-20.');
  const paused = { nextBillingDate: null, paused: { resumesAt: null } };
  expect(inWords(paused)).toBe('You also have Sun Reader, Yearly. Billing for it is paused.');
  for (const status of ['past_due', 'unpaid'] as const)
    expect(inWords({ status })).toBe('You also have Sun Reader, Yearly. Your last payment for it didn’t go through.');
});

test('a subscription that is not running gets no confirmation', () => {
  expect(boughtOf(null, String)).toBeNull();
  for (const status of ['canceled', 'incomplete', 'unpaid'] as const) expect(words({ status })).toBeNull();
});
