/** Stripe.js: loading it, the options of its forms, and its answers as values. */
import type {
  Appearance,
  PaymentMethodCreateParams,
  Stripe,
  StripeConstructor,
  StripeElements,
  StripeElementsOptionsMode,
  StripeError,
  StripeExpressCheckoutElementOptions,
  StripePaymentElementOptions,
} from '@stripe/stripe-js';
import type { TaxAddress } from '../../lib/billing/schema.ts';
import { paywall as messages } from '../../lib/plans/messages.ts';
import { loadScriptOnce } from '../../lib/third-party/load-script.ts';
import { publication } from '../../publication.ts';
import type { CardForm, CardResult } from './payment.ts';

/** How long to wait for the script, milliseconds. */
const loadTimeoutMs = 30_000;

const objects = new Map<string, Promise<Stripe>>();

/**
 * Stripe's object for a key, one per page. Stripe.js may be neither bundled nor self-hosted, and `loadStripe` of @stripe/stripe-js
 * supports only one address; this function takes the address.
 *
 * @throws when the script can't be loaded; the next call fetches it again
 */
export function loadStripe(scriptUrl: string, publishableKey: string): Promise<Stripe> {
  const name = `${scriptUrl} ${publishableKey}`;
  let stripe = objects.get(name);
  if (!stripe) {
    stripe = createStripe(scriptUrl, publishableKey);
    objects.set(name, stripe);
    stripe.catch(() => objects.delete(name));
  }
  return stripe;
}

async function createStripe(scriptUrl: string, publishableKey: string): Promise<Stripe> {
  const script = await loadScriptOnce(scriptUrl, { timeout: loadTimeoutMs, defines: 'Stripe' });
  if (!script.ok)
    throw new Error(`Stripe.js ${script.why === 'timeout' ? 'took too long to load' : 'could not be loaded'}.`);
  return (window as unknown as { Stripe: StripeConstructor }).Stripe(publishableKey);
}

/**
 * Options of a card form. Stripe.js throws at an unknown option, and the payment methods have to match those of the payment: both come
 * from `publication.billing.paymentMethodTypes`.
 */
const common = (currency: string) =>
  ({
    currency,
    allowedPaymentMethodTypes: [...publication.billing.paymentMethodTypes],
    appearance: typeof document === 'undefined' ? {} : appearance(),
  }) satisfies Partial<StripeElementsOptionsMode>;

/** For a purchase. If nothing is due, the card is only saved. @param due minor units */
export function elementsOptions(due: number, currency: string): StripeElementsOptionsMode {
  const options = { ...common(currency), paymentMethodCreation: 'manual' } as const;
  return due > 0 ? { ...options, mode: 'subscription', amount: due } : { ...options, mode: 'setup' };
}

/** For a card that replaces another: the setup intent makes its payment method. */
export const cardOptions = (currency: string): StripeElementsOptionsMode => ({
  ...common(currency),
  mode: 'setup',
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

/** If tax depends on the address, the form has its own fields for country and postal code. */
export const cardFieldsWithoutPlace: StripePaymentElementOptions = {
  ...cardFieldOptions,
  fields: { billingDetails: { address: { country: 'never', postalCode: 'never' } } },
};

/** Filled in with the shipping address, which is the billing address of most cards. */
export const cardFieldsFor = ({ country, postal_code }: TaxAddress): StripePaymentElementOptions => ({
  ...cardFieldOptions,
  defaultValues: { billingDetails: { address: { country, postal_code: postal_code ?? '' } } },
});

/** The site's colors for Stripe's frames, which our styles can't reach. */
export function appearance(): Appearance {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string, otherwise: string) => style.getPropertyValue(name).trim() || otherwise;
  const ink = token('--ink', '#16140f');
  const faint = token('--ink-faint', '#66625a');
  const focus = token('--focus', '#0b57a4');
  return {
    theme: 'flat',
    variables: {
      colorPrimary: ink,
      colorBackground: token('--paper-raised', '#fffefa'),
      colorText: ink,
      colorTextSecondary: token('--ink-soft', '#45423a'),
      colorTextPlaceholder: faint,
      colorDanger: token('--red', '#a4141e'),
      fontFamily: 'Libre Franklin, Helvetica Neue, Arial, sans-serif',
      fontSizeBase: '16px',
      borderRadius: '2px',
      spacingUnit: '4px',
      focusBoxShadow: `0 0 0 3px ${focus}`,
    },
    rules: {
      '.Input': { border: `1px solid ${faint}`, padding: '12px' },
      '.Input:focus': { borderColor: ink },
      '.Label': { fontWeight: '600', fontSize: '15px', marginBottom: '6px' },
      '.Tab': { border: `1px solid ${token('--rule', '#d9d4c6')}` },
      '.Tab--selected': { borderColor: ink, color: ink },
    },
  };
}

/** Validation errors are shown by the fields themselves. */
const failureOf = (error: StripeError): CardResult<never> => ({
  ok: false,
  message: error.message ?? messages.paymentFailed,
  shown: error.type === 'validation_error',
});

/** The result of a call to Stripe.js, which throws if the connection is lost. */
export async function guarded<T>(action: () => Promise<CardResult<T>>): Promise<CardResult<T>> {
  try {
    return await action();
  } catch {
    return { ok: false, message: messages.offline, shown: false };
  }
}

/** Lets the reader confirm with the bank, for a payment or for a saved card. */
export const authenticate =
  (stripe: Stripe) =>
  (clientSecret: string): Promise<CardResult<null>> =>
    guarded<null>(async () => {
      try {
        const { error } = await stripe.handleNextAction({ clientSecret });
        return error ? failureOf(error) : { ok: true, value: null };
      } catch (error) {
        // Stripe.js throws if nothing is left to confirm, for example after another tab has confirmed.
        const status = await statusOf(stripe, clientSecret);
        if (status === 'succeeded' || status === 'processing') return { ok: true, value: null };
        if (status === 'requires_payment_method') return { ok: false, message: messages.paymentFailed, shown: false };
        throw error;
      }
    });

async function statusOf(stripe: Stripe, clientSecret: string): Promise<string | undefined> {
  if (clientSecret.startsWith('seti_')) return (await stripe.retrieveSetupIntent(clientSecret)).setupIntent?.status;
  return (await stripe.retrievePaymentIntent(clientSecret)).paymentIntent?.status;
}

/** Known data that the form doesn't ask for. */
export interface KnownBuyer {
  readonly email: string | null;
  readonly address: TaxAddress | null;
}

export const cardForm = (stripe: Stripe, elements: StripeElements, { email, address }: KnownBuyer): CardForm => ({
  authenticate: authenticate(stripe),
  paymentMethod: () =>
    guarded<string>(async () => {
      const checked = await elements.submit();
      if (checked.error) return failureOf(checked.error);
      const details: PaymentMethodCreateParams.BillingDetails = {};
      if (email) details.email = email;
      if (address) details.address = { country: address.country, postal_code: address.postal_code ?? '' };
      const created = await stripe.createPaymentMethod({ elements, params: { billing_details: details } });
      return created.error ? failureOf(created.error) : { ok: true, value: created.paymentMethod.id };
    }),
});
