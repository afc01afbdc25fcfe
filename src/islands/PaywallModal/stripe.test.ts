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
  it('is asked for once, and makes one object for a key', async () => {
    const make = vi.fn((key: string) => ({ key }));
    const [first, second] = [load(src, 'pk_test_1'), load(src, 'pk_test_1')];
    expect(tags()).toHaveLength(1);
    brings(make);
    expect(await first).toBe(await second);
    expect(make).toHaveBeenCalledExactlyOnceWith('pk_test_1');
    expect(await load(src, 'pk_test_2')).toEqual({ key: 'pk_test_2' });
    expect(tags()).toHaveLength(1);
  });

  it('is fetched again after it failed', async () => {
    const first = load(src, 'pk_test_1');
    tags()[0]?.dispatchEvent(new Event('error'));
    await expect(first).rejects.toThrow('could not be loaded');
    expect(tags()).toHaveLength(0);
    const again = load(src, 'pk_test_1');
    expect(tags()).toHaveLength(1);
    brings((key: string) => ({ key }));
    expect(await again).toEqual({ key: 'pk_test_1' });
  });

  it('that brings nothing has failed', async () => {
    const first = load(src, 'pk_test_1');
    brings(undefined);
    await expect(first).rejects.toThrow('defined nothing');
  });

  it('that never comes is given up', async () => {
    vi.useFakeTimers();
    const first = load(src, 'pk_test_1');
    const end = expect(first).rejects.toThrow('took too long');
    await vi.advanceTimersByTimeAsync(30_000);
    await end;
  });
});

const forms = [
  ['a purchase', elementsOptions(1200, 'usd'), { mode: 'subscription', amount: 1200, paymentMethodCreation: 'manual' }],
  ['a purchase for nothing now', elementsOptions(0, 'usd'), { mode: 'setup', paymentMethodCreation: 'manual' }],
  ['another card', cardOptions('usd'), { mode: 'setup' }],
] as const;

it.each(forms)('%s: the form offers what Stripe is told to allow', (_what, options, rest) => {
  expect(options).toMatchObject({
    ...rest,
    currency: 'usd',
    allowedPaymentMethodTypes: publication.billing.paymentMethodTypes,
  });
  // Stripe.js of this release throws if it gets this option.
  expect(options).not.toHaveProperty('paymentMethodTypes');
});

it('wallets have one button each, above the card, and none needs more than a card', () => {
  expect(cardFieldOptions.wallets).toEqual({ applePay: 'never', googlePay: 'never' });
  const { paymentMethods = {} } = expressOptions;
  const shown = Object.entries(paymentMethods).filter(([, when]) => when !== 'never');
  expect(shown.map(([name]) => name)).toEqual(['applePay', 'googlePay', 'link']);
  expect(expressOptions).toMatchObject({ billingAddressRequired: true, emailRequired: false });
});

describe('the bank’s question', () => {
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
  ])('that %s doesn’t ask any more is answered by its %s: %s', async (secret, name, status, ok) => {
    expect(await asked(async () => ({ [name]: { status } }))(secret)).toMatchObject({ ok });
  });

  it('can’t be shown without a connection', async () => {
    const offline = { ok: false, message: paywall.offline };
    expect(await asked(async () => Promise.reject(new Error('offline')))('pi_1_secret_2')).toMatchObject(offline);
    expect(await asked(async () => ({ error: { type: 'api_error' } }))('pi_1_secret_2')).toMatchObject(offline);
  });
});
