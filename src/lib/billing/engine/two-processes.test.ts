/** Two processes with background tasks on one PostgreSQL: the nightly comparison with Stripe is done by one of them. */
import Stripe from 'stripe';
import { afterEach, expect, it, vi } from 'vitest';
import { type BillingBench, billingBench, day } from '../../../../tests/world/billing.ts';
import { prepare } from '../../../../tests/world/databases.ts';
import { apiVersion } from './api-version.ts';

const engines = prepare('postgres');
let bench: BillingBench;
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
  await bench?.stop();
});

it('compares all subscriptions once a night, however many processes there are', async () => {
  const place = await engines.migratedPlace();
  bench = await billingBench(await engines.open(place));
  /** Requests for the lists of a comparison. */
  const lists: string[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    const { pathname, searchParams } = new URL(String(input));
    if (pathname === '/v1/events' || (pathname === '/v1/subscriptions' && searchParams.get('status') === 'all'))
      lists.push(pathname);
    return bench.fetch(input, init);
  };
  const httpClient = Stripe.createFetchHttpClient(fetch);
  const stripe = () =>
    new Stripe(bench.stripe.keys.secret, { apiVersion, host: 'stripe.test', protocol: 'http', httpClient });
  /** A process with its own connections; its background tasks run at the start. */
  const start = async () => {
    const billing = await bench.another({ database: await engines.open(place), stripe: stripe() });
    stops.push(() => billing.stop());
    billing.start();
    return billing;
  };
  const compared = async () =>
    Number(
      (await bench.database.db.selectFrom('billing_notes').select('at').where('key', '=', 'compared').execute())[0]?.at,
    );
  // A new site has nothing to compare.
  await start();
  await vi.waitFor(async () => expect(await compared()).toBeGreaterThan(0));
  for (let night = 1; night <= 3; night++) {
    await bench.pass(2 * day);
    const before = await compared();
    const both = await Promise.all([start(), start()]);
    await vi.waitFor(async () => expect(await compared()).toBeGreaterThan(before));
    // Ends after the tasks that run now.
    await Promise.all(both.map((billing) => billing.stop()));
    expect(lists.toSorted()).toEqual(Array(night).fill('/v1/events').concat(Array(night).fill('/v1/subscriptions')));
  }
});
