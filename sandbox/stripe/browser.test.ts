/** The stand-in for Stripe.js where no page is needed: what it refuses before anything is drawn or sent. */
import type { StripeElements, Stripe as StripeJs } from '@stripe/stripe-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { script } from './browser.ts';
import { errorOf, type Fixture, openFixture } from './testing.ts';

let fixture: Fixture;
let stripeJs: StripeJs;
beforeAll(async () => {
  fixture = await openFixture();
  stripeJs = load(fixture)(fixture.access.publishableKey);
});
afterAll(() => fixture.stop());

/** Runs the script as a page would. */
function load({ access }: Fixture): (key: string) => StripeJs {
  const window: { Stripe?: (key: string) => StripeJs } = {};
  const page = { currentScript: { src: access.scriptUrl } };
  new Function('window', 'document', script())(window, page);
  if (!window.Stripe) throw new Error('The script has left no Stripe.');
  return window.Stripe;
}

const group = {
  mode: 'setup' as const,
  currency: 'usd',
  allowedPaymentMethodTypes: ['card'],
};
/** Options that the declarations refuse, as old code might still pass them. */
const old = <T>(options: unknown): T => options as T;
const made = (): StripeElements => stripeJs.elements({ ...group });

/** A client secret of the kind of intent that the function doesn't accept. */
const otherSecret = (name: string): string => (name.includes('Setup') ? 'pi_1_secret_1' : 'seti_1_secret_1');
const wrongSecret = (name: string): RegExp =>
  new RegExp(`for stripe\\.${name} intent secret: value should be a client secret of the form \\$\\{id\\}_secret_`);

type Refused = [name: string, call: () => unknown, message: RegExp];
const refused: Refused[] = [
  // The former name of the option for payment methods.
  [
    'elements() with paymentMethodTypes',
    () => stripeJs.elements(old({ ...group, allowedPaymentMethodTypes: undefined, paymentMethodTypes: ['card'] })),
    /paymentMethodTypes/,
  ],
  ['elements() with an unknown mode', () => stripeJs.elements(old({ ...group, mode: 'gift' })), /mode/],
  [
    'elements() with a string as the amount',
    () => stripeJs.elements(old({ ...group, mode: 'payment', amount: '100' })),
    /amount/,
  ],
  ['elements.update() with an unknown option', () => made().update(old({ banana: 1 })), /banana/],
  ['elements.create() with an unknown element', () => made().create(old('banana')), /valid Element name/],
  ['elements.create() with an unknown option', () => made().create('payment', old({ banana: 1 })), /banana/],
  [
    'elements.create() with an invalid value of an option',
    () => made().create('payment', old({ wallets: { applePay: 'perhaps' } })),
    /applePay/,
  ],
  [
    'update() of an element with an unknown option',
    () =>
      made()
        .create('payment')
        .update(old({ banana: 1 })),
    /banana/,
  ],
  // Options that the wallets' buttons don't take.
  [
    'an Express Checkout Element with an unknown option',
    () => made().create('expressCheckout', old({ paymentMethodTypes: ['card'] })),
    /paymentMethodTypes/,
  ],
  [
    'an Express Checkout Element with an invalid value of an option',
    () => made().create('expressCheckout', old({ paymentMethods: { link: 'always' } })),
    /paymentMethods/,
  ],
  [
    'an Express Checkout Element with buttons that are too tall',
    () => made().create('expressCheckout', { buttonHeight: 60 }),
    /buttonHeight/,
  ],
  [
    'an Express Checkout Element with a contradictory layout',
    () => made().create('expressCheckout', { layout: { maxRows: 1, overflow: 'never' } }),
    /maxRows/,
  ],
  [
    'a listener for an event that the element does not have',
    () =>
      made()
        .create('expressCheckout')
        .on(old('change'), () => {}),
    /"change" is not one of/,
  ],
  ['submit() with an argument', () => (made().submit as (given: unknown) => unknown)({}), /no arguments/],
  [
    'createPaymentMethod() with an unknown option',
    () => stripeJs.createPaymentMethod(old({ elements: made(), banana: 1 })),
    /banana/,
  ],
  [
    'confirmPayment() with an unknown option',
    () =>
      stripeJs.confirmPayment(
        old({ elements: made(), clientSecret: 'pi_1_secret_1', redirect: 'if_required', banana: 1 }),
      ),
    /banana/,
  ],
  [
    'confirmSetup() with an unknown parameter',
    () =>
      stripeJs.confirmSetup(
        old({
          elements: made(),
          clientSecret: 'seti_1_secret_1',
          redirect: 'if_required',
          confirmParams: { banana: 1 },
        }),
      ),
    /banana/,
  ],
  ...(['confirmCardPayment', 'confirmCardSetup'] as const).map(
    (name): Refused => [
      `${name}() with an unknown parameter`,
      () => stripeJs[name](name === 'confirmCardSetup' ? 'seti_1_secret_1' : 'pi_1_secret_1', old({ banana: 1 })),
      /banana/,
    ],
  ),
  ['retrievePaymentIntent() without a secret', () => stripeJs.retrievePaymentIntent(old(undefined)), /not string/],
  ['retrieveSetupIntent() without a secret', () => stripeJs.retrieveSetupIntent(old(undefined)), /not string/],
  // Secrets of the other kind of intent.
  ...(['confirmPayment', 'confirmSetup'] as const).map(
    (name): Refused => [
      `${name}() with the other kind of intent`,
      () => stripeJs[name]({ elements: made(), clientSecret: otherSecret(name), redirect: 'if_required' }),
      wrongSecret(name),
    ],
  ),
  ...(['confirmCardPayment', 'confirmCardSetup', 'retrievePaymentIntent', 'retrieveSetupIntent'] as const).map(
    (name): Refused => [
      `${name}() with the other kind of intent`,
      () => stripeJs[name](otherSecret(name)),
      wrongSecret(name),
    ],
  ),
];

/** The error with which a call is refused, thrown or rejected. */
async function refusalOf(call: () => unknown): Promise<Error> {
  try {
    await call();
  } catch (error) {
    return error as Error;
  }
  throw new Error('Nothing was refused.');
}

describe('the Stripe.js stand-in', () => {
  it.each(refused)('reports an IntegrationError for %s', async (_name, call, message) => {
    const error = await refusalOf(call);
    expect(error.name).toBe('IntegrationError');
    expect(error.message).toMatch(message);
  });

  it('accepts options that the type declarations allow', () => {
    const elements = stripeJs.elements({ ...group, appearance: { theme: 'stripe' }, paymentMethodCreation: 'manual' });
    elements.create('payment', { layout: 'tabs', wallets: { applePay: 'never', googlePay: 'auto' } });
    elements.update({ locale: 'en' });
    expect(elements.getElement('payment')).not.toBeNull();
  });
});

describe('a Stripe intent', () => {
  const confirm = (elements: StripeElements, clientSecret: string | null) => () =>
    stripeJs.confirmSetup({ elements, clientSecret: clientSecret ?? '', redirect: 'if_required' });
  const setup = async (more: object) => {
    const { id: customer } = await fixture.createPayingCustomer();
    return (await fixture.stripe.setupIntents.create({ customer, ...more })).client_secret;
  };

  it('cannot be confirmed unless it allows the same payment methods as the elements', async () => {
    const error = await refusalOf(confirm(made(), await setup({})));
    expect(error).toMatchObject({
      name: 'IntegrationError',
      message: expect.stringMatching(/allowedPaymentMethodTypes/),
    });
  });

  it('confirmed on the server needs a return URL, or payment methods that stay on the page', async () => {
    const { stripe } = fixture;
    const { id: customer } = await fixture.createPayingCustomer();
    const confirm = { customer, confirm: true, payment_method: 'pm_card_visa' };
    expect(await errorOf(stripe.setupIntents.create(confirm))).toMatchObject({ statusCode: 400, param: 'return_url' });
    const made = await stripe.setupIntents.create({ ...confirm, allowed_payment_method_types: ['card'] });
    expect(made.status).toBe('succeeded');
    expect(made.allowed_payment_method_types).toEqual(['card']);
  });

  it('cannot be confirmed unless its usage matches that of the elements', async () => {
    const secret = await setup({ allowed_payment_method_types: ['card'], usage: 'on_session' });
    expect((await refusalOf(confirm(made(), secret))).message).toMatch(/setupFutureUsage/);
  });

  it('cannot be confirmed unless its amount, currency and mode match those of the elements', async () => {
    const { client_secret: clientSecret } = await fixture.stripe.paymentIntents.create({
      amount: 1200,
      currency: 'usd',
    });
    for (const [given, message] of [
      [{ mode: 'payment', amount: 1300, currency: 'usd' }, /amount/],
      [{ mode: 'payment', amount: 1200, currency: 'eur' }, /currency/],
      [{ mode: 'setup', currency: 'usd' }, /mode/],
    ] as const) {
      const elements = stripeJs.elements(given);
      const call = () =>
        stripeJs.confirmPayment({ elements, clientSecret: clientSecret ?? '', redirect: 'if_required' });
      expect((await refusalOf(call)).message).toMatch(message);
    }
  });
});

it('handleNextAction is refused for an intent that requires no action', async () => {
  const { id: customer } = await fixture.stripe.customers.create({});
  const method = { customer, payment_method: 'pm_card_visa', allowed_payment_method_types: ['card'] };
  const intent = await fixture.stripe.setupIntents.create({ ...method, confirm: true });
  expect(intent.status).toBe('succeeded');
  const asked = stripeJs.handleNextAction({ clientSecret: intent.client_secret ?? '' });
  await expect(asked).rejects.toThrow('not in the requires_action state');
});
