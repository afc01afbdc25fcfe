/** Settings of the payment provider. */
import { z } from 'zod';
import { apiAddress } from './fields.ts';

export interface StripeSettings {
  /** `sk_…` or `rk_…`. */
  readonly secretKey: string;
  /** `pk_…`, for browsers. */
  readonly publishableKey: string;
  /** `whsec_…` of the webhook endpoint. */
  readonly webhookSecret: string;
  /** Without a slash at its end. */
  readonly apiUrl: string;
  /** Script that brings the card fields into the browser. */
  readonly scriptUrl: string;
  /** Whether Stripe Tax works out and adds what is due. */
  readonly tax: boolean;
}

export interface BillingConfig {
  /** `null`: nothing is sold. */
  readonly stripe: StripeSettings | null;
}

/** Stripe forbids serving its script from elsewhere; the release is the one that the installed @stripe/stripe-js is typed for. */
export const stripeScript = 'https://js.stripe.com/endive/stripe.js';

const key = (form: RegExp, what: string) =>
  z.string().regex(form, `is no ${what}; copy it from the dashboard of Stripe`);

export const billingFields = {
  STRIPE_SECRET_KEY: key(/^[sr]k_\w+$/, 'secret key (sk_… or rk_…)').optional(),
  STRIPE_PUBLISHABLE_KEY: key(/^pk_\w+$/, 'publishable key (pk_…)').optional(),
  STRIPE_WEBHOOK_SECRET: key(/^whsec_[\w+/=-]+$/, 'secret of a webhook endpoint (whsec_…)').optional(),
  STRIPE_API_URL: apiAddress('https://api.stripe.com'),
  STRIPE_JS_URL: apiAddress(stripeScript),
  STRIPE_TAX: z.enum(['on', 'off'], 'is on or off').optional(),
};

type Values = z.infer<z.ZodObject<typeof billingFields>>;

/** That nothing is missing is {@link billingTogether}'s business. */
export function billingOf(values: Values): BillingConfig {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_PUBLISHABLE_KEY: publishableKey } = values;
  const { STRIPE_WEBHOOK_SECRET: webhookSecret } = values;
  if (!secretKey || !publishableKey || !webhookSecret) return { stripe: null };
  const apiUrl = values.STRIPE_API_URL ?? 'https://api.stripe.com';
  return {
    stripe: {
      secretKey,
      publishableKey,
      webhookSecret,
      apiUrl,
      scriptUrl: values.STRIPE_JS_URL ?? stripeScript,
      tax: values.STRIPE_TAX === 'on',
    },
  };
}

/** Problems of settings that make sense only together. */
export function billingTogether(given: Readonly<Record<string, string>>): string[] {
  const names = ['STRIPE_SECRET_KEY', 'STRIPE_PUBLISHABLE_KEY', 'STRIPE_WEBHOOK_SECRET'];
  const [first] = names.filter((name) => given[name]);
  const problems = first
    ? names
        .filter((name) => !given[name])
        .map((name) => `${name} is missing; set it beside ${first}, or remove ${first}`)
    : [];
  const mode = (name: string): string | undefined => /^[a-z]+_(test|live)_/.exec(given[name] ?? '')?.[1];
  const [secret, publishable] = [mode('STRIPE_SECRET_KEY'), mode('STRIPE_PUBLISHABLE_KEY')];
  if (secret && publishable && secret !== publishable) {
    problems.push(
      'STRIPE_SECRET_KEY and STRIPE_PUBLISHABLE_KEY are of different modes; give two test keys or two live ones',
    );
  }
  return problems;
}
