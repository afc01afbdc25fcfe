/** The card form's side of a payment: Stripe's answers, which are values already, in the words of payment.ts. */
import type { Stripe, StripeElements, StripeError } from '@stripe/stripe-js';
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

export const cardForm = (stripe: Stripe, elements: StripeElements, email: string | null): CardForm => ({
  authenticate: authenticate(stripe),
  paymentMethod: () =>
    guarded<string>(async () => {
      const checked = await elements.submit();
      if (checked.error) return no(checked.error);
      const made = await stripe.createPaymentMethod({
        elements,
        ...(email && { params: { billing_details: { email } } }),
      });
      return made.error ? no(made.error) : { ok: true, value: made.paymentMethod.id };
    }),
});
