import { describe, expect, it, vi } from 'vitest';
import type { Subscription } from '../billing/schema.ts';
import { includesPrint } from '../plans/membership.ts';
import { deletionWarning, loadPanel } from './model.ts';

const log = () => ({ warn: vi.fn() });

it('gives what was read', async () => {
  const quiet = log();
  expect(await loadPanel(async () => 7, { what: 'A number', log: quiet })).toEqual({ ok: true, value: 7 });
  expect(quiet.warn).not.toHaveBeenCalled();
});

it('makes a value of a failure, and logs it by its name', async () => {
  const heard = log();
  const failing = async () => {
    throw new Error('away');
  };
  expect(await loadPanel(failing, { what: 'The invoices', log: heard })).toEqual({ ok: false });
  expect(heard.warn).toHaveBeenCalledWith({ err: new Error('away') }, 'The invoices could not be read for a page');
});

it('does not wait for ever', async () => {
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
  deletionWarning(change && { ...subscription, ...change }, () => 'December 1, 2026', now);

describe('what becomes of a subscription when its account is deleted', () => {
  it('is nothing where there is none that runs', () => {
    const nothing = { words: [], cancelFirst: false };
    expect(said(null)).toEqual(nothing);
    expect(said({ status: 'canceled' })).toEqual(nothing);
    expect(said({ paidUntil: '2026-11-20T11:00:00Z' })).toEqual(nothing);
  });

  it('names the day, and that nothing is refunded', () => {
    const { words, cancelFirst } = said({});
    expect(words.join(' ')).toMatch(
      /\(Sun Member, monthly\) ends at once.*until December 1, 2026, is not refunded.*cancel it first/,
    );
    expect(cancelFirst).toBe(true);
  });

  it('is to wait where it is cancelled already', () => {
    const { words, cancelFirst } = said({ cancelAtPeriodEnd: true });
    expect(words.join(' ')).toContain('You’ve already canceled it. If you wait until December 1, 2026');
    expect(cancelFirst).toBe(false);
  });

  it('is not kept quiet where it is not known', () => {
    expect(said(undefined)).toMatchObject({ cancelFirst: true });
    expect(said(undefined).words[0]).toContain('If you have one, it ends at once');
  });
});

describe('the printed paper', () => {
  it.each([
    [null, false],
    [undefined, false],
    [{ print: false, status: 'active' }, false],
    [{ print: true, status: 'active' }, true],
    [{ print: true, status: 'past_due' }, true],
    [{ print: true, status: 'canceled' }, false],
    [{ print: true, status: 'incomplete' }, false],
  ] as const)('with %o: %o', (given, brings) => expect(includesPrint(given)).toBe(brings));
});
