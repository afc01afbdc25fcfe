/** A Stripe key of another account, or of test mode, set by mistake. On both databases. */
import { afterEach, expect, it, vi } from 'vitest';
import { stripeFetch } from '../../../../sandbox/stripe/handlers.ts';
import { openState } from '../../../../sandbox/stripe/state.ts';
import { type BillingFixture, billingFixture, day, paid } from '../../../../tests/world/billing.ts';
import { onBothEngines } from '../../../../tests/world/databases.ts';
import { createJobQueue } from '../../jobs/queue.server.ts';
import type { Logger } from '../../logging.ts';
import { silent } from '../../logging.ts';
import { openOwnStripe } from './account.server.ts';
import type { BillingJobKind } from './dependencies.ts';

const monthly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-monthly' };

onBothEngines('a Stripe key', (engines) => {
  let site: BillingFixture;
  let errors: string[];
  afterEach(() => site?.stop());

  /**
   * Billing with a key of this account, whose responses come from another account. @param account `null`: the key may not read
   * its account
   */
  async function billingOf(account: string | null, fetch: typeof globalThis.fetch, secretKey = 'sk_live_1') {
    const throughFetch: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      const error = {
        type: 'invalid_request_error',
        message: 'The provided key does not have the required permissions.',
      };
      if (new URL(request.url).pathname === '/v1/account')
        return account === null
          ? Response.json({ error }, { status: 403 })
          : Response.json({ id: account, object: 'account' });
      request.headers.set('authorization', `Bearer ${site.stripe.keys.secret}`);
      return fetch(request);
    };
    const error = (_: object, message: string): void => void errors.push(message);
    const log: Logger = Object.assign(Object.create(silent), { error });
    const access = { secretKey, apiUrl: 'http://stripe.test' };
    const { clock } = site.accounts;
    const own = openOwnStripe({ access, database: site.database, log, now: () => clock.now, throughFetch });
    return site.another({ own });
  }

  async function sold() {
    errors = [];
    site = await billingFixture(await engines.open());
    const session = await site.readers.join('ada@example.com');
    const right = await billingOf('acct_1', site.fetch);
    paid(await right.subscribe(session, monthly));
    return { session, right, customer: (await right.customerOf(session)) ?? '' };
  }

  it.each([
    ['of another account', 'acct_2', 'sk_live_2', 'STRIPE_SECRET_KEY belongs to the account acct_2'],
    ['of test mode', 'acct_1', 'sk_test_1', 'STRIPE_SECRET_KEY is a test-mode key'],
  ])(
    '%s cannot sell, is logged, and leaves the right account’s jobs and data intact',
    async (_, account, secretKey, words) => {
      const { session, customer } = await sold();
      const other = openState({ systemTime: () => site.accounts.clock.now });
      const wrong = await billingOf(account, stripeFetch(other), secretKey);
      const another = await site.readers.join('bob@example.com');
      expect(await wrong.setupIntent(session)).toMatchObject({ ok: false, status: 503 });
      expect(await wrong.subscribe(another, monthly)).toMatchObject({ ok: false, status: 503 });
      expect(await wrong.customerOf(session)).toBe(customer);
      expect(await wrong.entitlements(session.userId)).toHaveLength(1);
      expect([...other.account.store.all('customer')]).toEqual([]);
      expect(errors).toEqual([expect.stringContaining(words)]);
      const jobs = createJobQueue<BillingJobKind>(site.database, 'stripe', () => site.accounts.clock.now);
      await jobs.add(site.database.db, { kind: 'erase-customer', subject: customer, once: true });
      await wrong.drain();
      expect((await jobs.waiting()).count).toBeGreaterThan(0);
      await site.pass(day);
      const right = await billingOf('acct_1', site.fetch, 'rk_live_1');
      expect(paid(await right.setupIntent(session)).clientSecret).toMatch(/^seti_/);
      await right.drain();
      expect(await site.dashboard.customers.retrieve(customer)).toMatchObject({ deleted: true });
      expect(await jobs.waiting()).toMatchObject({ count: 0 });
    },
  );

  it('of another account is accepted within a minute after the operator deletes the account note', async () => {
    const { session } = await sold();
    const other = await billingOf('acct_2', site.fetch);
    expect(await other.setupIntent(session)).toMatchObject({ ok: false, status: 503 });
    await site.database.db.deleteFrom('billing_notes').where('key', '=', 'stripe account').execute();
    await site.pass(60);
    expect(await other.setupIntent(session)).toMatchObject({ ok: true });
  });

  it('of another account is reported to operators from the start until the problem is fixed', async () => {
    await sold();
    const other = await billingOf('acct_2', site.fetch);
    expect(other.stats().keyProblem).toBeNull();
    other.start();
    const named = expect.stringContaining('STRIPE_SECRET_KEY belongs to the account acct_2');
    await vi.waitFor(() => expect(other.stats().keyProblem).toEqual(named));
    await other.stop();
    await site.database.db.deleteFrom('billing_notes').where('key', '=', 'stripe account').execute();
    await site.pass(60);
    await other.refresh();
    expect(other.stats().keyProblem).toBeNull();
  });

  it('of a second account is refused when two accounts’ keys are first used at the same moment', async () => {
    errors = [];
    site = await billingFixture(await engines.open());
    const session = await site.readers.join('ada@example.com');
    const both = [await billingOf('acct_1', site.fetch), await billingOf('acct_2', site.fetch)];
    const answers = await Promise.all(both.map((billing) => billing.setupIntent(session)));
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    expect(errors).toEqual([expect.stringContaining('STRIPE_SECRET_KEY belongs to the account')]);
  });

  it('without permission to read its own account can still sell', async () => {
    const { session } = await sold();
    expect(await (await billingOf(null, site.fetch, 'rk_live_1')).setupIntent(session)).toMatchObject({ ok: true });
  });

  it('of live mode can replace one of test mode', async () => {
    errors = [];
    site = await billingFixture(await engines.open());
    const session = await site.readers.join('ada@example.com');
    paid(await (await billingOf('acct_2', site.fetch, 'sk_test_2')).setupIntent(session));
    paid(await (await billingOf('acct_1', site.fetch, 'sk_live_1')).setupIntent(session));
    expect(errors).toEqual([]);
  });
});
