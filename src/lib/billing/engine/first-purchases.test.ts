/**
 * First purchases of one reader, many at once and over two processes: one customer, one subscription, and no internal error.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, expect, it } from 'vitest';
import { type BillingFixture, billingFixture, home } from '../../../../tests/world/billing.ts';
import { onBothEngines } from '../../../../tests/world/databases.ts';

const monthly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-monthly' };

onBothEngines('twenty simultaneous first purchases', (engines) => {
  let site: BillingFixture;
  afterEach(() => site?.stop());

  it('create one customer and one subscription', async () => {
    site = await billingFixture(await engines.open());
    const nodes = [site.billing, await site.another()];
    for (const name of ['ada', 'eve', 'grace', 'joan']) {
      const session = await site.readers.join(`${name}@example.com`);
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, at) => nodes[at % 2]?.subscribe(session, monthly, `198.51.100.${at}`)),
      );
      // Only "wait" is an acceptable refusal.
      const refused = answers.filter((answer) => answer?.ok === false);
      expect(refused.filter((answer) => answer?.ok === false && answer.status !== 409)).toEqual([]);
      expect(answers.length).toBeGreaterThan(refused.length);
      const { data } = await site.dashboard.customers.list({ email: session.email });
      expect(data).toHaveLength(1);
      const own = await site.dashboard.subscriptions.list({ customer: data[0]?.id ?? '', status: 'all' });
      expect(own.data.map(({ status }) => status)).toEqual(['active']);
    }
    expect((await site.dashboard.charges.list({ limit: 100 })).data).toHaveLength(4);
  });

  it('get 409 in a process that checked before another process’s purchase was paid', async () => {
    site = await billingFixture(await engines.open());
    const session = await site.readers.join('ada@example.com');
    const looked = Promise.withResolvers<void>();
    const firstIsPaid = Promise.withResolvers<void>();
    const { invoices } = site.dashboard;
    const preview = invoices.createPreview.bind(invoices);
    invoices.createPreview = async (...asked) => {
      looked.resolve();
      await firstIsPaid.promise;
      return preview(...asked);
    };
    const slow = await site.another({ stripe: site.dashboard });
    const second = slow.subscribe(session, { ...monthly, attempt: randomUUID() }, '198.51.100.2');
    await looked.promise;
    expect(await site.billing.subscribe(session, { ...monthly, attempt: randomUUID() }, null)).toMatchObject({
      ok: true,
    });
    firstIsPaid.resolve();
    expect(await second).toMatchObject({ ok: false, status: 409 });
    expect((await site.dashboard.subscriptions.list({ status: 'all' })).data).toHaveLength(1);
    expect((await site.dashboard.charges.list()).data).toHaveLength(1);
  });

  it('do not conflict with a delivery address that is saved at the same time', async () => {
    site = await billingFixture(await engines.open());
    const other = await site.another();
    for (let round = 0; round < 10; round++) {
      const session = await site.readers.join(`reader-${round}@example.com`);
      const saves = Array.from({ length: 4 }, () => other.saveShipping(session, home));
      const done = await Promise.all([site.billing.setupIntent(session), ...saves, other.setupIntent(session)]);
      expect(done.filter(({ ok }) => !ok)).toEqual([]);
      expect(await site.billing.shipping(session)).toEqual(home);
      expect(await site.billing.customerOf(session)).toMatch(/^cus_/);
    }
  });
});
