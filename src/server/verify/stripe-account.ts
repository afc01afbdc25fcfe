/** Stripe, what an account must have before anything can be sold: plans, webhook endpoint, domain, script. Nothing but the domain is changed. */
import type Stripe from 'stripe';
import { apiVersion } from '../../lib/billing/engine/api-version.ts';
import { plansOf } from '../../lib/billing/engine/catalogue.server.ts';
import { registerDomain } from '../../lib/billing/engine/wallets.server.ts';
import { type Check, Trouble } from './checks.ts';
import { request } from './http.ts';

/** What billing learns from webhooks; docs/operations.md, "Payments", names the same. */
const neededEvents = [
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'invoice.paid',
  'invoice.payment_failed',
  'charge.refunded',
  'charge.dispute.created',
  'charge.dispute.closed',
];

export interface StripeAccountOptions {
  readonly stripe: Stripe | null;
  readonly missing: string | null;
  readonly siteUrl: string;
  readonly scriptUrl: string;
  /** Plans that the paper's pages name, `zephrPlanId` of each. */
  readonly plans: readonly string[];
}

export function stripeAccountCheck(options: StripeAccountOptions): Check[] {
  const { missing } = options;
  return [
    {
      service: 'stripe',
      missing,
      steps: [{ asks: 'GET /v1/prices: the plans of the paper', run: () => catalogue(options) }],
    },
    {
      service: 'stripe',
      missing,
      steps: [{ asks: 'GET /v1/product_catalog/trial_offers: the promotions', run: () => promotions(options) }],
    },
    { service: 'stripe', missing, steps: [{ asks: 'GET /v1/webhook_endpoints', run: () => endpoint(options) }] },
    { service: 'stripe', missing, steps: [{ asks: "the site's domain, for wallets", run: () => domain(options) }] },
    { service: 'stripe', missing, steps: [{ asks: 'GET Stripe.js', run: () => script(options.scriptUrl) }] },
  ];
}

async function catalogue({ stripe, plans }: StripeAccountOptions): Promise<string> {
  const found = new Set<string>();
  for await (const { metadata, product } of stripe?.prices.list({
    active: true,
    limit: 100,
    expand: ['data.product'],
  }) ?? []) {
    const isSold = typeof product !== 'string' && !product.deleted && product.metadata.zephr_product_id;
    if (isSold && metadata.zephrPlanId) found.add(metadata.zephrPlanId);
  }
  const lacking = plans.filter((plan) => !found.has(plan));
  if (lacking.length === 0) return `${found.size} plans, among them all that the pages name`;
  throw new Trouble(
    `${found.size} plans; ${lacking.join(', ')} not among them`,
    'give each price in Stripe the metadata zephrPlanId, and its product zephr_product_id: docs/operations.md, "Payments"',
  );
}

async function promotions({ stripe }: StripeAccountOptions): Promise<string> {
  if (!stripe) throw new Error('Stripe is not configured');
  const [prices, offers]: [Stripe.Price[], Stripe.ProductCatalog.TrialOffer[]] = [[], []];
  const asked = { active: true, limit: 100, expand: ['data.product', 'data.currency_options'] };
  for await (const price of stripe.prices.list(asked)) prices.push(price);
  for await (const offer of stripe.productCatalog.trialOffers.list({ limit: 100 })) offers.push(offer);
  const { sold, unsold } = plansOf(prices, offers);
  const [first] = unsold;
  if (first) {
    const remedy =
      'make its Trial Offer with npm run stripe:offer, or archive its price: docs/operations.md, "Payments"';
    throw new Trouble(`${first.plan} is not sold: ${first.why}`, remedy);
  }
  const plans = sold.filter(({ promotion }) => promotion !== null).map(({ zephrPlanId }) => zephrPlanId);
  return plans.length > 0 ? plans.join(', ') : 'none; npm run stripe:offer makes one';
}

async function endpoint({ stripe, siteUrl }: StripeAccountOptions): Promise<string> {
  const wanted = `${siteUrl}/api/v1/stripe/webhook`;
  const remedy = `in Stripe under Developers, Webhooks, send events of the version ${apiVersion} to ${wanted}, and copy its signing secret to STRIPE_WEBHOOK_SECRET`;
  const { data } = (await stripe?.webhookEndpoints.list({ limit: 100 })) ?? { data: [] };
  const found = data.find(({ url }) => url === wanted);
  if (!found) throw new Trouble(`none of ${data.length} endpoints is ${wanted}`, remedy);
  if (found.status !== 'enabled')
    throw new Trouble(`the endpoint is ${found.status}`, 'enable it in Stripe under Developers, Webhooks');
  if (found.api_version !== null && found.api_version !== apiVersion)
    throw new Trouble(`it sends events of the version ${found.api_version}`, remedy);
  const lacking = found.enabled_events.includes('*')
    ? []
    : neededEvents.filter((event) => !(found.enabled_events as readonly string[]).includes(event));
  if (lacking.length > 0)
    throw new Trouble(`it does not send ${lacking.join(', ')}`, 'add these events to the endpoint');
  return 'enabled, with the events that billing needs';
}

/** Registers the domain where it isn't yet: without it Stripe.js draws no wallet's button. */
async function domain({ stripe, siteUrl }: StripeAccountOptions): Promise<string> {
  if (!stripe) throw new Error('Stripe is not configured');
  if (!siteUrl.startsWith('https:')) return 'not registered: wallets need a public https:// address in SITE_URL';
  const { domain: name, active, problems, registered } = await registerDomain(stripe, siteUrl);
  if (problems.length > 0) {
    const remedy = `let https://${name}/ be reached by Stripe, and see Settings, Payment method domains, in Stripe`;
    throw new Trouble(problems.join('; '), remedy);
  }
  return `${name} ${registered ? 'is now registered' : 'is registered'} for ${active.join(', ')}`;
}

async function script(url: string): Promise<string> {
  const reply = await request(url, 'STRIPE_JS_URL');
  const type = reply.headers.get('content-type') ?? 'no media type';
  if (reply.status === 200 && type.includes('javascript')) return `${Math.ceil(reply.text.length / 1024)} kB of script`;
  throw new Trouble(`status ${reply.status}, ${type}`, "leave STRIPE_JS_URL out, so that Stripe's own address is used");
}
