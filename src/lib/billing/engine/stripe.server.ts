/** The way to Stripe: one client, one API version, bounded waits. */
import Stripe from 'stripe';
import { apiVersion } from './api-version.ts';

export interface StripeAccess {
  readonly secretKey: string;
  /** Without a slash at its end. */
  readonly apiUrl: string;
}

/** Milliseconds for one request; a second try under the same key follows. */
const patienceMs = 10_000;

export function openStripe(
  { secretKey, apiUrl }: StripeAccess,
  timeout = patienceMs,
  throughFetch?: typeof globalThis.fetch,
): Stripe {
  const { hostname, port, protocol } = new URL(apiUrl);
  return new Stripe(secretKey, {
    apiVersion,
    host: hostname,
    port: port || undefined,
    protocol: protocol === 'http:' ? 'http' : 'https',
    timeout,
    maxNetworkRetries: 1,
    telemetry: false,
    appInfo: { name: 'Broadsheet' },
    httpClient: throughFetch && Stripe.createFetchHttpClient(throughFetch),
  });
}
