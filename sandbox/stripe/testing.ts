/** For tests: the sandbox's Stripe in memory, on a frozen clock, called by the real SDK over HTTP. */
import Stripe from 'stripe';
import { type RunningStripe, type StripeOptions, startStripe } from './stripe.ts';

/** January 1, 2026, 00:00 UTC; the clock stays there until it is moved. */
export const newYear = Date.UTC(2026, 0, 1) / 1000;
export const day = 86_400;

export interface Fixture extends RunningStripe {
  readonly stripe: Stripe;
  /** Makes a call below `/_sandbox`. */
  control(call: string, body?: unknown): Promise<Record<string, never>>;
  /** Creates a customer with a default card. */
  createPayingCustomer(card?: string): Promise<Stripe.Customer>;
  /** Creates a subscription with its latest invoice expanded. */
  subscribe(
    customer: string,
    price: string,
    more?: Partial<Stripe.SubscriptionCreateParams>,
  ): Promise<Stripe.Subscription & { latest_invoice: Stripe.Invoice }>;
}

export async function openFixture(options: StripeOptions = {}): Promise<Fixture> {
  const running = await startStripe({ systemTime: () => newYear * 1000, ...options });
  const { hostname, port } = new URL(running.access.apiUrl);
  const stripe = new Stripe(running.access.secretKey, {
    host: hostname,
    port,
    protocol: 'http',
    maxNetworkRetries: 0,
    telemetry: false,
  });
  return {
    ...running,
    stripe,
    async control(call, body) {
      const [method = 'GET', path = ''] = call.split(' ');
      const response = await fetch(`${running.access.apiUrl}/_sandbox/${path}`, {
        method,
        ...(method !== 'GET' && { body: JSON.stringify(body ?? {}) }),
      });
      return (await response.json()) as Record<string, never>;
    },
    async createPayingCustomer(card = 'pm_card_visa') {
      const { id } = await stripe.customers.create({ email: 'reader@example.com', name: 'A Reader' });
      const method = await stripe.paymentMethods.attach(card, { customer: id });
      return stripe.customers.update(id, { invoice_settings: { default_payment_method: method.id } });
    },
    async subscribe(customer, price, more = {}) {
      const made = await stripe.subscriptions.create({
        customer,
        items: [{ price }],
        expand: ['latest_invoice'],
        ...more,
      });
      return made as Stripe.Subscription & { latest_invoice: Stripe.Invoice };
    },
  };
}

/** The error of a call that fails. */
export async function errorOf(call: Promise<unknown>): Promise<Stripe.errors.StripeError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Stripe.errors.StripeError) return error;
    throw error;
  }
  throw new Error('The call did not fail.');
}

/** First item of a subscription. */
export function itemOf(subscription: Stripe.Subscription): Stripe.SubscriptionItem {
  const [item] = subscription.items.data;
  if (!item) throw new Error('The subscription has no item.');
  return item;
}

export const amounts = (invoice: Stripe.Invoice): number[] => invoice.lines.data.map(({ amount }) => amount);
