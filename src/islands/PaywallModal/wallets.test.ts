import { atom } from 'nanostores';
import { describe, expect, it, vi } from 'vitest';
import type { QuoteAnswer, TaxAddress } from '../../lib/billing/schema.ts';
import { type Order, type OrderState, quotedPurchase } from './order.ts';
import type { CardForm, Payment, PaymentState, Purchase } from './payment.ts';
import { penny, price, quoteOf, renewal, yearly } from './testing.ts';
import { lineItems, payByWallet, walletDetails } from './wallets.ts';

const address = {
  line1: '1 Pearl St',
  line2: null,
  city: 'New York',
  state: 'NY',
  postal_code: '10004',
  country: 'US',
};

const anyForm = { paymentMethod: expect.any(Function) };

/** @param quoteAt what is quoted once the place is known */
function fixture(
  first: QuoteAnswer,
  more: { taxed?: boolean; quoteAt?: QuoteAnswer; error?: PaymentState['error']; card?: boolean } = {},
) {
  const $state = atom<OrderState>({
    price: yearly,
    coupon: { kind: 'none', code: '' },
    quote: first,
    place: null,
    asking: false,
    error: null,
  });
  const setPlace = vi.fn(async (place: TaxAddress) =>
    $state.set({ ...$state.get(), place, quote: more.quoteAt ?? first }),
  );
  const order = { $state, setPlace } as unknown as Order;
  const $paying = atom<PaymentState>({ busy: null, error: null, notice: null });
  const buy = vi.fn(async (_purchase: Purchase, { paymentMethod }: CardForm) => {
    await paymentMethod();
    $paying.set({ ...$paying.get(), error: more.error ?? null });
  });
  const payment = { $state: $paying, buy } as unknown as Payment;
  const event = { paymentFailed: vi.fn(), billingDetails: { name: 'Ada', address } };
  const onSum = vi.fn();
  const made = more.card === false ? { ok: false, message: 'Incomplete.', shown: true } : { ok: true, value: 'pm_1' };
  const form = { paymentMethod: async () => made } as unknown as CardForm;
  const agreed = quotedPurchase($state.get()) as Purchase;
  const wallet = { agreed, order, payment, form, taxed: more.taxed ?? false, onSum };
  return { $state, order, setPlace, buy, event, onSum, run: () => payByWallet(event, wallet) };
}

it('a wallet payment charges the total that the reader agreed to', async () => {
  const { buy, event, setPlace, run } = fixture(quoteOf(12_000));
  expect(await run()).toBe(false);
  expect(buy).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ expected: 12_000, address: null }), anyForm);
  expect(setPlace).not.toHaveBeenCalled();
  expect(event.paymentFailed).not.toHaveBeenCalled();
});

it('a failed wallet payment shows the bank’s own message in the wallet’s sheet', async () => {
  const error = { text: 'Payment has failed.', detail: 'Your card was declined.' };
  const { event, run } = fixture(quoteOf(12_000), { error });
  // The sheet has provided its card, and is closed.
  expect(await run()).toBe(false);
  expect(event.paymentFailed).toHaveBeenCalledExactlyOnceWith({ reason: 'fail', message: 'Your card was declined.' });
  // A sheet without a card stays open until the reader dismisses it.
  expect(await fixture(quoteOf(12_000), { error, card: false }).run()).toBe(true);
});

it('the wallet’s sheet ends with an error when the card form shows the problem itself', async () => {
  const { event, run } = fixture(quoteOf(12_000), { card: false });
  expect(await run()).toBe(true);
  expect(event.paymentFailed).toHaveBeenCalledExactlyOnceWith({ reason: 'fail', message: 'Incomplete.' });
});

it('tax is quoted for the wallet’s address, and the payment goes through when there is none', async () => {
  const quoteAt = quoteOf(12_000, { tax: { today: null, renewal: null } });
  const { setPlace, buy, run } = fixture(quoteOf(12_000, { needs: 'address' }), { taxed: true, quoteAt });
  await run();
  const place = { country: 'US', postal_code: '10004' };
  expect(setPlace).toHaveBeenCalledExactlyOnceWith(place);
  expect(buy).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ expected: 12_000, address: place }), anyForm);
});

it('a total that is higher with tax is shown to the reader and not charged', async () => {
  const { buy, event, onSum, run } = fixture(quoteOf(12_000, { needs: 'address' }), {
    taxed: true,
    quoteAt: quoteOf(12_990),
  });
  await run();
  expect(buy).not.toHaveBeenCalled();
  expect(onSum).toHaveBeenCalledExactlyOnceWith(12_990);
  expect(event.paymentFailed).toHaveBeenCalledExactlyOnceWith({
    reason: 'fail',
    message: expect.stringContaining('The total is now $129.90.'),
  });
});

it('nothing is charged when the order has changed behind the wallet’s sheet or its total is unknown', async () => {
  const { $state, buy, event, run } = fixture(quoteOf(12_000));
  $state.set({ ...$state.get(), quote: quoteOf(9600) });
  await run();
  $state.set({ ...$state.get(), quote: null, error: 'Stripe is away.' });
  await run();
  expect(buy).not.toHaveBeenCalled();
  expect(event.paymentFailed).toHaveBeenLastCalledWith({ reason: 'fail', message: 'Stripe is away.' });
});

const total = (items: readonly { amount: number }[]) => items.reduce((sum, { amount }) => sum + amount, 0);
const line = (amount: number) => ({ lines: [{ description: '1 × Sun Reader', amount }] });
const tax = { amount: 990, included: false };

describe('line items in the wallet’s sheet', () => {
  it.each([
    ['a plan', quoteOf(12_000, line(12_000)), null, ['1 × Sun Reader']],
    ['a coupon', quoteOf(9600, line(12_000)), 'SUNSHINE20', ['1 × Sun Reader', 'Discount (SUNSHINE20)']],
    ['a credit', quoteOf(11_000, line(12_000)), null, ['1 × Sun Reader', 'Discount']],
    ['an open balance', quoteOf(12_500, line(12_000)), null, ['1 × Sun Reader', 'Balance']],
    [
      'tax added to the price',
      quoteOf(12_990, { ...line(12_000), tax: { today: tax, renewal: tax } }),
      null,
      ['1 × Sun Reader', 'Tax'],
    ],
    [
      'tax included in the price',
      quoteOf(12_000, { ...line(12_000), tax: { today: { ...tax, included: true }, renewal: tax } }),
      null,
      ['1 × Sun Reader'],
    ],
  ] as const)('for %s add up to the amount due', (_what, quote, coupon, names) => {
    const items = lineItems(quote, coupon);
    expect(items.map(({ name }) => name)).toEqual(names);
    expect(total(items)).toBe(quote.dueToday);
  });

  it('are empty when nothing is due, since Stripe.js refuses more than the amount', () => {
    expect(lineItems(quoteOf(0, line(12_000)), 'FREEYEAR')).toEqual([]);
  });
});

describe('Apple Pay’s description of the renewals', () => {
  const state = (of: typeof yearly): OrderState => ({
    price: of,
    coupon: { kind: 'none', code: '' },
    quote: null,
    place: null,
    asking: false,
    error: null,
  });
  const recurring = (of: typeof yearly, due: number, later = 12_000) =>
    walletDetails(state(of), quoteOf(due, { dueAfterRenewal: later }), 'https://thesun.example').applePay
      ?.recurringPaymentRequest;

  it('has the amount of each renewal and the page where it can be ended', () => {
    expect(recurring(yearly, 12_000)).toEqual({
      paymentDescription: 'The Sun: Sun Reader',
      managementURL: 'https://thesun.example/dashboard/account',
      regularBilling: {
        label: 'Sun Reader',
        amount: 12_000,
        recurringPaymentIntervalUnit: 'year',
        recurringPaymentIntervalCount: 1,
      },
    });
  });

  it('separates a first period at another price', () => {
    expect(recurring(penny, 60)).toMatchObject({
      trialBilling: { amount: 60, recurringPaymentEndDate: new Date(renewal) },
      regularBilling: { amount: 12_000, recurringPaymentStartDate: new Date(renewal) },
    });
  });

  it('counts weeks in days', () => {
    const weekly = price('reader-weekly', 400, { recurring: { interval: 'week', interval_count: 2 } });
    expect(recurring(weekly, 400, 400)?.regularBilling).toMatchObject({
      recurringPaymentIntervalUnit: 'day',
      recurringPaymentIntervalCount: 14,
    });
  });
});
