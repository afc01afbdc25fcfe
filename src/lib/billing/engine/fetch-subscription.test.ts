/**
 * From Stripe's objects to what was paid. Whole scenarios with the sandbox are tested in engine/; here are the cases written by
 * hand.
 */
import type Stripe from 'stripe';
import { describe, expect, it } from 'vitest';
import { noticesOf } from '../notices.ts';
import { isLost, type KnownPrice, type StripeState } from '../subscription-model.ts';
import { digest, type FetchedSubscription, NotOurs, pricesIn, readState } from './fetch-subscription.server.ts';

const known = (id: string, change: Partial<KnownPrice> = {}): KnownPrice => ({
  id,
  plan: id,
  name: id,
  product: 'sun-reader',
  print: false,
  amount: 1200,
  currency: 'usd',
  interval: 'month',
  count: 1,
  ...change,
});
const book: Record<string, KnownPrice> = {
  reader: known('reader'),
  member: known('member', { product: 'sun-member', amount: 2000 }),
};
const priceOf = (id: string): KnownPrice | null => book[id] ?? null;

type Line = readonly [price: string, amount: number, from: number, until: number, kind?: 'proration' | 'fee'];
interface Bill {
  readonly lines: readonly Line[];
  readonly status?: string;
  readonly paid?: number;
  readonly total?: number;
  /** Balance of the customer before; less than 0 is a credit. */
  readonly balance?: number;
  readonly refunded?: 'whole' | 'part';
}

/** Times are days. */
const seconds = (days: number): number => days * 86_400;
const days = (ms: number): number => ms / 86_400_000;

function asked(bills: readonly Bill[], change: object = {}): FetchedSubscription {
  const invoices = bills.map(({ lines, status = 'paid', paid, total, balance = 0 }, at) => {
    const sum = lines.reduce((all, [, amount]) => all + amount, 0);
    return {
      id: `in_${at}`,
      status,
      amount_due: paid ?? sum,
      amount_paid: paid ?? Math.max(0, sum),
      total: total ?? sum,
      starting_balance: balance,
      billing_reason: 'subscription_cycle',
      currency: 'usd',
      created: 0,
      attempted: true,
      next_payment_attempt: null,
      status_transitions: { paid_at: 0 },
      payments: { data: [{ payment: { payment_intent: `pi_${at}` } }] },
      lines: {
        data: lines.map(([price, amount, from, until, kind]) => ({
          amount,
          period: { start: seconds(from), end: seconds(until) },
          pricing: { price_details: { price } },
          parent:
            kind === undefined
              ? { subscription_item_details: { subscription: 'sub_1' } }
              : { invoice_item_details: { proration: kind === 'proration' } },
        })),
      },
    };
  });
  const charges = bills.map(({ refunded }, at) => ({
    payment_intent: `pi_${at}`,
    paid: true,
    refunded: refunded === 'whole',
  }));
  const subscription = {
    id: 'sub_1',
    customer: 'cus_1',
    status: 'active',
    created: 0,
    discounts: [],
    schedule: null,
    metadata: {},
    pause_collection: null,
    trial_end: null,
    cancel_at_period_end: false,
    cancel_at: null,
    ended_at: null,
    pending_setup_intent: null,
    items: {
      data: [{ id: 'si_1', price: { id: 'reader' }, current_period_start: 0, current_period_end: seconds(30) }],
    },
    ...change,
  };
  return { subscription, invoices, charges, disputes: [] } as unknown as FetchedSubscription;
}
const paid = (bills: readonly Bill[], change?: object) =>
  readState(asked(bills, change), priceOf).paid.map(({ plan, until, free }) => [plan, days(until), free]);

describe('a Trial Offer', () => {
  const offers: Record<string, KnownPrice> = { to_1: known('penny', { amount: 12_000, interval: 'year' }) };
  const trial = { trial_offer: 'to_1', start_date: 0, end_date: seconds(60) };
  const within = (price: string): object => ({
    items: {
      data: [
        {
          id: 'si_1',
          price: { id: price },
          current_period_start: 0,
          current_period_end: seconds(60),
          current_trial: trial,
        },
      ],
    },
  });

  // Stripe doesn't document which of the two names applies.
  it.each(['first price', 'reader'])(
    'is recognized as the plan that was bought when its item has the price “%s”',
    (price) => {
      const asking = asked([{ lines: [[price, 60, 0, 60]] }], within(price));
      const state = readState(asking, (id) => offers[id] ?? priceOf(id));
      expect(state).toMatchObject({
        price: { plan: 'penny', amount: 12_000 },
        offer: 'to_1',
        trialEnd: seconds(60) * 1000,
      });
      expect(pricesIn(asking)).toContain('to_1');
      // The nightly comparison finds no difference.
      const listed = { ...asking.subscription, latest_invoice: 'in_0' } as Stripe.Subscription;
      expect(digest(asking.subscription, 'in_0')).toBe(digest(listed));
    },
  );
});

it('is seen by the nightly comparison when it is paused', () => {
  const pause = { behavior: 'keep_as_draft', resumes_at: seconds(90) };
  expect(digest(asked([], { pause_collection: pause }).subscription)).not.toBe(digest(asked([]).subscription));
});

describe('paid time', () => {
  it('covers the period of each paid line', () => {
    expect(paid([{ lines: [['reader', 1200, 0, 30]] }])).toEqual([['reader', 30, false]]);
  });

  it.each(['open', 'draft', 'void', 'uncollectible'])('excludes an invoice that is %s', (status) => {
    expect(paid([{ lines: [['reader', 1200, 0, 30]], status }])).toEqual([]);
  });

  it('excludes a fully refunded invoice, but not a partly refunded one', () => {
    expect(paid([{ lines: [['reader', 1200, 0, 30]], refunded: 'whole' }])).toEqual([]);
    expect(paid([{ lines: [['reader', 1200, 0, 30]], refunded: 'part' }])).toEqual([['reader', 30, false]]);
    const two: Bill[] = [
      { lines: [['reader', 1200, 30, 60]], refunded: 'whole' },
      { lines: [['reader', 1200, 0, 30]] },
    ];
    expect(paid(two)).toEqual([['reader', 30, false]]);
  });

  it('excludes an invoice that a lost dispute, with earlier refunds, took back in full', () => {
    const read = (status: string, amount: number, back: number) => {
      const { charges, ...rest } = asked([{ lines: [['reader', 1200, 0, 30]] }]);
      const dispute = { id: 'dp_1', charge: 'ch_0', payment_intent: 'pi_0', amount, status };
      const state = readState(
        {
          ...rest,
          charges: charges.map((one) => ({ ...one, id: 'ch_0', amount: 1200, amount_refunded: back })),
          disputes: [{ ...dispute, evidence_details: { due_by: 0 } }],
        } as unknown as FetchedSubscription,
        priceOf,
      );
      return [state.paid.length, state.disputes?.[0]?.outcome, isLost(state)];
    };
    expect(read('needs_response', 1200, 0)).toEqual([1, 'open', false]);
    expect(read('warning_closed', 1200, 0)).toEqual([1, 'won', false]);
    expect(read('won', 1200, 0)).toEqual([1, 'won', false]);
    expect(read('lost', 1200, 0)).toEqual([0, 'lost', true]);
    expect(read('appeal_under_review', 1200, 0)).toEqual([0, 'lost', true]);
    expect(read('lost', 700, 0)).toEqual([1, 'lost', false]);
    expect(read('lost', 700, 500)).toEqual([0, 'lost', true]);
  });

  it('remains when the disputed payment is for another invoice', () => {
    const twice = asked([{ lines: [['reader', 1200, 30, 60]] }, { lines: [['reader', 1200, 0, 30]] }]);
    const charges = twice.charges.map((one, at) => ({ ...one, id: `ch_${at}`, amount: 1200, amount_refunded: 0 }));
    const read = (dispute: object) => {
      const lost = { id: 'dp_1', amount: 1200, status: 'lost', evidence_details: { due_by: null }, ...dispute };
      return readState({ ...twice, charges, disputes: [lost] } as unknown as FetchedSubscription, priceOf);
    };
    const earlier = read({ charge: 'ch_1', payment_intent: 'pi_1' });
    expect(earlier.paid.map(({ until }) => days(until))).toEqual([60]);
    expect(earlier.disputes).toEqual([{ id: 'dp_1', invoice: 'in_1', outcome: 'lost', due: null }]);
    expect(isLost(earlier)).toBe(false);
    for (const elsewhere of [
      { charge: 'ch_9', payment_intent: 'pi_9' },
      { charge: 'ch_9', payment_intent: null },
    ]) {
      const state = read(elsewhere);
      expect([state.paid.length, state.disputes]).toEqual([2, []]);
    }
  });

  it.each([
    ['the bank takes it back', -1200, 0, false, true],
    ['it was refunded', 0, 1200, true, true],
    ['it was refunded and the bank takes it back', -1200, 1200, true, true],
    ['a part was refunded and the bank takes the rest back', -600, 600, false, true],
    ['only a part was refunded', 0, 600, false, false],
  ])('of a prevented dispute is no payment where %s', (_, amount, amount_refunded, refunded, isGone) => {
    const once = asked([{ lines: [['reader', 1200, 0, 30]] }]);
    const charges = once.charges.map((one) => ({ ...one, id: 'ch_0', amount: 1200, amount_refunded, refunded }));
    const dispute = {
      id: 'dp_1',
      charge: 'ch_0',
      payment_intent: 'pi_0',
      amount: Math.abs(amount),
      status: 'prevented',
      balance_transactions: amount === 0 ? [] : [{ amount }],
      evidence_details: { due_by: null },
    };
    const state = readState({ ...once, charges, disputes: [dispute] } as unknown as FetchedSubscription, priceOf);
    expect([state.paid.length === 0, state.invoices[0]?.refunded]).toEqual([isGone, isGone]);
    expect(isLost(state)).toBe(amount < 0);
  });

  it.each([
    ['needs_response', 'open'],
    ['under_review', 'open'],
    ['warning_needs_response', 'open'],
    ['warning_under_review', 'open'],
    ['warning_closed', 'won'],
    ['prevented', 'won'],
    ['prevented', 'won', [-1200, 1200]],
    ['prevented', 'lost', [-1200]],
    ['won', 'won', [-1200, 1200]],
    ['lost', 'lost', [-1200]],
    ['appeal_needs_response', 'lost', [-1200]],
  ])('treats a dispute with Stripe’s status %s as %s, with Stripe’s due date', (status, outcome, moved = []) => {
    const dispute = { id: 'dp_1', charge: 'ch_0', payment_intent: { id: 'pi_0' }, amount: 1200, status };
    const balance = moved.map((amount) => ({ amount }));
    const answer = { ...dispute, balance_transactions: balance, evidence_details: { due_by: seconds(20) } };
    const state = readState(
      { ...asked([{ lines: [['reader', 1200, 0, 30]] }]), disputes: [answer] } as unknown as FetchedSubscription,
      priceOf,
    );
    expect(state.disputes).toEqual([{ id: 'dp_1', invoice: 'in_0', outcome, due: seconds(20) * 1000 }]);
  });

  it('is free when nothing was due, but not when a credit paid for it', () => {
    expect(paid([{ lines: [['reader', 1200, 0, 30]], paid: 0, total: 0 }])).toEqual([['reader', 30, true]]);
    expect(paid([{ lines: [['reader', 1200, 0, 30]], paid: 0, total: 1200, balance: -1200 }])).toEqual([
      ['reader', 30, false],
    ]);
    // Less than the minimum charge: the amount is added to the next invoice and isn't paid yet.
    expect(paid([{ lines: [['reader', 48, 0, 30]], paid: 0, total: 48 }])).toEqual([['reader', 30, true]]);
  });

  it('ends where a later invoice credited the rest', () => {
    const upgrade: Bill = {
      lines: [
        ['reader', -800, 10, 30, 'proration'],
        ['member', 1333, 10, 30, 'proration'],
      ],
    };
    const first: Bill = { lines: [['reader', 1200, 0, 30]] };
    expect(paid([upgrade, first])).toEqual([
      ['member', 30, false],
      ['reader', 10, false],
    ]);
    // An unpaid change has credited nothing, either.
    expect(paid([{ ...upgrade, status: 'open' }, first])).toEqual([['reader', 30, false]]);
    expect(paid([{ ...upgrade, refunded: 'whole' }, first])).toEqual([['reader', 30, false]]);
  });

  it('is not added by fees or by products that are not plans', () => {
    expect(
      paid([
        {
          lines: [
            ['reader', 0, 0, 60],
            ['fee', 60, 0, 90, 'fee'],
          ],
        },
      ]),
    ).toEqual([['reader', 60, false]]);
    expect(paid([{ lines: [['mug', 900, 0, 90]] }])).toEqual([]);
  });
});

describe('a subscription read from Stripe', () => {
  it('for an unknown product is rejected as not ours', () => {
    const items = { data: [{ id: 'si_1', price: { id: 'mug' }, current_period_start: 0, current_period_end: 1 }] };
    expect(() => readState(asked([], { items }), priceOf)).toThrow(NotOurs);
  });

  it('with a plan scheduled for the next invoice reports that plan', () => {
    const schedule = {
      id: 'sub_sched_1',
      status: 'active',
      current_phase: { start_date: 0, end_date: seconds(30) },
      phases: [
        { start_date: 0, items: [{ price: 'reader' }] },
        { start_date: seconds(30), items: [{ price: 'member' }] },
      ],
    };
    const state = readState(asked([], { schedule }), priceOf);
    expect(state.next?.plan).toBe('member');
    expect(state.nextAmount).toBe(2000);
    expect(
      pricesIn(
        asked(
          [
            {
              lines: [
                ['old', 1, 0, 1],
                ['fee', 1, 0, 1, 'fee'],
              ],
            },
          ],
          { schedule },
        ),
      ),
    ).toEqual(['reader', 'old', 'member']);
    expect(readState(asked([], { schedule: { ...schedule, status: 'released' } }), priceOf).next).toBeNull();
  });

  it('with paused collection reports the pause and announces no renewal', () => {
    const pause_collection = { behavior: 'void', resumes_at: seconds(90) };
    const paid = { lines: [['reader', 1200, 0, 30] as const] };
    const [paused, usual] = [{ pause_collection }, {}].map((change) => readState(asked([paid], change), priceOf));
    expect(paused?.pause).toEqual({ behavior: 'void', resumesAt: seconds(90) * 1000 });
    expect(usual?.pause).toBeNull();
    const mailed = (state = usual) =>
      state && noticesOf(state, seconds(25) * 1000, { graceDays: 3, renewalNoticeDays: 7 }).map(({ key }) => key);
    expect(mailed()).toContain('renewal:sub_1:2592000000');
    expect(mailed(paused)).toEqual(mailed()?.filter((key) => !key.startsWith('renewal:')));
  });

  it('is named with its tier in email, unless the price’s name already has it', () => {
    const state = readState(asked([{ lines: [['reader', 1200, 0, 30] as const] }]), priceOf);
    const rules = { graceDays: 3, renewalNoticeDays: 7 };
    const named = (name: string) =>
      noticesOf({ ...state, price: known('reader', { name }) }, seconds(25) * 1000, rules)
        .map(({ message }) => message)
        .find(({ kind }) => kind === 'renewal-notice');
    expect(named('Yearly')).toMatchObject({ plan: 'Sun Reader, Yearly' });
    expect(named('Sun Reader by the year')).toMatchObject({ plan: 'Sun Reader by the year' });
  });

  it('read between its payment and its start brings no receipt yet: that would promise no further bill', () => {
    const state = readState(asked([{ lines: [['reader', 1200, 0, 30] as const] }]), priceOf);
    const receipts = (status: StripeState['status']) =>
      noticesOf({ ...state, status }, seconds(1) * 1000, { graceDays: 3, renewalNoticeDays: 7 })
        .map(({ message }) => message)
        .filter(({ kind }) => kind === 'receipt');
    expect(receipts('incomplete')).toEqual([]);
    expect(receipts('active')).toMatchObject([{ amount: 1200, nextBill: { at: state.periodEnd } }]);
  });

  it('shows the amount that Stripe previews, and the list price when nothing will be billed', () => {
    const taxes = [{ amount: 99, tax_behavior: 'exclusive' }];
    const upcoming = { amount_due: 699, total_taxes: taxes } as unknown as Stripe.Invoice;
    const amounts = (next: Stripe.Invoice | null | undefined, before?: StripeState) => {
      const { nextAmount, nextTax } = readState({ ...asked([]), upcoming: next }, priceOf, before);
      return [nextAmount, nextTax];
    };
    const tax = { amount: 99, included: false };
    expect(amounts(upcoming)).toEqual([699, tax]);
    expect(amounts(null)).toEqual([1200, null]);
    // Stripe can't answer now: the last amount stays, as long as it is for the same price.
    const before = readState({ ...asked([]), upcoming }, priceOf);
    expect(amounts(undefined, before)).toEqual([699, tax]);
    expect(amounts(undefined, { ...before, price: known('member') })).toEqual([1200, null]);
  });
});
