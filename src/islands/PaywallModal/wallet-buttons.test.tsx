// @vitest-environment jsdom
import { act } from 'react';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { click, named, settle } from '../shared/testing.tsx';
import { fakeStripe, quoteOf } from './testing.ts';
import {
  alerts,
  answers,
  bodies,
  closeAll,
  json,
  pay,
  reset,
  setStripe,
  sheet,
  startServer,
  step,
  stopServer,
  stripe,
  text,
  toPayment,
} from './testing-paywall.tsx';
import { closeAfterPayment } from './testing-session.ts';

vi.mock('../../stores/session.ts', () => import('./testing-session.ts'));
vi.mock('./after-payment.ts', () => import('./testing-session.ts'));

beforeAll(startServer);
beforeEach(reset);
afterEach(closeAll);
afterAll(stopServer);

describe('wallet buttons', () => {
  const available = { applePay: true, googlePay: false, link: false, amazonPay: false, klarna: false, paypal: false };
  const express = () => sheet().querySelector<HTMLElement>('[data-express]');
  const element = () => stripe.elements.findLast(({ type }) => type === 'expressCheckout');
  const tap = async () => {
    const event = { expressPaymentType: 'apple_pay', resolve: vi.fn(), reject: vi.fn() };
    await act(async () => element()?.emit('click', event));
    return event;
  };
  const agree = (paymentFailed = vi.fn()) => act(async () => element()?.emit('confirm', { paymentFailed }));
  beforeEach(() => {
    setStripe(fakeStripe(available));
    HTMLDialogElement.prototype.show ??= function show(this: HTMLDialogElement) {
      this.open = true;
    };
  });

  it('are left out, with the words that lead to the card, when there is no wallet', async () => {
    setStripe(fakeStripe());
    await toPayment();
    await act(async () => stripe.fill());
    await settle(() => expect(sheet().querySelector('[data-form][data-settled]')).not.toBeNull());
    expect(express()).toBeNull();
    expect(text(step('payment'))).not.toContain('pay by card');
  });

  it('appear at the same time as the card form', async () => {
    await toPayment();
    await settle(() => expect(element()).toBeTruthy());
    expect(sheet().querySelector('[data-form][data-settled]')).toBeNull();
    expect(text(step('payment'))).toContain('Loading the form…');
    await act(async () => stripe.fill());
    await settle(() => expect(sheet().querySelector('[data-form][data-settled]')).not.toBeNull());
    expect(text(step('payment'))).not.toContain('Loading the form…');
    expect(express()?.hasAttribute('inert')).toBe(false);
  });

  it('are left out when Stripe.js never reports which wallets there are', async () => {
    setStripe(fakeStripe('silent'));
    await toPayment();
    await act(async () => stripe.fill());
    const settled = () => sheet().querySelector('[data-form][data-settled]');
    for (let turn = 0; turn < 1000 && !settled(); turn++)
      await act(() => new Promise<void>((resolve) => setTimeout(resolve, 50)));
    expect(settled()).not.toBeNull();
    expect(express()).toBeNull();
  });

  it('show the amount due, and pay it with the wallet’s payment method', async () => {
    await toPayment();
    const event = await tap();
    expect(event.resolve).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ lineItems: [{ name: '1 × Sun Reader', amount: 12_000 }] }),
    );
    // Browsers can't draw a wallet's window above a modal dialog.
    expect(sheet().className).toContain('aside');
    await agree();
    await settle(() => expect(closeAfterPayment).toHaveBeenCalledOnce());
    expect(stripe.submit).toHaveBeenCalledOnce();
    expect(stripe.createPaymentMethod).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ params: { billing_details: { email: 'ada@example.com' } } }),
    );
    expect(bodies('/stripe/subscribe')).toEqual([
      expect.objectContaining({ payment_method: 'pm_1', expected: 12_000 }),
    ]);
  });

  it('reject a tap while a new total is being fetched', async () => {
    await toPayment({});
    answers['/api/v1/checkout/quote'] = () => new Promise(() => {});
    await click(named('label', 'Monthly $12 a month').querySelector('input') as HTMLInputElement);
    expect(express()?.hasAttribute('inert')).toBe(true);
    const event = await tap();
    expect(event.reject).toHaveBeenCalledOnce();
    expect(event.resolve).not.toHaveBeenCalled();
  });

  it('show a declined card in the wallet’s sheet, and work again after a sheet was dismissed', async () => {
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {});
    answers['/blaize/payment/stripe/subscribe'] = () => json({ message: 'Your card was declined.' }, 402);
    await toPayment();
    await tap();
    await act(async () => element()?.emit('cancel', {}));
    expect(sheet().className).not.toContain('aside');
    expect(bodies('/stripe/subscribe')).toEqual([]);
    await tap();
    const failed = vi.fn();
    await agree(failed);
    await settle(() =>
      expect(failed).toHaveBeenCalledExactlyOnceWith({ reason: 'fail', message: 'Your card was declined.' }),
    );
    expect(alerts()).toContain('Your card was declined.');
    expect(sheet().className).not.toContain('aside');
    errors.mockRestore();
  });

  it('keep the paywall non-modal after a failed wallet sheet until the reader returns to the form', async () => {
    await toPayment();
    stripe.submit.mockResolvedValueOnce({ error: { type: 'api_error', message: 'Not now.' } });
    await tap();
    const failed = vi.fn();
    await agree(failed);
    await settle(() => expect(failed).toHaveBeenCalledExactlyOnceWith({ reason: 'fail', message: 'Not now.' }));
    expect(sheet().className).toContain('aside');
    await act(async () => void pay().dispatchEvent(new Event('pointerdown', { bubbles: true })));
    expect(sheet().className).not.toContain('aside');
  });

  it('pass a changed total on to Stripe.js', async () => {
    await toPayment({});
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(1200));
    await click(named('label', 'Monthly $12 a month').querySelector('input') as HTMLInputElement);
    await settle(() => expect(text(pay())).toBe('Join the Sun$12'));
    expect(stripe.options.at(-1)).toMatchObject({ amount: 1200 });
    expect((await tap()).resolve).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ lineItems: [{ name: '1 × Sun Reader', amount: 1200 }] }),
    );
  });
});
