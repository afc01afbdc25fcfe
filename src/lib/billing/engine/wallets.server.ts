/**
 * The site's domain at Stripe: Apple Pay, Google Pay and Link show their buttons on registered domains only
 * (docs.stripe.com/payments/payment-methods/pmd-registration).
 */
import type Stripe from 'stripe';

export interface DomainStatus {
  readonly domain: string;
  /** Wallets whose buttons Stripe.js may show on this domain. */
  readonly active: readonly string[];
  /** Stripe's reasons for the other wallets. */
  readonly problems: readonly string[];
  /** Whether this call registered the domain. */
  readonly registered: boolean;
}

const wallets = [
  ['Apple Pay', 'apple_pay'],
  ['Google Pay', 'google_pay'],
  ['Link', 'link'],
] as const;

type Domains = Pick<Stripe, 'paymentMethodDomains'>;

const problemsOf = (domain: Stripe.PaymentMethodDomain): readonly string[] =>
  wallets.flatMap(([name, field]) => {
    const { status, status_details: details } = domain[field];
    return status === 'active' ? [] : [`${name}: ${details?.error_message ?? status}`];
  });

/** Why readers see no wallet buttons, or not all, with the remedy; `null`: all are shown. Changes nothing at Stripe. @throws StripeError */
export async function findWalletProblem(stripe: Domains, siteUrl: string): Promise<string | null> {
  const { hostname: domain, protocol } = new URL(siteUrl);
  // Browsers offer wallets on secure pages only.
  if (protocol !== 'https:') return null;
  const { data } = await stripe.paymentMethodDomains.list({ domain_name: domain, limit: 1 });
  const [known] = data;
  const remedy = 'in Stripe under Settings, Payment method domains (npm run verify does it in test mode)';
  if (!known) return `${domain} is not registered for wallets: add it ${remedy}`;
  if (!known.enabled) return `${domain} is turned off for wallets: turn it on ${remedy}`;
  const problems = problemsOf(known);
  return problems.length === 0 ? null : `${problems.join('; ')}: let Stripe reach ${domain}, and validate it ${remedy}`;
}

/** Registers and enables the site's domain, and lets Stripe validate it. @throws StripeError */
export async function registerDomain(stripe: Domains, siteUrl: string): Promise<DomainStatus> {
  const domain = new URL(siteUrl).hostname;
  const { data } = await stripe.paymentMethodDomains.list({ domain_name: domain, limit: 1 });
  const [known] = data;
  const { id, enabled } = known ?? (await stripe.paymentMethodDomains.create({ domain_name: domain }));
  if (!enabled) await stripe.paymentMethodDomains.update(id, { enabled: true });
  const checked = await stripe.paymentMethodDomains.validate(id);
  return {
    domain,
    active: wallets.filter(([, field]) => checked[field].status === 'active').map(([name]) => name),
    problems: problemsOf(checked),
    registered: known === undefined,
  };
}
