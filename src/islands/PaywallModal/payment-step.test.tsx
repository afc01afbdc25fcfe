// @vitest-environment jsdom
import { act } from 'react';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { paywall } from '../../lib/plans/messages.ts';
import { button, click, draw, field, settle, submit, type } from '../shared/testing.tsx';
import { PayButton } from './Order.tsx';
import { bought, plansAnswer, quoteOf, subscriptionOf, yearly } from './testing.ts';
import {
  alerts,
  answers,
  bodies,
  closeAll,
  json,
  openSignedIn,
  openStep,
  pay,
  reset,
  scriptUrl,
  sheet,
  startServer,
  stopServer,
  stripe,
  tag,
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

describe('the payment step', () => {
  it('comes first for a signed-in reader, with the amount due and the renewal date', async () => {
    await toPayment();
    expect(openStep()).toBe('payment');
    expect(text(sheet())).toContain('Due today $120');
    expect(text(sheet())).toContain('Total due after renewal$120');
    expect(text(sheet())).toContain('Renewal dateNovember 21, 2027');
    expect(text(sheet())).toContain(
      'Your subscription renews on November 21, 2027 for $120, and again every year, until you cancel.',
    );
    expect(text(sheet())).toContain('You may cancel your subscription at any time.');
    expect(stripe.options[0]).toMatchObject({
      mode: 'subscription',
      amount: 12_000,
      currency: 'usd',
      paymentMethodCreation: 'manual',
    });
  });

  it('asks where the buyer lives where tax is added, and shows the tax before payment is possible', async () => {
    const place = { country: 'US', postal_code: '10007' };
    answers['/api/v1/checkout/plans'] = () =>
      json({ ...plansAnswer, scriptUrl: scriptUrl(), tax: true, country: 'US' });
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(12_000, { needs: 'address' }));
    await toPayment();
    await act(async () => stripe.fill());
    expect(text(sheet())).toContain('Due today Tell us where you live');
    expect(pay().disabled).toBe(true);
    const tax = { amount: 990, included: false };
    answers['/api/v1/checkout/quote'] = () =>
      json(quoteOf(12_990, { dueAfterRenewal: 12_990, tax: { today: tax, renewal: tax } }));
    await type(field('ZIP code'), '10007');
    await settle(() => expect(text(pay())).toBe('Join the Sun$129.90'));
    expect(bodies('/checkout/quote').at(-1)).toEqual({ plan_id: 'reader-yearly', currency: 'usd', address: place });
    expect(text(sheet())).toContain('$120.00 + $9.90 tax');
    expect(text(sheet())).toContain('Total due after renewal$120.00 + $9.90 tax');
    await submit(pay().form as HTMLFormElement);
    await settle(() => expect(closeAfterPayment).toHaveBeenCalledOnce());
    // What is known isn't asked twice: the card's form leaves the address out, and the payment method gets it.
    expect(stripe.elements.findLast(({ type }) => type === 'payment')?.options).toMatchObject({
      fields: { billingDetails: { address: { country: 'never', postalCode: 'never' } } },
    });
    expect(stripe.createPaymentMethod).toHaveBeenCalledWith(
      expect.objectContaining({ params: { billing_details: expect.objectContaining({ address: place }) } }),
    );
    expect(bodies('/stripe/subscribe')).toEqual([expect.objectContaining({ address: place, expected: 12_990 })]);
  });

  it('shows prices in the currency of the reader’s country', async () => {
    const abroad = { ...yearly, currencies: { gbp: 10_000 } };
    answers['/api/v1/checkout/plans'] = () =>
      json({ ...plansAnswer, prices: [abroad], scriptUrl: scriptUrl(), currency: 'gbp' });
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(10_000, { currency: 'gbp', dueAfterRenewal: 10_000 }));
    await toPayment();
    expect(text(sheet())).toContain('£100 a year');
    expect(text(sheet())).toContain('Due today £100');
    expect(bodies('/checkout/quote').at(-1)).toEqual({ plan_id: 'reader-yearly', currency: 'gbp' });
    expect(stripe.options[0]).toMatchObject({ amount: 10_000, currency: 'gbp' });
  });

  it('sends one payment once the card is complete, with the total on the button', async () => {
    await toPayment();
    expect(text(pay())).toBe('Join the Sun$120');
    expect(pay().disabled).toBe(true);
    await act(async () => stripe.fill());
    expect(pay().disabled).toBe(false);
    await submit(pay().form as HTMLFormElement);
    await submit(sheet().querySelector('[data-step="payment"] form') as HTMLFormElement);
    await settle(() => expect(closeAfterPayment).toHaveBeenCalledOnce());
    expect(closeAfterPayment).toHaveBeenCalledExactlyOnceWith(subscriptionOf(), 'ada@example.com', 'new');
    expect(bodies('/stripe/subscribe')).toEqual([
      {
        payment_method: 'pm_1',
        product_id: 'sun-reader',
        plan_id: 'reader-yearly',
        expected: 12_000,
        currency: 'usd',
        attempt: expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
    ]);
    expect(text(sheet())).toContain('Thank you.');
  });

  it('becomes non-modal while the bank asks, and cannot be closed then', async () => {
    answers['/blaize/payment/stripe/subscribe'] = () =>
      json(bought({ paymentIntentStatus: 'requires_action', clientSecret: 'pi_1_secret_1', grant_id: null }));
    const gate = Promise.withResolvers<object>();
    await toPayment();
    stripe.handleNextAction.mockImplementation(() => gate.promise);
    await act(async () => stripe.fill());
    const modal = vi.spyOn(HTMLDialogElement.prototype, 'showModal');
    const shown = vi.fn(function show(this: HTMLDialogElement) {
      this.open = true;
    });
    sheet().show = shown;
    await submit(pay().form as HTMLFormElement);
    await settle(() => expect(shown).toHaveBeenCalledOnce());
    expect(text(pay())).toBe('Waiting for your bank…');
    // Nothing closes the sheet during a payment.
    await click(button('Close'));
    expect(sheet().open).toBe(true);
    expect(modal).not.toHaveBeenCalled();
    gate.resolve({ paymentIntent: { status: 'succeeded' } });
    await settle(() => expect(closeAfterPayment).toHaveBeenCalledOnce());
    // It is modal again for the rest.
    expect(modal).toHaveBeenCalledOnce();
    modal.mockRestore();
    expect(bodies('/confirmation')).toEqual([{ subscriptionId: 'sub_1' }]);
  });

  it('shows the card company’s error until the card is changed', async () => {
    answers['/blaize/payment/stripe/subscribe'] = () =>
      json({ message: 'Your card has insufficient funds.', code: 'card_declined' }, 402);
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {});
    await toPayment();
    await act(async () => stripe.fill());
    await submit(pay().form as HTMLFormElement);
    await settle(() =>
      expect(alerts()).toEqual([
        'Your card has insufficient funds.',
        'Payment has failed - please check your card details, or try another payment method.',
      ]),
    );
    expect(pay().disabled).toBe(false);
    expect(closeAfterPayment).not.toHaveBeenCalled();
    await act(async () => stripe.fill());
    expect(alerts()).toEqual([]);
    errors.mockRestore();
  });

  it('shows a changed total, and charges it only when the reader submits again', async () => {
    await toPayment();
    answers['/blaize/payment/stripe/subscribe'] = () => json({ message: 'Other sum', due: 9600 }, 409);
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(9600));
    await act(async () => stripe.fill());
    await submit(pay().form as HTMLFormElement);
    await settle(() => expect(text(pay())).toBe('Join the Sun$96'));
    expect(text(sheet())).toContain('The total is now $96.');
    answers['/blaize/payment/stripe/subscribe'] = () => json(bought());
    await submit(pay().form as HTMLFormElement);
    await settle(() => expect(closeAfterPayment).toHaveBeenCalledOnce());
    const sent = bodies('/stripe/subscribe') as { expected: number; attempt: string }[];
    expect(sent.map(({ expected }) => expected)).toEqual([12_000, 9600]);
  });

  it('no longer mentions a changed total after a coupon has changed it again', async () => {
    await toPayment();
    answers['/blaize/payment/stripe/subscribe'] = () => json({ message: 'Other sum', due: 9600 }, 409);
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(9600));
    await act(async () => stripe.fill());
    await submit(pay().form as HTMLFormElement);
    await settle(() => expect(text(sheet())).toContain('The total is now $96.'));
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(7680));
    await type(field(/^Coupon/), 'SUNSHINE20');
    await click(button('Apply'));
    await settle(() => expect(text(pay())).toBe('Join the Sun$76.80'));
    expect(text(sheet())).not.toContain('The total is now');
  });

  it('shows that a payment is not confirmed yet, even after a changed total', async () => {
    await toPayment();
    const state = { busy: null, error: null, notice: paywall.pending };
    const pending = { state, label: 'Join', sum: '$96', disabled: false, notice: 'The total is now $96.' };
    const drawn = await draw(<PayButton {...pending} />);
    expect(text(drawn.host)).toContain(paywall.pending);
    await drawn.remove();
  });

  it('offers to load Stripe’s script again when it fails', async () => {
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {});
    await openSignedIn();
    await settle(() => expect(tag()).not.toBeNull());
    await act(async () => tag()?.dispatchEvent(new Event('error')));
    await settle(() => expect(alerts()).toEqual(['The card form didn’t load.Try again']));
    await click(button('Try again'));
    await act(async () => tag()?.dispatchEvent(new Event('load')));
    await settle(() => expect(sheet().querySelector('[data-fake-element]')).not.toBeNull());
    errors.mockRestore();
  });
});

describe('where tax is the same throughout a country', () => {
  it('the paywall quotes for the country that the reader seems to be in, without asking', async () => {
    answers['/api/v1/checkout/plans'] = () =>
      json({ ...plansAnswer, scriptUrl: scriptUrl(), tax: true, country: 'GB' });
    const tax = { amount: 2000, included: true };
    await toPayment();
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(12_000, { tax: { today: tax, renewal: tax } }));
    await settle(() => expect(bodies('/checkout/quote').at(-1)).toMatchObject({ address: { country: 'GB' } }));
  });
});
