/**
 * An account that is deleted during its reader's purchase, before and after every call that the purchase makes to Stripe: whatever the
 * order, and whichever process dies in between, in the end no subscription runs and every charge is refunded. On both databases.
 */
import Stripe from 'stripe';
import { afterEach, expect, it } from 'vitest';
import { caller } from '../../../../tests/world/accounts.ts';
import { type BillingFixture, billingFixture, paid } from '../../../../tests/world/billing.ts';
import { onBothEngines } from '../../../../tests/world/databases.ts';
import type { Session } from '../../accounts/service.ts';
import { apiVersion } from './stripe.server.ts';

const monthly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-monthly' };

onBothEngines('an account that is deleted while its reader buys', (engines) => {
  let site: BillingFixture;
  afterEach(() => site?.stop());

  /** The steps of a deletion, as `withBilling` in src/server/readers.ts takes them. */
  const steps = (session: Session) => [
    () => site.billing.personalData.erase(session, null),
    async () => void (await site.accounts.accounts.forget(session, caller())),
    () => site.billing.personalData.erase(session, null),
  ];

  /** Another process, which does something before and after each of its calls to Stripe. */
  async function node(around: (moment: number) => Promise<void>) {
    let moment = 0;
    const fetching = async (input: unknown, init?: RequestInit): Promise<Response> => {
      await around(moment++);
      const answer = await site.fetch(input as string, init);
      await around(moment++);
      return answer;
    };
    const options = { apiVersion, host: 'stripe.test', protocol: 'http', maxNetworkRetries: 0 } as const;
    const httpClient = Stripe.createFetchHttpClient(fetching as typeof fetch);
    return site.another({ stripe: new Stripe(site.stripe.keys.secret, { ...options, httpClient }) });
  }

  /** What remains at Stripe once all background work is done. */
  async function remains(): Promise<{ readonly charged: number; readonly live: number }> {
    for (let round = 0; round < 2; round++) {
      await site.billing.recover();
      await site.deliver();
    }
    await site.pass(50 * 60);
    await site.billing.recover();
    await site.deliver();
    const charges = (await site.dashboard.charges.list({ limit: 100 })).data.filter((one) => one.paid);
    const subscriptions = (await site.dashboard.subscriptions.list({ status: 'all', limit: 100 })).data;
    return {
      charged: charges.reduce((sum, one) => sum + one.amount - one.amount_refunded, 0),
      live: subscriptions.filter(({ status }) => !['canceled', 'incomplete_expired'].includes(status)).length,
    };
  }

  /** The moments of a deletion's steps, counted from the chosen moment. */
  const ways: readonly (readonly [string, readonly number[], 'lives' | 'dies'])[] = [
    ['with a deletion in one go', [0, 0, 0], 'lives'],
    ['with a deletion in steps', [0, 1, 2], 'lives'],
    ['with a slow deletion', [0, 3, 7], 'lives'],
    ['with a deletion whose process dies', [0, 2], 'lives'],
    ['with a purchase whose process dies', [0, 0, 0], 'dies'],
    ['with a deletion in steps, when both processes die', [0, 1], 'dies'],
  ];

  // PostgreSQL differs only in its locks.
  it.each(engines.engine === 'sqlite' ? ways : ways.slice(1, 2))(
    '%s: no subscription is left running, and every charge is refunded',
    async (_, offsets, end) => {
      site = await billingFixture(await engines.open());
      for (let from = 0; from < 60; from++) {
        const session = await site.readers.join(`reader-${from}@example.com`);
        const deletion = steps(session);
        let done = 0;
        let last = 0;
        const buyer = await node(async (moment) => {
          last = moment;
          while (done < offsets.length && moment >= from + (offsets[done] ?? 0)) await deletion[done++]?.();
          if (end === 'dies' && done === offsets.length) throw new Error('This process has ended.');
        });
        const answer = await buyer.subscribe(session, monthly).catch(() => null);
        const reached = done > 0;
        // Steps that the purchase ended before are done afterward, unless the process was cut off.
        while (reached && done < offsets.length) await deletion[done++]?.();
        await buyer.stop();
        if (!reached) {
          // The purchase was finished before: the reader has the subscription, and keeps it.
          expect(last).toBeLessThan(from);
          expect(answer).toMatchObject({ ok: true });
          expect(from).toBeGreaterThan(10);
          break;
        }
      }
      // The charge of the last reader, who was not deleted.
      expect(await remains()).toEqual({ charged: 1200, live: 1 });
    },
  );

  it.each(['purchase first', 'deletion first'])(
    'leaves no subscription and no charge when one process does both at the same moment (%s)',
    async (order) => {
      site = await billingFixture(await engines.open());
      const session = await site.readers.join('ada@example.com');
      const leave = async () => {
        for (const step of steps(session)) await step();
      };
      const buy = () => site.billing.subscribe(session, monthly);
      await Promise.all(order === 'purchase first' ? [buy(), leave()] : [leave(), buy()]);
      expect(await remains()).toEqual({ charged: 0, live: 0 });
    },
  );

  it('gets no refund for a purchase that was completed two minutes before', async () => {
    site = await billingFixture(await engines.open());
    const session = await site.readers.join('ada@example.com');
    paid(await site.billing.subscribe(session, monthly));
    await site.pass(120);
    for (const step of steps(session)) await step();
    expect(await remains()).toEqual({ charged: 1200, live: 0 });
  });
});
