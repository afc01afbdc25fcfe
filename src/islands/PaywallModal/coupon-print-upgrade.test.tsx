// @vitest-environment jsdom
import { act } from 'react';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { button, click, field, named, press, settle, submit, type } from '../shared/testing.tsx';
import { bought, plansAnswer, quoteOf, renewal, subscriptionOf } from './testing.ts';
import {
  alerts,
  answers,
  bodies,
  closeAll,
  json,
  loadScript,
  openSignedIn,
  openStep,
  pay,
  reset,
  scriptUrl,
  sheet,
  standard,
  startServer,
  step,
  stopServer,
  stripe,
  text,
  toPayment,
} from './testing-paywall.tsx';
import { closeAfterPayment, onServer } from './testing-session.ts';

vi.mock('../../stores/session.ts', () => import('./testing-session.ts'));
vi.mock('./after-payment.ts', () => import('./testing-session.ts'));

beforeAll(startServer);
beforeEach(reset);
afterEach(closeAll);
afterAll(stopServer);

describe('the coupon', () => {
  it('is applied, removed, and refused when it has expired', async () => {
    await toPayment();
    const apply = () => button('Apply');
    expect(apply().disabled).toBe(true);
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(9600));
    await type(field(/^Coupon/), 'sunshine20');
    expect(apply().disabled).toBe(false);
    await press(field(/^Coupon/), 'Enter');
    await settle(() => expect(text(sheet())).toContain('SUNSHINE20 takes 20% off'));
    await settle(() => expect(text(pay())).toBe('Join the Sun$96'));
    expect(stripe.options.at(-1)).toMatchObject({ amount: 9600 });
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(12_000));
    await click(button('Remove the coupon'));
    await settle(() => expect(text(pay())).toBe('Join the Sun$120'));
    answers['/api/v1/checkout/get-coupon'] = () => json({ error: 'This coupon has expired.' }, 404);
    await type(field(/^Coupon/), 'OLD');
    await click(apply());
    await settle(() => expect(alerts()).toEqual(['This coupon has expired.']));
    expect(field(/^Coupon/).value).toBe('OLD');
    await type(field(/^Coupon/), 'OLDER');
    expect(alerts()).toEqual([]);
    expect(apply().disabled).toBe(false);
    expect(bodies('/subscribe')).toEqual([]);
  });

  it('keeps the focus in its own controls when it is applied, refused or removed', async () => {
    await toPayment();
    answers['/api/v1/checkout/get-coupon'] = () => json({ error: 'This coupon has expired.' }, 404);
    await type(field(/^Coupon/), 'OLD');
    button('Apply').focus();
    await click(button('Apply'));
    await settle(() => expect(alerts()).toEqual(['This coupon has expired.']));
    expect(document.activeElement).toBe(field(/^Coupon/));
    answers['/api/v1/checkout/get-coupon'] = standard()['/api/v1/checkout/get-coupon'] as () => Response;
    await type(field(/^Coupon/), 'sunshine20');
    await click(button('Apply'));
    await settle(() => expect(document.activeElement).toBe(button('Remove the coupon')));
    await click(button('Remove the coupon'));
    await settle(() => expect(document.activeElement).toBe(field(/^Coupon/)));
  });

  it('does not take the focus from another field that the reader moved to while it was checked', async () => {
    await toPayment();
    const elsewhere = document.createElement('input');
    sheet().append(elsewhere);
    const coupon = standard()['/api/v1/checkout/get-coupon'] as () => Response;
    answers['/api/v1/checkout/get-coupon'] = () => {
      elsewhere.focus();
      return coupon();
    };
    await type(field(/^Coupon/), 'sunshine20');
    await click(button('Apply'));
    await settle(() => expect(text(sheet())).toContain('SUNSHINE20 takes 20% off'));
    expect(document.activeElement).toBe(elsewhere);
  });

  it('that makes the first payment free still requires a card', async () => {
    await toPayment();
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(0));
    await type(field(/^Coupon/), 'FREEYEAR');
    await click(button('Apply'));
    await settle(() => expect(text(pay())).toBe('Join the Sun$0'));
    expect(stripe.options.at(-1)).toMatchObject({ mode: 'setup' });
  });

  it('is remembered and applied when the paywall opens', async () => {
    const { keepDraft } = await import('../../stores/paywall.ts');
    keepDraft({ coupon: 'SUNSHINE20' });
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(9600));
    await toPayment();
    await settle(() => expect(text(sheet())).toContain('SUNSHINE20 takes 20% off'));
  });
});

describe('the penny promotion', () => {
  it('shows the spec’s wording and the total of $0.60', async () => {
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(60));
    await toPayment({ planId: 'reader-penny' });
    expect(document.getElementById(sheet().getAttribute('aria-labelledby') ?? '')?.textContent).toBe(
      'Read the Sun for a PENNY A DAY',
    );
    expect(text(sheet())).toContain('$0.01/DayFull dues ($120/year) billed after 60 days');
    expect(text(pay())).toBe('Join the Sun$0.60');
  });
});

describe('a print subscription', () => {
  const address = {
    line1: '1 Pearl St',
    line2: null,
    city: 'New York',
    state: 'NY',
    postal_code: '10004',
    country: 'US',
  };

  it('asks for the shipping address in step 2 and for payment in step 3', async () => {
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(28_000));
    await openSignedIn({ planId: 'member-print-yearly' });
    await loadScript();
    expect(openStep()).toBe('shipping');
    const fields = stripe.elements.find((one) => one.type === 'address');
    expect(fields?.options).toMatchObject({ mode: 'shipping', allowedCountries: ['US'], fields: { phone: 'always' } });
    expect(step('shipping').querySelector<HTMLButtonElement>('button[type="submit"]')?.disabled).toBe(true);
    await act(async () => stripe.fill('address', { name: 'Ada Lovelace', address, phone: '+12125550183' }));
    await submit(step('shipping').querySelector('form') as HTMLFormElement);
    await settle(() => expect(openStep()).toBe('payment'));
    const { line2: _, ...plain } = address;
    expect(bodies('/me/shipping').at(-1)).toEqual({ name: 'Ada Lovelace', address: plain, phone: '+12125550183' });
    expect(document.activeElement?.textContent).toBe('Step 3 of 3: Payment');
    expect(text(step('shipping'))).toContain('Ada Lovelace, 1 Pearl St, New York');
    await settle(() => expect(stripe.elements.some((one) => one.type === 'payment')).toBe(true));
    await act(async () => stripe.fill());
    expect(pay().disabled).toBe(false);
    await click(button('Edit shipping'));
    expect(openStep()).toBe('shipping');
  });

  it('is taxed at the shipping address, which is asked for only once', async () => {
    answers['/api/v1/checkout/plans'] = () =>
      json({ ...plansAnswer, scriptUrl: scriptUrl(), tax: true, country: 'US' });
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(28_000, { needs: 'address' }));
    await openSignedIn({ planId: 'member-print-yearly' });
    await loadScript();
    await act(async () => stripe.fill('address', { name: 'Ada Lovelace', address, phone: '+12125550183' }));
    const tax = { amount: 2485, included: false };
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(30_485, { tax: { today: tax, renewal: tax } }));
    await submit(step('shipping').querySelector('form') as HTMLFormElement);
    await settle(() => expect(openStep()).toBe('payment'));
    const place = { country: 'US', postal_code: '10004' };
    await settle(() => expect(text(pay())).toBe('Join the Sun$304.85'));
    expect(bodies('/checkout/quote').at(-1)).toMatchObject({ address: place });
    expect(text(step('payment'))).not.toContain('Where you live');
    // The card's own address is filled in, and can be changed.
    const fields = stripe.elements.find(({ type }) => type === 'payment');
    expect(fields?.options).toMatchObject({ defaultValues: { billingDetails: { address: place } } });
    answers['/api/v1/me/subscription'] = () => json({ subscription: subscriptionOf('member-print-yearly') });
    await act(async () => stripe.fill());
    await submit(pay().form as HTMLFormElement);
    await settle(() => expect(closeAfterPayment).toHaveBeenCalledOnce());
    expect(bodies('/stripe/subscribe')).toEqual([expect.objectContaining({ address: place, expected: 30_485 })]);
  });

  it('shows the server’s message when the shipping address could not be saved', async () => {
    await openSignedIn({ planId: 'member-print-yearly' });
    await loadScript();
    await act(async () => stripe.fill('address', { name: 'Ada', address }));
    answers['/api/v1/me/shipping'] = () => json({ message: 'We deliver within the United States.' }, 400);
    await submit(step('shipping').querySelector('form') as HTMLFormElement);
    await settle(() => expect(alerts()).toEqual(['We deliver within the United States.']));
    expect(openStep()).toBe('shipping');
  });
});

describe('a reader who has a subscription', () => {
  beforeEach(() => {
    onServer.product = 'reader';
    answers['/api/v1/me/subscription'] = () => json({ subscription: subscriptionOf('member-yearly') });
  });

  it('sees the credit and the amount due for an upgrade, and pays with the card on file', async () => {
    answers['/api/v1/checkout/quote'] = () =>
      json(
        quoteOf(8022, {
          kind: 'upgrade',
          prorationDate: 1_795_000_000,
          subscriptionId: 'sub_1',
          dueAfterRenewal: 20_000,
          lines: [
            { description: 'Unused time on Sun Reader', amount: -11_978 },
            { description: 'Remaining time on Sun Member', amount: 20_000 },
          ],
        }),
      );
    await openSignedIn({ planId: 'member-yearly' });
    await settle(() => expect(text(sheet())).toContain('Unused time on Sun Reader −$119.78'));
    expect(document.querySelector('[data-fake-element]')).toBeNull();
    const upgrade = named<HTMLButtonElement>('button', 'Upgrade$80.22');
    await submit(upgrade.form as HTMLFormElement);
    await settle(() => expect(closeAfterPayment).toHaveBeenCalledOnce());
    expect(bodies('/subscription/switch')).toEqual([
      {
        plan_id: 'member-yearly',
        prorationDate: 1_795_000_000,
        subscriptionId: 'sub_1',
        expected: 8022,
        attempt: expect.any(String),
      },
    ]);
  });

  it('downgrades at the renewal', async () => {
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(0, { kind: 'downgrade' }));
    answers['/api/v1/me/subscription/switch'] = () => json({ ...bought({ grant_id: null }), effective: 'renewal' });
    await openSignedIn({ planId: 'reader-monthly' });
    await settle(() => expect(text(sheet())).toContain('current plan until November 21, 2027'));
    await submit(button('Change at renewal').form as HTMLFormElement);
    await settle(() => expect(closeAfterPayment).toHaveBeenCalledExactlyOnceWith(null, 'ada@example.com', 'downgrade'));
  });

  it('cannot buy the same plan again', async () => {
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(0, { kind: 'same', renewalDate: renewal }));
    await openSignedIn({ planId: 'reader-yearly' });
    await settle(() => expect(text(sheet())).toContain('This is your current plan.'));
    expect(sheet().querySelector('[data-step="payment"] button[type="submit"]')).toBeNull();
  });

  it('gets a link to update the card when it is declined', async () => {
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {});
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(8022, { kind: 'upgrade' }));
    answers['/api/v1/me/subscription/switch'] = () => json({ message: 'Your card was declined.' }, 402);
    await openSignedIn({ planId: 'member-yearly' });
    await settle(() => expect(named<HTMLButtonElement>('button', 'Upgrade$80.22').disabled).toBe(false));
    await submit(named<HTMLButtonElement>('button', 'Upgrade$80.22').form as HTMLFormElement);
    await settle(() => expect(alerts()).toHaveLength(1));
    expect(named('a', 'Update your card').getAttribute('href')).toBe('/account/card');
    errors.mockRestore();
  });
});
