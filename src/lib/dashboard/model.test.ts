import { describe, expect, it, vi } from 'vitest';
import type { Subscription } from '../billing/schema.ts';
import { includesPrint } from '../plans/membership.ts';
import { deletionWarning, loadPanel } from './model.ts';

const log = () => ({ warn: vi.fn() });

it('loadPanel returns the value that was read, and logs nothing', async () => {
  const quiet = log();
  expect(await loadPanel(async () => 7, { what: 'A number', log: quiet })).toEqual({ ok: true, value: 7 });
  expect(quiet.warn).not.toHaveBeenCalled();
});

it('loadPanel returns a failure instead of throwing, and logs what could not be read', async () => {
  const heard = log();
  const failing = async () => {
    throw new Error('away');
  };
  expect(await loadPanel(failing, { what: 'The invoices', log: heard })).toEqual({ ok: false });
  expect(heard.warn).toHaveBeenCalledWith({ err: new Error('away') }, 'The invoices could not be read for a page');
});

it('loadPanel gives up after its time limit', async () => {
  const heard = log();
  expect(await loadPanel(() => new Promise(() => {}), { what: 'It', log: heard, timeoutMs: 1 })).toEqual({ ok: false });
  expect(heard.warn).toHaveBeenCalledOnce();
});

const now = Date.parse('2026-11-20T12:00:00Z');
const subscription: Subscription = {
  id: 'sub_1',
  currency: 'usd',
  preDiscountPrice: 1200,
  nextBillingDate: '2026-12-01T00:00:00Z',
  price: 1200,
  productId: 'sun-member',
  planId: 'member-month',
  planName: 'monthly',
  interval: 'month',
  print: false,
  status: 'active',
  cancelAtPeriodEnd: false,
  paidUntil: '2026-12-01T00:00:00Z',
};
const said = (change: Partial<Subscription> | null | undefined) =>
  deletionWarning(change === null ? [] : change && [{ ...subscription, ...change }], () => 'December 1, 2026', now);

describe('the warning before an account is deleted', () => {
  it('is empty when no subscription is running', () => {
    const nothing = { words: [], cancelFirst: false };
    expect(said(null)).toEqual(nothing);
    expect(said({ status: 'canceled' })).toEqual(nothing);
    expect(said({ paidUntil: '2026-11-20T11:00:00Z' })).toEqual(nothing);
  });

  it('names the date and says that nothing is refunded', () => {
    const { words, cancelFirst } = said({});
    expect(words.join(' ')).toMatch(
      /\(Sun Member, monthly\) ends at once.*until December 1, 2026, is not refunded.*cancel it first/,
    );
    expect(cancelFirst).toBe(true);
  });

  it('suggests waiting when the subscription is already canceled', () => {
    const { words, cancelFirst } = said({ cancelAtPeriodEnd: true });
    expect(words.join(' ')).toContain('You’ve already canceled it. If you wait until December 1, 2026');
    expect(cancelFirst).toBe(false);
  });

  it('names each of two subscriptions, and what to do about it', () => {
    const print = { ...subscription, planName: 'print', paidUntil: '2027-01-01', cancelAtPeriodEnd: true };
    const { words, cancelFirst } = deletionWarning([subscription, print], (at) => at.slice(0, 10), now);
    expect(words).toEqual([
      expect.stringMatching(/\(Sun Member, monthly\) ends at once.*until 2026-12-01, is not refunded/),
      'To keep what it includes until 2026-12-01, cancel it first, and delete your account after it ends.',
      expect.stringMatching(/\(Sun Member, print\) ends at once.*until 2027-01-01, is not refunded/),
      expect.stringContaining('already canceled it. If you wait until 2027-01-01'),
    ]);
    expect(cancelFirst).toBe(true);
  });

  it('mentions a possible subscription when it is unknown whether there is one', () => {
    expect(said(undefined)).toMatchObject({ cancelFirst: true });
    expect(said(undefined).words[0]).toContain('If you have one, it ends at once');
  });
});

describe('the print edition', () => {
  it.each([
    [null, false],
    [undefined, false],
    [{ print: false, status: 'active' }, false],
    [{ print: true, status: 'active' }, true],
    [{ print: true, status: 'past_due' }, true],
    [{ print: true, status: 'canceled' }, false],
    [{ print: true, status: 'incomplete' }, false],
  ] as const)('with the subscription %o is included: %o', (given, brings) => expect(includesPrint(given)).toBe(brings));
});
