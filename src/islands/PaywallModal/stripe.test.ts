// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { paywall } from '../../lib/plans/messages.ts';
import { publication } from '../../publication.ts';
import { authenticate, cardFieldOptions, cardOptions, elementsOptions, expressOptions } from './stripe.ts';

const src = 'https://js.stripe.example/stripe.js';
const tags = () => [...document.querySelectorAll<HTMLScriptElement>(`script[src="${src}"]`)];
const brings = (Stripe: unknown) => {
  Object.assign(window, { Stripe });
  tags().at(-1)?.dispatchEvent(new Event('load'));
};

let load: typeof import('./stripe.ts').loadStripe;
beforeEach(async () => {
  vi.resetModules();
  ({ loadStripe: load } = await import('./stripe.ts'));
});
afterEach(() => {
  vi.useRealTimers();
  for (const tag of tags()) tag.remove();
  Reflect.deleteProperty(window, 'Stripe');
});

describe('Stripe’s script', () => {
  it('is loaded once, and makes one Stripe object for each key', async () => {
    const make = vi.fn((key: string) => ({ key }));
    const [first, second] = [load(src, 'pk_test_1'), load(src, 'pk_test_1')];
    expect(tags()).toHaveLength(1);
    brings(make);
    expect(await first).toBe(await second);
    expect(make).toHaveBeenCalledExactlyOnceWith('pk_test_1');
    expect(await load(src, 'pk_test_2')).toEqual({ key: 'pk_test_2' });
    expect(tags()).toHaveLength(1);
  });

  it('is loaded again after it failed', async () => {
    const first = load(src, 'pk_test_1');
    tags()[0]?.dispatchEvent(new Event('error'));
    await expect(first).rejects.toThrow('could not be loaded');
    expect(tags()).toHaveLength(0);
    const again = load(src, 'pk_test_1');
    expect(tags()).toHaveLength(1);
    brings((key: string) => ({ key }));
    expect(await again).toEqual({ key: 'pk_test_1' });
  });

  it('counts as failed when it defines nothing, and is loaded again', async () => {
    const first = load(src, 'pk_test_1');
    brings(undefined);
    await expect(first).rejects.toThrow('could not be loaded');
    const again = load(src, 'pk_test_1');
    expect(tags()).toHaveLength(1);
    brings((key: string) => ({ key }));
    expect(await again).toEqual({ key: 'pk_test_1' });
  });

  it('is given up when it has not loaded after 30 seconds', async () => {
    vi.useFakeTimers();
    const first = load(src, 'pk_test_1');
    const end = expect(first).rejects.toThrow('took too long');
    await vi.advanceTimersByTimeAsync(30_000);
    await end;
  });
});

const forms = [
  ['a purchase', elementsOptions(1200, 'usd'), { mode: 'subscription', amount: 1200, paymentMethodCreation: 'manual' }],
  ['a purchase with nothing due now', elementsOptions(0, 'usd'), { mode: 'setup', paymentMethodCreation: 'manual' }],
  ['a new card', cardOptions('usd'), { mode: 'setup' }],
] as const;

it.each(forms)('the Stripe form for %s allows the configured payment methods', (_what, options, rest) => {
  expect(options).toMatchObject({
    ...rest,
    currency: 'usd',
    allowedPaymentMethodTypes: publication.billing.paymentMethodTypes,
  });
  // Stripe.js of this release throws if it gets this option.
  expect(options).not.toHaveProperty('paymentMethodTypes');
});

it('Apple Pay, Google Pay and Link have one button each, and none inside the card form', () => {
  expect(cardFieldOptions.wallets).toEqual({ applePay: 'never', googlePay: 'never' });
  const { paymentMethods = {} } = expressOptions;
  const shown = Object.entries(paymentMethods).filter(([, when]) => when !== 'never');
  expect(shown.map(([name]) => name)).toEqual(['applePay', 'googlePay', 'link']);
  expect(expressOptions).toMatchObject({ billingAddressRequired: true, emailRequired: false });
});

describe('the bank’s authentication', () => {
  /** Stripe.js, which throws because the intent needs no action. */
  const asked = (answer: () => Promise<object>) => {
    const handleNextAction = async () => {
      throw new Error('handleNextAction: The PaymentIntent supplied is not in the requires_action state.');
    };
    const stripe = { handleNextAction, retrievePaymentIntent: answer, retrieveSetupIntent: answer };
    return authenticate(stripe as unknown as Parameters<typeof authenticate>[0]);
  };

  it.each([
    ['pi_1_secret_2', 'paymentIntent', 'succeeded', true],
    ['seti_1_secret_2', 'setupIntent', 'succeeded', true],
    ['pi_1_secret_2', 'paymentIntent', 'processing', true],
    ['pi_1_secret_2', 'paymentIntent', 'requires_payment_method', false],
  ])('that %s no longer needs is decided by its %s: %s', async (secret, name, status, ok) => {
    expect(await asked(async () => ({ [name]: { status } }))(secret)).toMatchObject({ ok });
  });

  it('ends with the offline message when Stripe cannot be reached', async () => {
    const offline = { ok: false, message: paywall.offline };
    expect(await asked(async () => Promise.reject(new Error('offline')))('pi_1_secret_2')).toMatchObject(offline);
    expect(await asked(async () => ({ error: { type: 'api_error' } }))('pi_1_secret_2')).toMatchObject(offline);
  });
});
