/** The card form's side of a payment: Stripe's answers, which are values already, in the words of payment.ts. */
import type { PaymentMethodCreateParams, Stripe, StripeElements, StripeError } from '@stripe/stripe-js';
import type { TaxAddress } from '../../lib/billing/wire.ts';
import { messages } from './messages.ts';
import type { CardForm, Made } from './payment.ts';

/** What is not filled in rightly, the fields say themselves. */
const no = (error: StripeError): Made<never> => ({
  ok: false,
  message: error.message ?? messages.paymentFailed,
  shown: error.type === 'validation_error',
});

/** A line that is cut throws in the midst of a call. */
async function guarded<T>(action: () => Promise<Made<T>>): Promise<Made<T>> {
  try {
    return await action();
  } catch {
    return { ok: false, message: messages.offline, shown: false };
  }
}

/** Lets the reader prove to the bank who they are: for a payment, and for a card that is only kept. */
export const authenticate =
  (stripe: Stripe) =>
  (clientSecret: string): Promise<Made<null>> =>
    guarded<null>(async () => {
      const { error } = await stripe.handleNextAction({ clientSecret });
      return error ? no(error) : { ok: true, value: null };
    });

/** What the form doesn't ask for, since it is known. */
export interface KnownBuyer {
  readonly email: string | null;
  readonly address: TaxAddress | null;
}

export const cardForm = (stripe: Stripe, elements: StripeElements, { email, address }: KnownBuyer): CardForm => ({
  authenticate: authenticate(stripe),
  paymentMethod: () =>
    guarded<string>(async () => {
      const checked = await elements.submit();
      if (checked.error) return no(checked.error);
      const details: PaymentMethodCreateParams.BillingDetails = {};
      if (email) details.email = email;
      if (address) details.address = { country: address.country, postal_code: address.postal_code ?? '' };
      const made = await stripe.createPaymentMethod({ elements, params: { billing_details: details } });
      return made.error ? no(made.error) : { ok: true, value: made.paymentMethod.id };
    }),
});
