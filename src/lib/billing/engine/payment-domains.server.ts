/**
 * The site's domain at Stripe: Apple Pay, Google Pay and Link show their buttons on registered domains alone
 * (docs.stripe.com/payments/payment-methods/pmd-registration).
 */
import type Stripe from 'stripe';

export interface DomainStatus {
  readonly domain: string;
  /** Wallets whose buttons Stripe.js may draw there. */
  readonly active: readonly string[];
  /** Why another may not, as Stripe words it. */
  readonly problems: readonly string[];
  /** Whether it was registered by this call. */
  readonly registered: boolean;
}

const wallets = [
  ['Apple Pay', 'apple_pay'],
  ['Google Pay', 'google_pay'],
  ['Link', 'link'],
] as const;

/**
 * Registers the site's domain unless it is, switches it on, and has Stripe look at it.
 *
 * @throws StripeError
 */
export async function registerDomain(
  stripe: Pick<Stripe, 'paymentMethodDomains'>,
  siteUrl: string,
): Promise<DomainStatus> {
  const domain = new URL(siteUrl).hostname;
  const { data } = await stripe.paymentMethodDomains.list({ domain_name: domain, limit: 1 });
  const [known] = data;
  const { id, enabled } = known ?? (await stripe.paymentMethodDomains.create({ domain_name: domain }));
  if (!enabled) await stripe.paymentMethodDomains.update(id, { enabled: true });
  const checked = await stripe.paymentMethodDomains.validate(id);
  return {
    domain,
    active: wallets.filter(([, field]) => checked[field].status === 'active').map(([name]) => name),
    problems: wallets.flatMap(([name, field]) => {
      const { status, status_details: details } = checked[field];
      return status === 'active' ? [] : [`${name}: ${details?.error_message ?? status}`];
    }),
    registered: known === undefined,
  };
}
