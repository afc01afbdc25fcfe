/** The checks of Stripe against the strict stand-in: all of them pass, and each one can be made to fail. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningStripe, startStripe } from '../../../sandbox/stripe/stripe.ts';
import { unregisterDomain } from '../../../sandbox/stripe/wallets.ts';
import { refusedIntent } from '../../lib/billing/engine/card-attempts.server.ts';
import { openStripe } from '../../lib/billing/engine/stripe.server.ts';
import { silent } from '../../lib/logging.ts';
import { offerOf } from '../../lib/plans/model.ts';
import { type Check, type Line, runChecks } from './checks.ts';
import { neededEvents, stripeAccountCheck } from './stripe-account.ts';
import { stripeSalesChecks, sumWithCode } from './stripe-sales.ts';

const siteUrl = 'https://www.example.com';
let running: RunningStripe;
beforeAll(async () => {
  running = await startStripe({ siteUrl });
});
afterAll(() => running.stop());

type Fetch = typeof globalThis.fetch;

function checks(through: Fetch = fetch): { sales: Check[]; account: Check[] } {
  const { access } = running;
  const stripe = openStripe(access, through);
  const settings = { ...access, tax: false };
  const plans = offerOf([]).plans.map(({ id }) => id);
  return {
    sales: stripeSalesChecks({ stripe, settings, siteUrl, log: silent }, null),
    account: stripeAccountCheck({ stripe, missing: null, siteUrl, scriptUrl: access.scriptUrl, plans }),
  };
}

const failures = (lines: readonly Line[]): Line[] => lines.filter(({ outcome }) => outcome !== 'ok');

describe('the check of the Stripe account', () => {
  it('requires an enabled webhook endpoint for this site, in our API version, with the events that billing needs', async () => {
    expect(failures(await runChecks(checks().account))).toEqual([]);
    const [endpoint] = [...running.state.account.store.all('webhook_endpoint')];
    if (!endpoint) throw new Error('the stand-in announces no endpoint');
    for (const [changes, result] of [
      [{ url: 'https://other.example.com/hook' }, `none of 1 endpoints is ${siteUrl}/api/v1/stripe/webhook`],
      [{ status: 'disabled' }, 'the endpoint is disabled'],
      [{ api_version: '2020-08-27' }, 'it sends events of the version 2020-08-27'],
      [{ enabled_events: ['invoice.paid'] }, 'it does not send customer.subscription.created'],
    ] as const) {
      const before = { ...endpoint };
      Object.assign(endpoint, changes);
      const [failed, ...others] = failures(await runChecks(checks().account));
      Object.assign(endpoint, before);
      expect(failed?.result).toContain(result);
      expect(others).toEqual([]);
    }
  });

  it('requires only events that the operators’ guide lists, those of refused cards included', () => {
    const text = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
    const [, listed = ''] = /with the events (.*?) Its secret is/s.exec(text) ?? [];
    const named = [...listed.matchAll(/`([\w.*]+)`/g)].map(
      ([, name = '']) => new RegExp(`^${name.replace('*', '.*')}$`),
    );
    expect(neededEvents.filter((event) => !named.some((pattern) => pattern.test(event)))).toEqual([]);
    const cards = ['payment_intent.payment_failed', 'setup_intent.setup_failed'];
    expect(cards.filter((type) => refusedIntent(type, { id: 'pi_1' }) !== null)).toEqual(cards);
    expect(neededEvents).toEqual(expect.arrayContaining(cards));
  });

  it('registers the domain for wallets, and reports why Stripe refuses a wallet', async () => {
    const { account } = running.state;
    unregisterDomain(account, 'www.example.com');
    const ours = (lines: readonly Line[]) => lines.find(({ asks }) => asks.includes('for wallets'));
    expect(ours(await runChecks(checks().account))?.result).toBe(
      'www.example.com is now registered for Apple Pay, Google Pay, Link',
    );
    const domain = [...account.store.all('payment_method_domain')].find(
      ({ domain_name: n }) => n === 'www.example.com',
    );
    if (!domain) throw new Error('nothing was registered');
    domain.apple_pay = { status: 'inactive', status_details: { error_message: 'The file was not found.' } };
    expect(ours(await runChecks(checks().account))).toMatchObject({
      outcome: 'failed',
      result: 'Apple Pay: The file was not found.',
    });
    unregisterDomain(account, 'www.example.com');
  });

  it('reports plans that the catalog lacks', async () => {
    const { access } = running;
    const options = { missing: null, siteUrl, scriptUrl: access.scriptUrl, plans: ['reader-monthly', 'reader-weekly'] };
    const lines = await runChecks(stripeAccountCheck({ stripe: openStripe(access), ...options }));
    expect(failures(lines)[0]).toMatchObject({ asks: 'GET /v1/prices: the plans that pages name' });
    expect(failures(lines)[0]?.result).toContain('reader-weekly missing');
  });
});

describe('the Stripe checks, with other plans and currencies', () => {
  it('pass when only one tier is sold monthly', async () => {
    const others = [...running.state.account.store.all('price')].filter(
      ({ active, lookup_key }) => active && lookup_key !== 'reader-monthly',
    );
    for (const price of others) price.active = false;
    const lines = await runChecks(checks().sales);
    for (const price of others) price.active = true;
    expect(failures(lines)).toEqual([]);
    expect(lines.map(({ result }) => result)).toContain('only one tier is sold monthly: nothing to test');
  });

  it('report prices that aren’t in the standard currency', async () => {
    const price = [...running.state.account.store.all('price')].find((each) => each.lookup_key === 'reader-yearly');
    if (!price) throw new Error('the stand-in has no such price');
    price.currency = 'nzd';
    const [failed] = failures(await runChecks(checks().account));
    price.currency = 'usd';
    expect(failed?.result).toBe('reader-yearly in nzd, and the standard currency is usd');
  });

  it.each([
    [1200, 'usd', '12.00 USD'],
    [1200, 'jpy', '1200 JPY'],
    [12_345, 'kwd', '12.345 KWD'],
  ])('format %i of %s as %s', (amount, currency, text) => expect(sumWithCode(amount, currency)).toBe(text));
});

describe('the check of the wallet domain and of Stripe.js', () => {
  const answering =
    (path: RegExp, body: unknown, status = 200): Fetch =>
    (input, init) => {
      const { pathname } = new URL(input instanceof Request ? input.url : String(input));
      return path.test(pathname) ? Promise.resolve(Response.json(body, { status })) : fetch(input, init);
    };

  it('reports why a wallet is inactive', async () => {
    const wallet = (status: string, message?: string) => ({
      status,
      status_details: message === undefined ? null : { error_message: message },
    });
    const checked = {
      id: 'pmd_1',
      apple_pay: wallet('inactive', 'The domain could not be verified.'),
      google_pay: wallet('active'),
      link: wallet('active'),
    };
    const lines = await runChecks(checks(answering(/payment_method_domains\/[^/]+\/validate$/, checked)).account);
    const [failed, ...others] = failures(lines);
    expect(failed?.result).toBe('Apple Pay: The domain could not be verified.');
    expect(failed?.remedy).toContain('https://www.example.com/');
    expect(others).toEqual([]);
  });

  it('reports a STRIPE_JS_URL that is not a script', async () => {
    const { access } = running;
    const options = { missing: null, siteUrl, scriptUrl: `${access.apiUrl}/v1/prices`, plans: [] };
    const lines = await runChecks(stripeAccountCheck({ stripe: openStripe(access), ...options }));
    expect(failures(lines).map(({ asks, remedy }) => [asks, remedy])).toEqual([
      ['GET Stripe.js', expect.stringContaining('STRIPE_JS_URL')],
    ]);
  });
});

describe('the check of sales on Stripe’s test clocks', () => {
  it('passes every step, and leaves no clock or customer behind', async () => {
    const lines = await runChecks(checks().sales);
    expect(failures(lines)).toEqual([]);
    expect(lines.length).toBeGreaterThanOrEqual(16);
    const stripe = openStripe(running.access);
    expect((await stripe.testHelpers.testClocks.list()).data).toEqual([]);
    expect((await stripe.customers.list()).data).toEqual([]);
  });

  it('leaves no clock or customer behind when Stripe refuses customers or prices', async () => {
    for (const path of ['/v1/customers', '/v1/prices']) {
      const refuse: Fetch = (input, init) => {
        const { pathname } = new URL(input instanceof Request ? input.url : String(input));
        const error = { type: 'invalid_request_error', message: 'Refused by the test.' };
        return pathname === path ? Promise.resolve(Response.json({ error }, { status: 403 })) : fetch(input, init);
      };
      const [first] = await runChecks(checks(refuse).sales.slice(0, 1));
      expect(first).toMatchObject({ outcome: 'failed' });
      const stripe = openStripe(running.access);
      expect((await stripe.testHelpers.testClocks.list()).data, path).toEqual([]);
      expect((await stripe.customers.list()).data, path).toEqual([]);
    }
  });

  it('fails at the first step that Stripe refuses, with a remedy, and skips the rest', async () => {
    const all = checks().sales.flatMap(({ steps }, group) => steps.map(({ asks }, index) => ({ group, index, asks })));
    for (const { group, index, asks } of all) {
      let done = 0;
      const refuseFrom: Fetch = (input, init) => {
        // Objects that the check created can still be deleted.
        if (done < index || init?.method === 'DELETE') return fetch(input, init);
        const error = { type: 'invalid_request_error', message: 'Refused by the test.' };
        return Promise.resolve(Response.json({ error }, { status: 400 }));
      };
      const lines = await runChecks(checks(refuseFrom).sales.slice(group, group + 1), { onLine: () => void done++ });
      expect(lines.slice(0, index).filter(({ outcome }) => outcome !== 'ok')).toEqual([]);
      expect(lines[index]).toMatchObject({ asks, outcome: 'failed' });
      expect(lines[index]?.remedy).not.toBeNull();
      expect(lines.slice(index + 1).filter(({ outcome }) => outcome !== 'skipped')).toEqual([]);
    }
    expect((await openStripe(running.access).testHelpers.testClocks.list()).data).toEqual([]);
  });
});
