import { expect, it } from 'vitest';
import { publication } from '../../publication.ts';
import { cardFieldOptions, cardOptions, elementsOptions, expressOptions } from './elements-options.ts';

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
  // Stripe.js of this release throws at it.
  expect(options).not.toHaveProperty('paymentMethodTypes');
});

it('wallets have one button each, above the card, and none needs more than a card', () => {
  expect(cardFieldOptions.wallets).toEqual({ applePay: 'never', googlePay: 'never' });
  const { paymentMethods = {} } = expressOptions;
  const shown = Object.entries(paymentMethods).filter(([, when]) => when !== 'never');
  expect(shown.map(([name]) => name)).toEqual(['applePay', 'googlePay', 'link']);
  expect(expressOptions).toMatchObject({ billingAddressRequired: true, emailRequired: false });
});
