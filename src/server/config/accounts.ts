/** Settings of readers' accounts: secret, social sign-in, mail, checks of email addresses, payments. */
import { z } from 'zod';
import type { FacebookSettings, GoogleSettings } from '../../lib/accounts/social-providers.server.ts';
import type { ExternalSettings } from '../../lib/email-verification/external.server.ts';
import type { GeoSettings } from '../../lib/geo/geo.server.ts';
import { type Limits, readLimits } from '../../lib/http/limits.ts';
import { readSender } from '../../lib/mail/model.ts';
import type { MailSettings, SmtpSettings } from '../../lib/mail/smtp.server.ts';
import {
  matching,
  missingCompanions,
  oneOf,
  onOff,
  openAddress,
  repeating,
  setting,
  vendorAddress,
  whole,
} from './fields.ts';

export interface AccountsConfig {
  /** Key of the HMACs of codes, links and sessions; `null`: created once and stored in the data folder. */
  readonly secret: string | null;
  /** Days for which the audit trail is kept. */
  readonly auditDays: number;
  readonly limits: Limits;
  /** `null`: sign-in with Google is off. */
  readonly google: GoogleSettings | null;
  readonly facebook: FacebookSettings | null;
}

export const accountsFields = {
  ACCOUNTS_SECRET: z
    .string()
    .min(32, 'is shorter than 32 characters; make one up, for instance with "openssl rand -hex 32"')
    .optional(),
  AUDIT_DAYS: whole(90, 1, 3650, 'the days that the audit trail is kept'),
  ACCOUNT_LIMITS: z
    .string()
    .optional()
    .transform((text, context): Limits => {
      const read = readLimits(text ?? '');
      if ('limits' in read) return read.limits;
      for (const problem of read.problems) context.addIssue(problem);
      return z.NEVER;
    }),
  GOOGLE_CLIENT_ID: z.string().optional(),
  GOOGLE_CLIENT_SECRET: z.string().optional(),
  GOOGLE_ISSUER_URL: vendorAddress('https://accounts.google.com'),
  FACEBOOK_CLIENT_ID: z.string().optional(),
  FACEBOOK_CLIENT_SECRET: z.string().optional(),
  FACEBOOK_URL: vendorAddress('https://www.facebook.com'),
  FACEBOOK_GRAPH_URL: vendorAddress('https://graph.facebook.com'),
};

type AccountsValues = z.infer<z.ZodObject<typeof accountsFields>>;

export function accountsOf(values: AccountsValues): AccountsConfig {
  const pair = (clientId: string | undefined, clientSecret: string | undefined) =>
    clientId && clientSecret ? { clientId, clientSecret } : null;
  const google = pair(values.GOOGLE_CLIENT_ID, values.GOOGLE_CLIENT_SECRET);
  const facebook = pair(values.FACEBOOK_CLIENT_ID, values.FACEBOOK_CLIENT_SECRET);
  return {
    secret: values.ACCOUNTS_SECRET ?? null,
    auditDays: values.AUDIT_DAYS,
    limits: values.ACCOUNT_LIMITS,
    google: google && { ...google, url: values.GOOGLE_ISSUER_URL },
    facebook: facebook && { ...facebook, url: values.FACEBOOK_URL, graphUrl: values.FACEBOOK_GRAPH_URL },
  };
}

/** Problems of settings that depend on each other. */
export const accountsProblems = (given: Readonly<Record<string, string>>): string[] =>
  missingCompanions(given, {
    GOOGLE_CLIENT_ID: ['GOOGLE_CLIENT_SECRET'],
    GOOGLE_CLIENT_SECRET: ['GOOGLE_CLIENT_ID'],
    FACEBOOK_CLIENT_ID: ['FACEBOOK_CLIENT_SECRET'],
    FACEBOOK_CLIENT_SECRET: ['FACEBOOK_CLIENT_ID'],
  });

export interface MailConfig {
  /** `null`: the site sends no mail. */
  readonly mail: MailSettings | null;
  /** Service that verifies whether a mailbox exists; `null`: none is called. */
  readonly emailVerifier: ExternalSettings | null;
  /** Whether the site checks in DNS that a domain accepts mail. */
  readonly emailDnsCheck: boolean;
  readonly geo: GeoSettings;
}

/** `smtp://user:password@host:port`, or `smtps://`; a user requires a password, and the other way around. */
function readSmtp(text: string): SmtpSettings | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const secure = url.protocol === 'smtps:';
  if ((!secure && url.protocol !== 'smtp:') || url.hostname === '' || url.search || url.hash) return null;
  if ((url.pathname !== '' && url.pathname !== '/') || (url.username === '') !== (url.password === '')) return null;
  try {
    return {
      host: url.hostname.replace(/^\[(.*)\]$/u, '$1'),
      port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
      secure,
      auth: url.username
        ? { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) }
        : null,
    };
  } catch {
    return null;
  }
}

const sender = (example: string) => setting(readSender, repeating(`give an address such as ${example}`));

const headerName = (example: string) =>
  z
    .string()
    .regex(/^[\w-]{1,64}$/, `isn't the name of a header; give one such as ${example}`)
    .toLowerCase()
    .optional();

export const mailFields = {
  SMTP_URL: setting(
    readSmtp,
    'is not the address of a mail server; give smtp://user:password@host:587 or smtps://user:password@host:465, characters such as @ and / in the password as %40 and %2F',
  ),
  MAIL_FROM: sender('The Sun <news@example.com>'),
  MAIL_REPLY_TO: sender('support@example.com'),
  EMAIL_VERIFIER: oneOf(['plain', 'kickbox'], 'give kickbox or plain').default('plain'),
  EMAIL_VERIFIER_URL: z
    .string()
    .refine(openAddress, "isn't an address of a service; give one such as https://verifier.example.com/v1/verify")
    .optional(),
  EMAIL_VERIFIER_KEY: matching(/^[\x21-\x7e]*$/, 'holds spaces or letters beyond ASCII; copy the key again'),
  EMAIL_DNS_CHECK: onOff(),
  GEO_COUNTRY_HEADER: headerName('cf-ipcountry'),
  GEO_CITY_HEADER: headerName('cf-ipcity'),
};

type MailValues = z.infer<z.ZodObject<typeof mailFields>>;

/** {@link mailProblems} checks that nothing is missing. */
export function mailOf(values: MailValues): MailConfig {
  const { SMTP_URL: smtp, MAIL_FROM: from, MAIL_REPLY_TO: replyTo, EMAIL_VERIFIER_URL: url } = values;
  return {
    mail: smtp && from ? { smtp, from, replyTo: replyTo ?? null } : null,
    emailVerifier: verifierOf(values.EMAIL_VERIFIER, url, values.EMAIL_VERIFIER_KEY),
    emailDnsCheck: values.EMAIL_DNS_CHECK ?? true,
    geo: { countryHeader: values.GEO_COUNTRY_HEADER ?? null, cityHeader: values.GEO_CITY_HEADER ?? null },
  };
}

const kickbox = 'https://api.kickbox.com/v2/verify';

function verifierOf(vendor: ExternalSettings['vendor'], url: string | undefined, key: string | undefined) {
  const place = url ?? (vendor === 'kickbox' && key ? kickbox : undefined);
  return place === undefined ? null : { vendor, url: place, key: key ?? null };
}

/** Problems of settings that depend on each other. */
export function mailProblems(given: Readonly<Record<string, string>>): string[] {
  const problems: string[] = [];
  if (given.SMTP_URL && !given.MAIL_FROM) {
    problems.push(
      'MAIL_FROM is missing; set it together with SMTP_URL to the sender of all mail, such as The Sun <news@example.com>',
    );
  }
  problems.push(...missingCompanions(given, { MAIL_FROM: ['SMTP_URL'], MAIL_REPLY_TO: ['SMTP_URL'] }));
  if (given.EMAIL_VERIFIER === 'kickbox') {
    if (!given.EMAIL_VERIFIER_KEY)
      problems.push('EMAIL_VERIFIER_KEY is missing; set it to the API key of Kickbox, or remove EMAIL_VERIFIER');
  } else problems.push(...missingCompanions(given, { EMAIL_VERIFIER_KEY: ['EMAIL_VERIFIER_URL'] }));
  return problems;
}

export interface StripeSettings {
  /** `sk_…` or `rk_…`. */
  readonly secretKey: string;
  /** `pk_…`, for browsers. */
  readonly publishableKey: string;
  /** `whsec_…` of the webhook endpoint. */
  readonly webhookSecret: string;
  /** Without a trailing slash. */
  readonly apiUrl: string;
  /** Script that shows the card fields in the browser. */
  readonly scriptUrl: string;
  /** Whether Stripe Tax calculates and adds taxes. */
  readonly tax: boolean;
}

const key = (form: RegExp, what: string) => matching(form, `isn't ${what}; copy it from the dashboard of Stripe`);

export const billingFields = {
  STRIPE_SECRET_KEY: key(/^[sr]k_\w+$/, 'a secret key (sk_… or rk_…)'),
  STRIPE_PUBLISHABLE_KEY: key(/^pk_\w+$/, 'a publishable key (pk_…)'),
  STRIPE_WEBHOOK_SECRET: key(/^whsec_[\w+/=-]+$/, 'the secret of a webhook endpoint (whsec_…)'),
  STRIPE_API_URL: vendorAddress('https://api.stripe.com'),
  // Stripe's terms require its script to come from Stripe; the installed @stripe/stripe-js has types for this release.
  STRIPE_JS_URL: vendorAddress('https://js.stripe.com/endive/stripe.js'),
  STRIPE_TAX: onOff(),
};

type BillingValues = z.infer<z.ZodObject<typeof billingFields>>;

export function billingOf(values: BillingValues): StripeSettings | null {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_PUBLISHABLE_KEY: publishableKey } = values;
  const { STRIPE_WEBHOOK_SECRET: webhookSecret } = values;
  if (!secretKey || !publishableKey || !webhookSecret) return null;
  return {
    secretKey,
    publishableKey,
    webhookSecret,
    apiUrl: values.STRIPE_API_URL,
    scriptUrl: values.STRIPE_JS_URL,
    tax: values.STRIPE_TAX ?? false,
  };
}

/** Problems of settings that depend on each other. */
export function billingProblems(given: Readonly<Record<string, string>>): string[] {
  const names = ['STRIPE_SECRET_KEY', 'STRIPE_PUBLISHABLE_KEY', 'STRIPE_WEBHOOK_SECRET'];
  const [first] = names.filter((name) => given[name]);
  const problems = first ? missingCompanions(given, { [first]: names }) : [];
  const mode = (name: string): string | undefined => /^[a-z]+_(test|live)_/.exec(given[name] ?? '')?.[1];
  const [secret, publishable] = [mode('STRIPE_SECRET_KEY'), mode('STRIPE_PUBLISHABLE_KEY')];
  if (secret && publishable && secret !== publishable) {
    problems.push(
      'STRIPE_SECRET_KEY and STRIPE_PUBLISHABLE_KEY are of different modes; give two test keys or two live ones',
    );
  }
  return problems;
}
