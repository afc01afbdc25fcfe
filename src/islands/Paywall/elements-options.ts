/**
 * What Stripe.js is told when a card form is made. Stripe.js throws at an option that it doesn't know, and Stripe compares the ways to
 * pay with those of the payment: both come from `publication.billing.paymentMethodTypes`.
 */
import type { StripeElementsOptionsMode } from '@stripe/stripe-js';
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
