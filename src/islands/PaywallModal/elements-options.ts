/**
 * What Stripe.js is told when a card form is made. Stripe.js throws at an option that it doesn't know, and Stripe compares the ways to
 * pay with those of the payment: both come from `publication.billing.paymentMethodTypes`.
 */
import type {
  StripeElementsOptionsMode,
  StripeExpressCheckoutElementOptions,
  StripePaymentElementOptions,
} from '@stripe/stripe-js';
import type { TaxAddress } from '../../lib/billing/wire.ts';
import { publication } from '../../publication.ts';
import { appearance } from './appearance.ts';

const common = (currency: string) =>
  ({
    currency,
    paymentMethodCreation: 'manual',
    allowedPaymentMethodTypes: [...publication.billing.paymentMethodTypes],
    appearance: typeof document === 'undefined' ? {} : appearance(),
  }) satisfies Partial<StripeElementsOptionsMode>;

/**
 * For a purchase. Nothing due: the card is only kept.
 *
 * @param due minor units
 */
export const elementsOptions = (due: number, currency: string): StripeElementsOptionsMode =>
  due > 0 ? { ...common(currency), mode: 'subscription', amount: due } : { ...common(currency), mode: 'setup' };

/** For a card that replaces another: the setup intent makes its payment method. */
export const cardOptions = (currency: string): StripeElementsOptionsMode => ({
  mode: 'setup',
  currency,
  allowedPaymentMethodTypes: [...publication.billing.paymentMethodTypes],
  appearance: typeof document === 'undefined' ? {} : appearance(),
});

/** Wallets' buttons: those that pay with a card, which is all that `paymentMethodTypes` allows. */
export const expressOptions: StripeExpressCheckoutElementOptions = {
  billingAddressRequired: true,
  // The account's address is known.
  emailRequired: false,
  buttonHeight: 48,
  buttonTheme: { applePay: 'black', googlePay: 'black' },
  buttonType: { applePay: 'plain', googlePay: 'plain' },
  layout: { maxColumns: 3, maxRows: 0, overflow: 'never' },
  paymentMethods: {
    applePay: 'auto',
    googlePay: 'auto',
    link: 'auto',
    amazonPay: 'never',
    klarna: 'never',
    paypal: 'never',
  },
};

/** The card's own fields. Apple Pay and Google Pay have their buttons above them. */
export const cardFieldOptions: StripePaymentElementOptions = {
  layout: { type: 'tabs' },
  wallets: { applePay: 'never', googlePay: 'never' },
};

/** Country and postal code are asked for above the card, where tax depends on them. */
export const cardFieldsWithoutPlace: StripePaymentElementOptions = {
  ...cardFieldOptions,
  fields: { billingDetails: { address: { country: 'never', postalCode: 'never' } } },
};

/** Filled in with what is known already: most cards' bills go where the printed paper goes. */
export const cardFieldsFor = ({ country, postal_code }: TaxAddress): StripePaymentElementOptions => ({
  ...cardFieldOptions,
  defaultValues: { billingDetails: { address: { country, postal_code: postal_code ?? '' } } },
});
