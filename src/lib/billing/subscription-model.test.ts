import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import {
  entitlementOf,
  type InvoiceState,
  isInGoodStanding,
  isLive,
  isOver,
  isOverdue,
  isSettled,
  isUnpaid,
  type KnownPrice,
  mainSubscription,
  mayRenew,
  type PaidTime,
  renewsAt,
  type StripeState,
  subscriptionOf,
  switchKind,
} from './subscription-model.ts';

const day = 24 * 60 * 60 * 1000;
/** Day 0 is the start; times in the tables are days. */
const zero = Date.UTC(2026, 10, 20, 12);
const at = (days: number): number => zero + days * day;

const reader: KnownPrice = {
  id: 'price_1',
  plan: 'reader-monthly',
  name: 'Monthly',
  product: 'sun-reader',
  print: false,
  amount: 1200,
  currency: 'usd',
  interval: 'month',
  count: 1,
};
const plan = (change: Partial<KnownPrice>): KnownPrice => ({ ...reader, ...change });
const paidFor = (days: number, change: Partial<PaidTime> = {}): PaidTime => ({
  plan: 'reader-monthly',
  product: 'sun-reader',
  print: false,
  until: at(days),
  free: false,
  ...change,
});
const state = (change: Partial<StripeState> = {}): StripeState => ({
  id: 'sub_1',
  customer: 'cus_1',
  status: 'active',
  created: zero,
  item: 'si_1',
  price: reader,
  next: null,
  nextAmount: 1200,
  paid: [paidFor(30)],
  periodStart: zero,
  periodEnd: at(30),
  trialEnd: null,
  cancelAtPeriodEnd: false,
  cancelAt: null,
  endedAt: null,
  schedule: null,
  pendingSetup: null,
  invoices: [],
  purchase: null,
  promotion: null,
  ...change,
});

describe('the access from a subscription', () => {
  const ended = { status: 'canceled', endedAt: at(30) } as const;
  const pause = { behavior: 'void', resumesAt: null } as const;
  const free = paidFor(30, { free: true });
  const trial = { status: 'trialing', trialEnd: at(60) } as const;
  const renewal: InvoiceState = {
    id: 'in_2',
    status: 'paid',
    reason: 'subscription_cycle',
    due: 1200,
    paid: 1200,
    currency: 'usd',
    refunded: false,
    created: at(30),
    paidAt: at(30),
    attempted: true,
    nextAttempt: null,
  };
  const given = { periodStart: at(30), invoices: [{ ...renewal, status: 'void' as const, paid: 0, held: true }] };
  /** The known state, the day of the question, and the day until which access is open (`null`: it isn't). */
  const table: readonly (readonly [string, Partial<StripeState>, number, number | null])[] = [
    ['within the paid period', {}, 10, 30],
    ['in the last moment of the paid period', {}, 30 - 1e-6, 30],
    ['after the paid period, while the renewal is due', {}, 30, 33],
    ['after the grace period, when no renewal came', {}, 33, null],
    ['the first invoice is unpaid', { status: 'incomplete', paid: [] }, 0, null],
    ['the first invoice is unpaid, although another one is paid', { status: 'incomplete' }, 0, null],
    ['the first invoice has expired', { status: 'incomplete_expired', paid: [] }, 0, null],
    ['active, but nothing is paid', { paid: [] }, 0, null],
    ['active with nothing due, while the card setup is pending', { pendingSetup: 'seti_1', paid: [free] }, 10, null],
    [
      'trialing with nothing due, while the card setup is pending',
      { ...trial, pendingSetup: 'seti_1', paid: [free] },
      10,
      null,
    ],
    ['nothing was due, and no card is saved', { card: false, paid: [free] }, 10, null],
    ['nothing was due, and a card is saved', { card: true, paid: [free] }, 10, 30],
    ['after a free period, while the card setup is pending', { pendingSetup: 'seti_1', paid: [free] }, 31, null],
    ['paid, while the setup of another card is pending', { pendingSetup: 'seti_1' }, 10, 30],
    ['in a trial whose fee is paid', { status: 'trialing', trialEnd: at(60), paid: [paidFor(60)] }, 10, 60],
    ['in a trial whose fee is unpaid', { status: 'trialing', trialEnd: at(60), paid: [] }, 10, null],
    ['after a trial, while the next invoice is due', { trialEnd: at(60), paid: [paidFor(60)] }, 61, 63],
    ['a failed renewal, within the grace period', { status: 'past_due' }, 32, 33],
    ['a failed renewal, after the grace period', { status: 'past_due' }, 33, null],
    ['a failed renewal, within the period that an earlier invoice paid for', { status: 'past_due' }, 29, 30],
    ['all payment attempts failed, after the paid period', { status: 'unpaid' }, 31, null],
    ['all payment attempts failed, within the paid period', { status: 'unpaid' }, 29, 30],
    ['paused, within the paid period', { status: 'paused' }, 29, 30],
    ['paused, after the paid period', { status: 'paused' }, 31, null],
    ['collection paused, in an unpaid period', { pause, periodEnd: at(60) }, 40, 60],
    [
      'collection paused, while an earlier invoice is retried',
      { status: 'past_due', pause, periodEnd: at(60) },
      40,
      60,
    ],
    ['collection paused, within the paid period', { pause }, 29, 30],
    ['after a pause, in a period whose invoice is not collected', { ...given, periodEnd: at(60) }, 40, 60],
    ['after a pause, while the next invoice is due', { ...given, periodStart: at(60), periodEnd: at(90) }, 61, null],
    ['collection paused, but nothing was ever paid', { pause, paid: [], periodEnd: at(60) }, 10, null],
    ['collection paused, then canceled at once', { ...ended, pause, periodEnd: at(60) }, 40, null],
    ['canceled at the period’s end, before it', { cancelAtPeriodEnd: true }, 29, 30],
    ['canceled at the period’s end, after it: no grace', { cancelAtPeriodEnd: true }, 30, null],
    ['canceled on a set date, after it', { cancelAt: at(30) }, 30, null],
    ['set to end in a later period, while the renewal is due: grace', { cancelAt: at(75) }, 30, 33],
    ['canceled at the period’s end, with a failed renewal', { status: 'past_due', cancelAtPeriodEnd: true }, 31, null],
    ['ended with its period', ended, 30, null],
    ['ended at once, within the paid period', { ...ended, endedAt: at(5) }, 10, 30],
    [
      'ended at once, within a free period',
      { ...ended, endedAt: at(5), paid: [paidFor(30, { free: true })] },
      10,
      null,
    ],
    ['free and running', { paid: [paidFor(30, { free: true })] }, 10, 30],
    ['free, canceled at the period’s end', { paid: [paidFor(30, { free: true })], cancelAtPeriodEnd: true }, 10, 30],
    ['refunded: no paid period is left', { paid: [] }, 10, null],
    ['refunded and canceled', { ...ended, endedAt: at(5), paid: [] }, 10, null],
    ['the renewal is refunded: no grace', { periodEnd: at(60), invoices: [{ ...renewal, refunded: true }] }, 31, null],
    [
      'a renewal created before the paid period’s end is refunded: grace',
      { periodEnd: at(60), invoices: [{ ...renewal, refunded: true, created: at(29) }] },
      31,
      33,
    ],
    [
      'an invoice other than a renewal is refunded: grace',
      { periodEnd: at(60), invoices: [{ ...renewal, refunded: true, reason: 'subscription_update' }] },
      31,
      33,
    ],
    [
      'the renewal is unpaid: grace',
      { periodEnd: at(60), invoices: [{ ...renewal, status: 'open', paid: 0 }] },
      31,
      33,
    ],
    [
      'the newest invoice is refunded, and the previous one still counts',
      { paid: [paidFor(30)], periodEnd: at(60) },
      20,
      30,
    ],
    ['several paid invoices, after the first one’s period', { paid: [paidFor(60), paidFor(30)] }, 40, 60],
    ['several paid invoices for the same time', { paid: [paidFor(30), paidFor(60)] }, 10, 60],
    ['several paid invoices for the same time, the longest first', { paid: [paidFor(60), paidFor(30)] }, 10, 60],
  ];
  test.each(table)('lasts until the right day: %s', (_, change, asked, until) => {
    const open = entitlementOf(state(change), at(asked), 3);
    expect(open === null ? null : (open.until - zero) / day).toBe(until);
  });

  it('is the higher paid tier, and the lower one after that ends', () => {
    const member = paidFor(30, { product: 'sun-member', plan: 'member-monthly' });
    const both = state({ paid: [paidFor(365), member] });
    expect(entitlementOf(both, at(10), 3)).toMatchObject({ product: 'sun-member', until: at(30) });
    expect(entitlementOf(both, at(31), 3)).toMatchObject({ product: 'sun-reader', until: at(365) });
    const print = paidFor(20, { product: 'sun-member', print: true });
    expect(entitlementOf(state({ paid: [member, print] }), at(10), 3)).toMatchObject({ print: true });
  });

  it('is for what was paid, not for the plan that was chosen since', () => {
    const upgraded = state({ price: plan({ product: 'sun-member' }) });
    expect(entitlementOf(upgraded, at(10), 3)).toMatchObject({ product: 'sun-reader' });
  });

  it('is marked as trialing until the trial ends', () => {
    const penny = state({ status: 'trialing', trialEnd: at(60), paid: [paidFor(60)] });
    expect(entitlementOf(penny, at(59), 3)?.trialing).toBe(true);
    expect(entitlementOf(penny, at(61), 3)?.trialing).toBe(false);
  });

  it('lasts through a pause, or only through paid time if the publication says so', () => {
    const paused = state({ pause, periodEnd: at(60) });
    expect(entitlementOf(paused, at(40), 3, 'period')?.until).toBe(at(60));
    expect(entitlementOf(paused, at(32), 3, 'paid')?.until).toBe(at(33));
    expect(entitlementOf(paused, at(40), 3, 'paid')).toBeNull();
  });

  it('in an uncollected period is for that period’s plan, not for the earlier one', () => {
    const member = paidFor(30, { product: 'sun-member', plan: 'member-monthly' });
    // The planned switch to the smaller plan took place in the pause.
    const smaller = state({ pause, paid: [member], periodStart: at(30), periodEnd: at(60) });
    expect(entitlementOf(smaller, at(40), 3, 'period')).toMatchObject({ product: 'sun-reader', until: at(60) });
  });

  it('includes the publication’s days of grace', () => {
    expect(entitlementOf(state({ status: 'past_due' }), at(30), 0)).toBeNull();
    expect(entitlementOf(state({ status: 'past_due' }), at(36), 7)?.until).toBe(at(37));
  });
});

describe('a subscription as shown to its reader', () => {
  const shown = (change: Partial<StripeState>, asked = 10) => subscriptionOf(state(change), at(asked), 3);
  const iso = (days: number): string => new Date(at(days)).toISOString();

  it('has a next billing date unless it is canceled or unpaid', () => {
    expect(shown({})).toMatchObject({
      nextBillingDate: iso(30),
      price: 1200,
      preDiscountPrice: 1200,
      paidUntil: iso(30),
    });
    expect(shown({ nextAmount: 960 })).toMatchObject({ price: 960, preDiscountPrice: 1200 });
    for (const change of [{ cancelAtPeriodEnd: true }, { status: 'canceled' }, { status: 'unpaid' }] as const) {
      expect(shown(change).nextBillingDate).toBeNull();
    }
  });

  it('gives the number of intervals in a billing period only if there is more than one', () => {
    expect(shown({})).not.toHaveProperty('intervalCount');
    expect(shown({ price: plan({ count: 3 }) })).toMatchObject({ interval: 'month', intervalCount: 3 });
  });

  it('has no billing date during a pause, but the date when it resumes', () => {
    const paused = { pause: { behavior: 'keep_as_draft', resumesAt: at(90) }, periodEnd: at(60) } as const;
    expect(shown(paused, 40)).toMatchObject({
      status: 'active',
      nextBillingDate: null,
      paidUntil: iso(60),
      paused: { resumesAt: iso(90) },
    });
    expect(renewsAt(state(paused))).toBeNull();
    expect(shown({})).not.toHaveProperty('paused');
  });

  it('gives the next attempt for a failed invoice as its billing date', () => {
    const invoice: InvoiceState = {
      id: 'in_1',
      status: 'open' as const,
      reason: 'subscription_cycle',
      due: 1200,
      paid: 0,
      currency: 'usd',
      refunded: false,
      created: at(30),
      paidAt: null,
      attempted: true,
      nextAttempt: at(33),
    };
    expect(shown({ status: 'past_due', invoices: [invoice], periodEnd: at(60) }, 31)).toMatchObject({
      status: 'past_due',
      nextBillingDate: iso(33),
      paidUntil: iso(33),
    });
  });

  it('has the current plan with the price of the planned one', () => {
    expect(shown({ next: plan({ plan: 'x', amount: 900 }), nextAmount: 900 })).toMatchObject({
      planId: 'reader-monthly',
      price: 900,
      preDiscountPrice: 900,
    });
  });

  it('is canceled if it expired before its first payment', () => {
    expect(shown({ status: 'incomplete_expired', paid: [] }).status).toBe('canceled');
  });
});

it('the main subscription is one that gives access, else a running one, else the latest', () => {
  const old = state({ id: 'old', status: 'canceled', endedAt: at(1), paid: [paidFor(1)] });
  const older = state({ id: 'older', status: 'canceled', endedAt: at(0), paid: [paidFor(0)] });
  const unpaid = state({ id: 'unpaid', status: 'unpaid', paid: [] });
  const open = state({ id: 'open' });
  const expired = state({ id: 'expired', status: 'incomplete_expired', paid: [] });
  const first = (...states: StripeState[]) => mainSubscription(states, at(10), 3)?.id;
  expect(first(old, unpaid, open)).toBe('open');
  expect(first(old, unpaid)).toBe('unpaid');
  expect(first(older, old)).toBe('old');
  expect(first(expired)).toBeUndefined();
});

it('the main subscription is one that renews, even next to a higher one that ends', () => {
  const member = plan({ plan: 'member-monthly', product: 'sun-member' });
  const paid = [paidFor(30, { plan: 'member-monthly', product: 'sun-member' })];
  const more = { price: member, paid };
  const first = (...states: StripeState[]) => mainSubscription(states, at(10), 3)?.id;
  const renews = state({ id: 'renews' });
  const ends = state({ id: 'ends', ...more, cancelAtPeriodEnd: true });
  const later = state({ id: 'ends later', ...more, cancelAt: at(75) });
  const ended = state({ id: 'ended', ...more, status: 'canceled', endedAt: at(1) });
  expect(first(ends, ended, renews)).toBe('renews');
  expect(first(renews, later, ends)).toBe('ends later');
  expect(first(ended, ends)).toBe('ends');
  expect(first(state({ id: 'ends with less', cancelAtPeriodEnd: true }), ends)).toBe('ends');
});

it('a subscription is settled when its first bill is paid, or was 0 and a card is set up', () => {
  const nothingDue = { paid: [paidFor(30, { free: true })] };
  expect(isSettled(state())).toBe(true);
  expect(isSettled(state(nothingDue))).toBe(true);
  expect(isSettled(state({ ...nothingDue, card: false }))).toBe(false);
  expect(isSettled(state({ ...nothingDue, pendingSetup: 'seti_1' }))).toBe(false);
  expect(isSettled(state({ status: 'incomplete' }))).toBe(false);
  expect(isSettled(state({ status: 'trialing', paid: [] }))).toBe(false);
});

describe('a plan switch', () => {
  const yearly = plan({ plan: 'reader-yearly', interval: 'year', amount: 12_000 });
  const penny = plan({ ...yearly, plan: 'reader-penny' });
  const member = plan({ plan: 'member-monthly', product: 'sun-member', amount: 2000 });
  const memberYear = plan({ ...member, plan: 'member-yearly', interval: 'year', amount: 20_000 });
  const print = plan({ ...memberYear, plan: 'member-print-yearly', print: true, amount: 28_000 });
  test.each([
    [reader, yearly, 'upgrade'],
    [reader, member, 'upgrade'],
    [yearly, member, 'upgrade'],
    [memberYear, print, 'upgrade'],
    [yearly, reader, 'downgrade'],
    [print, memberYear, 'downgrade'],
    [member, yearly, 'downgrade'],
    [penny, yearly, 'same'],
    [reader, reader, 'same'],
    [reader, plan({ plan: 'reader-more', amount: 1500 }), 'upgrade'],
    [reader, plan({ amount: 1500 }), 'same'],
    [reader, plan({ amount: 900 }), 'downgrade'],
  ] as const)('from %o to %o counts as %s', (from, to, kind) => expect(switchKind(from, to)).toBe(kind));
});

const weekly: Partial<StripeState> = { periodEnd: at(7) };
const billed = (due: number, change: Partial<InvoiceState> = {}): InvoiceState => ({
  id: 'in_1',
  status: 'paid',
  reason: 'subscription_cycle',
  due,
  paid: due,
  currency: 'usd',
  refunded: false,
  created: zero,
  paidAt: zero,
  attempted: true,
  nextAttempt: null,
  ...change,
});

it.each<[string, Partial<StripeState>, number | null]>([
  ['once a month', {}, at(30)],
  ['once a week, which is not announced', { periodEnd: at(7) }, null],
  ['after an introductory week, which is announced', { periodEnd: at(7), trialEnd: at(7) }, at(7)],
  [
    'once a week, long after an introductory week, which is not announced',
    { periodStart: at(28), periodEnd: at(35), trialEnd: at(7) },
    null,
  ],
  ['once a week for the same as before, which is not announced', { ...weekly, invoices: [billed(1200)] }, null],
  ['once a week for less, which is not announced', { ...weekly, invoices: [billed(1500)] }, null],
  ['once a week for more, which is announced', { ...weekly, invoices: [billed(600)] }, at(7)],
  ['once a week after a free one, which is announced', { ...weekly, invoices: [billed(0)] }, at(7)],
  [
    'once a week for more than last, after unpaid bills, which is announced',
    { ...weekly, invoices: [billed(1200, { status: 'void' }), billed(1200, { status: 'draft' }), billed(600)] },
    at(7),
  ],
  [
    'once a week for more than the rest of a week after a change of plan, which is not announced',
    { ...weekly, invoices: [billed(300, { reason: 'subscription_update' }), billed(1200)] },
    null,
  ],
  ['without a payment, which is not announced', { nextAmount: 0 }, null],
  ['by invoice, which Stripe’s own mails announce', { byInvoice: true }, null],
  ['never, because it is canceled', { cancelAtPeriodEnd: true }, null],
  ['never while its last invoice is unpaid', { status: 'past_due' }, null],
])('a subscription renews %s', (_, change, when) => expect(renewsAt(state(change))).toBe(when));

it.each([
  ['incomplete', { unpaid: true }],
  ['incomplete_expired', { unpaid: true, over: true }],
  ['trialing', { live: true, good: true, renews: true }],
  ['active', { live: true, good: true, renews: true }],
  ['past_due', { live: true, overdue: true, renews: true }],
  ['unpaid', { live: true, overdue: true }],
  ['paused', { live: true }],
  ['canceled', { over: true }],
  ['added_later_by_stripe', {}],
])('the status %s is classified by every rule', (status, meaning) => {
  const one = { status };
  const said = {
    unpaid: isUnpaid(one),
    live: isLive(one),
    good: isInGoodStanding(one),
    overdue: isOverdue(one),
    renews: mayRenew(one),
    over: isOver(one),
  };
  expect(said).toEqual({
    unpaid: false,
    live: false,
    good: false,
    overdue: false,
    renews: false,
    over: false,
    ...meaning,
  });
});

it('only the subscription model and its schema list Stripe’s statuses', () => {
  const source = join(import.meta.dirname, '../..');
  const listing = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.startsWith(join('server', 'verify')))
    .filter((path) => /\.(?:ts|tsx|astro)$/.test(path) && !/\.test\.tsx?$/.test(path))
    .filter((path) => /['"](?:past_due|incomplete_expired)['"]/.test(readFileSync(join(source, path), 'utf8')));
  expect(listing.toSorted()).toEqual(['lib/billing/schema.ts', 'lib/billing/subscription-model.ts']);
});
