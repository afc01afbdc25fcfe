import { describe, expect, it, vi } from 'vitest';
import { chosenPrice, createOrder, type OrderCalls, ordinaryPrices } from './order.ts';
import { granted, monthly, penny, plansAnswer, printed, quoteOf, refusal, yearly } from './testing.ts';

const sunshine = { discount_code: 'SUNSHINE20', amount_off: null, percent_off: 20 };

function fixture(more: Partial<Record<keyof OrderCalls, unknown>> = {}) {
  const calls = {
    quote: vi.fn(async (_plan: string, code?: string) => granted(quoteOf(code ? 9600 : 12_000))),
    coupon: vi.fn(async () => granted(sunshine)),
    ...more,
  };
  const onCoupon = vi.fn();
  const order = createOrder(calls as unknown as OrderCalls, yearly, onCoupon);
  return { order, calls, onCoupon, state: () => order.$state.get() };
}

describe('the total', () => {
  it('comes from Stripe’s quote', async () => {
    const { order, calls, state } = fixture();
    await order.begin('');
    expect(calls.quote).toHaveBeenCalledExactlyOnceWith('reader-yearly', undefined, { currency: 'usd', address: null });
    expect(state()).toMatchObject({ quote: { dueToday: 12_000 }, asking: false, error: null });
  });

  it('is empty when it cannot be fetched, and can be requested again', async () => {
    const answers = [refusal(0), granted(quoteOf(12_000))];
    const { order, state } = fixture({ quote: async () => answers.shift() });
    await order.begin('');
    expect(state()).toMatchObject({ quote: null, asking: false });
    expect(state().error).toContain('We couldn’t reach the server.');
    await order.refresh();
    expect(state()).toMatchObject({ quote: { dueToday: 12_000 }, error: null });
  });

  it('is not replaced by the answer to an older request', async () => {
    const gates = [Promise.withResolvers<unknown>(), Promise.withResolvers<unknown>()];
    let asked = 0;
    const { order, state } = fixture({ quote: () => gates[asked++]?.promise });
    const first = order.refresh();
    const second = order.choose(monthly);
    gates[1]?.resolve(granted(quoteOf(1200)));
    await second;
    gates[0]?.resolve(granted(quoteOf(12_000)));
    await first;
    expect(state()).toMatchObject({ price: { zephrPlanId: 'reader-monthly' }, quote: { dueToday: 1200 } });
  });
});

it('the previous plan’s total is not shown while the coupon is checked for the next plan', async () => {
  const sum = Promise.withResolvers<unknown>();
  const check = Promise.withResolvers<unknown>();
  const answers = [granted(quoteOf(9600)), sum.promise, granted(quoteOf(960))];
  const checks = [granted(sunshine), check.promise];
  const { order, state } = fixture({ quote: async () => answers.shift(), coupon: async () => checks.shift() });
  await order.apply('SUNSHINE20');
  const refreshed = order.refresh();
  const chosen = order.choose(monthly);
  sum.resolve(granted(quoteOf(9600)));
  await refreshed;
  expect(state()).toMatchObject({ price: { zephrPlanId: 'reader-monthly' }, asking: true });
  check.resolve(granted(sunshine));
  await chosen;
  expect(state()).toMatchObject({ quote: { dueToday: 960 }, asking: false });
});

describe('the coupon', () => {
  it('goes from none through applying to applied, with a new total, and back to none', async () => {
    const { order, calls, onCoupon, state } = fixture();
    const seen: string[] = [];
    order.$state.subscribe(({ coupon }) => {
      if (seen.at(-1) !== coupon.kind) seen.push(coupon.kind);
    });
    await order.apply('  sunshine20 ');
    expect(calls.coupon).toHaveBeenCalledExactlyOnceWith('sunshine20', 'reader-yearly', 'usd');
    expect(calls.quote).toHaveBeenCalledExactlyOnceWith('reader-yearly', 'SUNSHINE20', {
      currency: 'usd',
      address: null,
    });
    expect(state()).toMatchObject({
      coupon: { kind: 'applied', code: 'SUNSHINE20', percentOff: 20, amountOff: null },
      quote: { dueToday: 9600 },
    });
    expect(onCoupon).toHaveBeenLastCalledWith('SUNSHINE20');
    await order.remove();
    expect(state()).toMatchObject({ coupon: { kind: 'none' }, quote: { dueToday: 12_000 } });
    expect(onCoupon).toHaveBeenLastCalledWith(undefined);
    expect(seen).toEqual(['none', 'applying', 'applied', 'none']);
  });

  it.each([
    ['unknown', refusal(404, null, { error: 'This coupon is not known.' }), 'This coupon is not known.'],
    ['expired', refusal(400, 'This coupon has expired.'), 'This coupon has expired.'],
    ['after too many tries', refusal(429, null, { error: 'Too many tries.' }), 'Too many tries.'],
    ['by a server error', refusal(500), 'This coupon can’t be used.'],
    ['without a connection', refusal(0), 'We couldn’t reach the server. Check your connection and try again.'],
    ['used up', granted({ ...sunshine, error: 'Used up.' }), 'Used up.'],
  ])('that is refused shows the reason, and another can be tried (%s)', async (_, answer, text) => {
    const answers = [answer, granted(sunshine)];
    const { order, state } = fixture({ coupon: async () => answers.shift() });
    await order.apply('NOPE');
    expect(state().coupon).toEqual({ kind: 'error', code: 'NOPE', text });
    await order.apply('SUNSHINE20');
    expect(state().coupon.kind).toBe('applied');
  });

  it('is not checked when it is empty, nor twice at the same time', async () => {
    const gate = Promise.withResolvers<unknown>();
    const { order, calls } = fixture({ coupon: vi.fn(() => gate.promise) });
    await order.apply('   ');
    expect(calls.coupon).not.toHaveBeenCalled();
    const first = order.apply('A');
    await order.apply('A');
    expect(calls.coupon).toHaveBeenCalledOnce();
    gate.resolve(granted(sunshine));
    await first;
  });

  it('from an earlier visit is tried first; if it is refused, the total is shown without it', async () => {
    const { order, calls, state } = fixture({ coupon: vi.fn(async () => refusal(404)) });
    await order.begin('OLD');
    expect(calls.coupon).toHaveBeenCalledOnce();
    expect(state()).toMatchObject({ coupon: { kind: 'error' }, quote: { dueToday: 12_000 } });
  });

  it('is kept for the next visit when the server could not check it', async () => {
    const offline = fixture({ coupon: vi.fn(async () => refusal(0)) });
    await offline.order.begin('SUNSHINE20');
    expect(offline.onCoupon).not.toHaveBeenCalled();
    const broken = fixture({ coupon: vi.fn(async () => refusal(503)) });
    await broken.order.begin('SUNSHINE20');
    expect(broken.onCoupon).not.toHaveBeenCalled();
  });

  it('that has expired shows a message, and the next total is without it', async () => {
    const expired = refusal(400, 'This coupon has expired.', { code: 'coupon_expired' });
    const answers = [granted(quoteOf(9600)), expired, granted(quoteOf(12_000))];
    const quote = vi.fn(async () => answers.shift());
    const { order, onCoupon, state } = fixture({ quote });
    await order.apply('SUNSHINE20');
    await order.refresh();
    expect(state()).toMatchObject({
      coupon: { kind: 'error', code: 'SUNSHINE20', text: 'This coupon has expired.' },
      quote: { dueToday: 12_000 },
      asking: false,
      error: null,
    });
    expect(quote).toHaveBeenLastCalledWith('reader-yearly', undefined, { currency: 'usd', address: null });
    expect(onCoupon).toHaveBeenLastCalledWith(undefined);
  });

  it('is checked again for another plan', async () => {
    const { order, calls } = fixture();
    await order.apply('SUNSHINE20');
    await order.choose(monthly);
    expect(calls.coupon).toHaveBeenLastCalledWith('SUNSHINE20', 'reader-monthly', 'usd');
    expect(calls.quote).toHaveBeenLastCalledWith('reader-monthly', 'SUNSHINE20', { currency: 'usd', address: null });
  });
});

describe('the preselected price', () => {
  const { prices } = plansAnswer;
  it('is the one that the caller requested, or none when it is not sold', () => {
    expect(chosenPrice(prices, { planId: 'member-print-yearly' }, undefined)).toBe(printed);
    expect(chosenPrice(prices, { planId: 'gone' }, undefined)).toBeNull();
    expect(chosenPrice(prices, { priceId: 'price_reader-penny' }, undefined)).toBe(penny);
    expect(chosenPrice(prices, { priceId: 'price_gone' }, undefined)).toBeNull();
    expect(chosenPrice(prices, { frequency: 'month' }, undefined)).toBe(monthly);
  });

  it('is otherwise the reader’s earlier choice or the yearly plan, and never a promotion', () => {
    expect(chosenPrice(prices, {}, undefined)).toBe(yearly);
    expect(chosenPrice(prices, {}, 'reader-monthly')).toBe(monthly);
    // A promotion is never chosen without being asked for.
    expect(chosenPrice(prices, {}, 'reader-penny')).toBe(yearly);
    expect(ordinaryPrices(prices, {})).toEqual([yearly, monthly]);
    expect(ordinaryPrices(prices, { planId: 'reader-yearly' })).toEqual([]);
    expect(chosenPrice([], {}, undefined)).toBeNull();
  });
});
