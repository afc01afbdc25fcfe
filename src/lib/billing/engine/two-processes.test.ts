/** The nightly comparison with Stripe: when it runs, and that only one of two processes on one PostgreSQL runs it. */
import Stripe from 'stripe';
import { afterEach, expect, it, vi } from 'vitest';
import { type BillingFixture, billingFixture, day } from '../../../../tests/world/billing.ts';
import { prepare } from '../../../../tests/world/databases.ts';
import { apiVersion } from './stripe.server.ts';

const engines = prepare('postgres');
let fixture: BillingFixture;
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
  await fixture?.stop();
});

it('the nightly comparison with Stripe runs once a night for all processes', async () => {
  const place = await engines.migratedPlace();
  fixture = await billingFixture(await engines.open(place));
  /** Requests for the lists of a comparison. */
  const lists: string[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    const { pathname, searchParams } = new URL(String(input));
    if (pathname === '/v1/events' || (pathname === '/v1/subscriptions' && searchParams.get('status') === 'all'))
      lists.push(pathname);
    return fixture.fetch(input, init);
  };
  const httpClient = Stripe.createFetchHttpClient(fetch);
  const stripe = () =>
    new Stripe(fixture.stripe.keys.secret, { apiVersion, host: 'stripe.test', protocol: 'http', httpClient });
  /** A process with its own connections; its background tasks run at the start. */
  const start = async () => {
    const billing = await fixture.another({ database: await engines.open(place), stripe: stripe() });
    stops.push(() => billing.stop());
    billing.start();
    return billing;
  };
  const compared = async () =>
    Number(
      (await fixture.database.db.selectFrom('billing_notes').select('at').where('key', '=', 'compared').execute())[0]
        ?.at,
    );
  // A new site has nothing to compare.
  await start();
  await vi.waitFor(async () => expect(await compared()).toBeGreaterThan(0));
  for (let night = 1; night <= 3; night++) {
    await fixture.pass(2 * day);
    const both = await Promise.all([start(), start()]);
    await vi.waitFor(async () => expect(await compared()).toBe(fixture.accounts.clock.now));
    await Promise.all(both.map((billing) => billing.stop()));
    expect(lists.toSorted()).toEqual(Array(night).fill('/v1/events').concat(Array(night).fill('/v1/subscriptions')));
  }
});

it('the comparison runs at night in the newspaper’s time zone, and is retried soon after Stripe fails', async () => {
  fixture = await billingFixture(await engines.open());
  const { db } = fixture.database;
  const compared = async () =>
    Number((await db.selectFrom('billing_notes').select('at').where('key', '=', 'compared').execute())[0]?.at ?? 0);
  const events = async () => (await db.selectFrom('stripe_events').select('id').execute()).length;
  /** Runs the background tasks once, in a process that has just started. @returns its comparison; `null`: it ran none */
  const runTasks = async () => {
    // Deleted by a task that runs after the comparison.
    await db.insertInto('stripe_events').values({ id: 'evt_old', type: 'invoice.paid', received: 0 }).execute();
    const billing = await fixture.another();
    billing.start();
    await vi.waitFor(async () => expect(await events()).toBe(0));
    await billing.stop();
    return billing.stats().drift;
  };
  // The seconds from noon to 3 a.m. in UTC and in New York.
  const noon = 12 * 3600 - ((fixture.accounts.clock.now / 1000) % 86_400) + 86_400;
  await fixture.pass(noon);
  await runTasks();
  const first = await compared();
  expect(first).toBeGreaterThan(0);
  await fixture.pass(15 * 3600);
  expect(await runTasks()).toBeNull();
  expect(await compared()).toBe(first);
  await fixture.pass(5 * 3600);
  fixture.stripe.faults.add({ method: 'GET', path: '/v1/events', status: 503 });
  expect(await runTasks()).toBeNull();
  await fixture.pass(1800);
  expect(await runTasks()).toBe(0);
  expect(await compared()).toBe(fixture.accounts.clock.now);
  await fixture.pass(1800);
  expect(await runTasks()).toBeNull();
});

it('a comparison that a stop interrupts is repeated by the next process, that of a killed process after an hour', async () => {
  fixture = await billingFixture(await engines.open());
  const { db } = fixture.database;
  const session = await fixture.readers.join('ada@example.com');
  const monthly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-monthly' };
  expect(await fixture.billing.subscribe(session, monthly)).toMatchObject({ ok: true });
  const note = { key: 'compared', value: '', at: fixture.accounts.clock.now };
  await db.insertInto('billing_notes').values(note).execute();
  const compared = async () =>
    Number((await db.selectFrom('billing_notes').select('at').where('key', '=', 'compared').execute())[0]?.at);
  /** Starts a process. @param onList called when it requests the list of subscriptions; Stripe answers when it has settled */
  const start = async (onList: () => Promise<void> = async () => {}) => {
    const httpClient = Stripe.createFetchHttpClient(async (input, init) => {
      const { pathname, searchParams } = new URL(String(input));
      if (pathname === '/v1/subscriptions' && searchParams.get('status') === 'all') await onList();
      return fixture.fetch(input, init);
    });
    const options = { apiVersion, host: 'stripe.test', protocol: 'http', httpClient } as const;
    const billing = await fixture.another({ stripe: new Stripe(fixture.stripe.keys.secret, options) });
    stops.push(billing.stop);
    billing.start();
    return billing;
  };
  // To half past five in New York: an hour later, the rule for the day holds.
  const sinceHalfPastFive = ((fixture.accounts.clock.now / 1000 - 5 * 3600) % 86_400) - 5.5 * 3600;
  await fixture.pass(3 * 86_400 - sinceHalfPastFive);
  const listing = Promise.withResolvers<void>();
  const stopping = Promise.withResolvers<void>();
  const stopped = await start(async () => {
    listing.resolve();
    await stopping.promise;
  });
  await listing.promise;
  const stop = stopped.stop();
  stopping.resolve();
  await stop;
  expect(stopped.stats().drift).toBeNull();
  expect(await compared()).toBe(note.at);

  const listingAgain = Promise.withResolvers<void>();
  const killed = Promise.withResolvers<void>();
  stops.push(async () => killed.resolve());
  await start(() => {
    listingAgain.resolve();
    return killed.promise;
  });
  await listingAgain.promise;
  await fixture.pass(3500);
  // Deleted by a task that runs after the comparison.
  await db.insertInto('stripe_events').values({ id: 'evt_old', type: 'invoice.paid', received: 0 }).execute();
  const early = await start();
  await vi.waitFor(async () =>
    expect(await db.selectFrom('stripe_events').select('id').where('received', '=', 0).execute()).toEqual([]),
  );
  expect(early.stats().drift).toBeNull();
  expect(await compared()).toBe(note.at);
  await fixture.pass(200);
  const next = await start();
  await vi.waitFor(() => expect(next.stats().drift).toBe(0));
  await vi.waitFor(async () => expect(await compared()).toBe(fixture.accounts.clock.now));
});
