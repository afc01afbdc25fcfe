/** Webhooks: lost, doubled, shuffled, forged, replayed, a thousand at once, and while Stripe or the database is down. */
import { afterEach, describe, expect, it } from 'vitest';
import {
  type BillingFixture,
  billingFixture,
  day,
  home,
  paid,
  webhookSecret,
} from '../../../../tests/world/billing.ts';
import { onBothEnginesAlone } from '../../../../tests/world/databases.ts';
import type { Session } from '../../accounts/service.ts';
import type { BillingDependencies } from './dependencies.ts';
import { createWebhooks, jobOf } from './webhooks.server.ts';

const monthly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-monthly' };

describe('the job for a Stripe event', () => {
  const subscription = { object: 'subscription', id: 'sub_1', customer: 'cus_1' };
  const invoice = { object: 'invoice', customer: 'cus_1', parent: { subscription_details: { subscription: 'sub_1' } } };
  it.each([
    ['customer.subscription.updated', subscription, 'subscription:sub_1'],
    ['invoice.paid', invoice, 'subscription:sub_1'],
    ['invoice.paid', { ...invoice, parent: null }, 'customer:cus_1'],
    ['invoice.upcoming', invoice, 'announced:sub_1'],
    ['charge.refunded', { object: 'charge', customer: 'cus_1' }, 'customer:cus_1'],
    ['charge.refunded', { object: 'charge', customer: null }, null],
    ['charge.dispute.closed', { object: 'dispute', charge: 'ch_1' }, 'charge:ch_1'],
    ['charge.dispute.created', { object: 'dispute', charge: { id: 'py_1' } }, 'charge:py_1'],
    ['charge.dispute.created', { object: 'dispute', charge: 'ch_1/../../x' }, null],
    ['subscription_schedule.updated', { object: 'subscription_schedule', subscription: 'sub_1' }, 'subscription:sub_1'],
    ['price.updated', { object: 'price', id: 'price_1' }, 'catalogue:all'],
    ['product.created', { object: 'product' }, 'catalogue:all'],
    ['customer.updated', { object: 'customer', id: 'cus_1' }, null],
    ['customer.discount.created', { object: 'discount', customer: 'cus_1', subscription: null }, 'customer:cus_1'],
    ['customer.discount.updated', { object: 'discount', customer: { id: 'cus_1' } }, 'customer:cus_1'],
    [
      'customer.discount.deleted',
      { object: 'discount', customer: 'cus_1', subscription: 'sub_1' },
      'subscription:sub_1',
    ],
    ['customer.subscription.updated', { object: 'subscription', id: 'sub_1/../../x' }, null],
    ['payout.paid', { object: 'payout' }, null],
  ])('for %s with %o is %s', (type, object, subject) => {
    const job = jobOf(type, object);
    expect(job && `${job.kind}:${job.subject}`).toBe(subject);
  });
  it('for customer.updated with a changed discount concerns the customer', () => {
    const job = { kind: 'customer', subject: 'cus_1' };
    expect(jobOf('customer.updated', { object: 'customer', id: 'cus_1' }, { discount: null })).toEqual(job);
  });
});

it('refused webhooks are logged at most once a minute, with their number', async () => {
  const logged: object[] = [];
  let time = 0;
  const constructEvent = () => {
    throw new Error('not signed');
  };
  const parts = { stripe: { webhooks: { constructEvent } }, log: { warn: (context: object) => logged.push(context) } };
  const dependencies = { ...parts, now: () => time } as unknown as BillingDependencies;
  const webhook = createWebhooks(dependencies, webhookSecret, () => {});
  for (const seconds of [0, 1, 59, 60, 61]) {
    time = seconds * 1000;
    expect((await webhook(Buffer.from('{}'), 'made up')).status).toBe(400);
  }
  expect(logged).toEqual([{ refused: 1 }, { refused: 3 }]);
});

onBothEnginesAlone('webhooks', (engines) => {
  let site: BillingFixture;
  afterEach(() => site?.stop());

  async function subscribed(): Promise<Session> {
    site = await billingFixture(await engines.open());
    const session = await site.readers.join('ada@example.com');
    paid(await site.billing.subscribe(session, monthly));
    return session;
  }
  const opens = async (session: Session) => (await site.billing.entitlements(session.userId)).length;
  const stored = async () => (await site.database.db.selectFrom('stripe_events').select('id').execute()).length;
  const states = async () =>
    (await site.database.db.selectFrom('subscriptions').select('state').orderBy('id').execute()).map(
      ({ state }) => state,
    );

  it('are stored once, and change nothing when they are repeated or reordered', async () => {
    const session = await subscribed();
    await site.pass(32 * day);
    const delivered = site.events.splice(0);
    expect(delivered.length).toBeGreaterThan(10);
    await site.deliver(delivered);
    const [once, mail] = [await states(), site.mail.length];
    expect(await stored()).toBe(delivered.length);
    await site.deliver([...delivered, ...delivered].toReversed());
    expect(await states()).toEqual(once);
    expect(await stored()).toBe(delivered.length);
    expect(site.mail.length).toBe(mail);
    expect(await opens(session)).toBe(1);
  });

  it('only make the site fetch Stripe’s state; what they contain is not trusted', async () => {
    const session = await subscribed();
    const [event] = site.events.filter(({ type }) => type === 'customer.subscription.created');
    const forged = { ...event, id: 'evt_other', type: 'customer.subscription.deleted' };
    await site.deliver([forged as never]);
    expect(await opens(session)).toBe(1);
  });

  it('are refused with 400 when unsigned, wrongly signed, or over five minutes old', async () => {
    await subscribed();
    const [event] = site.events;
    if (!event) throw new Error('Stripe told nothing.');
    const raw = Buffer.from(JSON.stringify(event));
    const seconds = Math.floor(site.accounts.clock.now / 1000);
    const signed = (secret: string, timestamp = seconds, payload = raw.toString()): string =>
      site.dashboard.webhooks.generateTestHeaderString({ payload, secret, timestamp });
    for (const signature of [
      null,
      '',
      'nonsense',
      't=1,v1=',
      signed('whsec_of_somebody_else'),
      signed(webhookSecret, seconds - 301),
      signed(webhookSecret, seconds, `${raw} `),
      signed(webhookSecret).replace('v1=', 'v0='),
    ]) {
      expect((await site.billing.webhook(raw, signature)).status, String(signature)).toBe(400);
    }
    expect(await stored()).toBe(0);
    expect((await site.billing.webhook(Buffer.from('{'), signed(webhookSecret, seconds, '{'))).status).toBe(400);
    const two = `${signed('whsec_old_one_that_was_rolled')},${signed(webhookSecret).split(',')[1]}`;
    expect((await site.billing.webhook(raw, two)).status).toBe(200);
  });

  it('that arrive a thousand at once become fewer than five jobs', async () => {
    const session = await subscribed();
    await site.deliver();
    const before = site.billing.stats().tried;
    const [event] = (await site.dashboard.events.list({ type: 'customer.subscription.created' })).data;
    const many = Array.from({ length: 1000 }, (_, at) => ({ ...event, id: `evt_${at}` }));
    const statuses = await Promise.all(many.map((one) => site.send(one as never)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    await site.billing.drain();
    expect(site.billing.stats().tried - before).toBeLessThan(5);
    expect(site.billing.stats().waiting).toBe(0);
    expect(await opens(session)).toBe(1);
  });

  it('are processed later when Stripe is down, even after a restart', async () => {
    const session = await subscribed();
    await site.deliver();
    const [subscription] = (await site.dashboard.subscriptions.list()).data;
    await site.dashboard.subscriptions.cancel(subscription?.id ?? '');
    const [charge] = (await site.dashboard.charges.list()).data;
    await site.dashboard.refunds.create({ charge: charge?.id ?? '' });
    site.stripe.faults.add({ path: '/v1/subscriptions', status: 500, times: 50 });
    await site.deliver();
    expect(await opens(session)).toBe(1);
    expect(site.billing.stats().waiting).toBeGreaterThan(0);
    site.stripe.faults.clear();
    const next = await site.another();
    await site.pass(10 * 60);
    await next.drain();
    expect(await opens(session)).toBe(0);
    expect(next.stats().waiting).toBe(0);
  });

  it('may be lost: the nightly comparison finds the change', async () => {
    const session = await subscribed();
    expect(await site.billing.compare()).toEqual({ checked: 1, drifted: [] });
    const [subscription] = (await site.dashboard.subscriptions.list()).data;
    await site.dashboard.subscriptions.update(subscription?.id ?? '', { cancel_at_period_end: true });
    site.events.splice(0);
    expect((await site.billing.subscription(session))?.cancelAtPeriodEnd).toBe(false);
    expect(await site.billing.compare()).toEqual({ checked: 1, drifted: [subscription?.id] });
    expect(site.billing.stats().drift).toBe(1);
    await site.billing.drain();
    expect((await site.billing.subscription(session))?.cancelAtPeriodEnd).toBe(true);
    expect(await site.billing.compare()).toEqual({ checked: 1, drifted: [] });
  });

  it('restore a subscription that the database lost, with or without a delivery address', async () => {
    const session = await subscribed();
    const [subscription] = (await site.dashboard.subscriptions.list()).data;
    const { db } = site.database;
    for (const hasAddress of [false, true]) {
      for (const table of ['purchases', 'subscriptions', 'customers'] as const) await db.deleteFrom(table).execute();
      if (hasAddress) paid(await site.billing.saveShipping(session, home));
      await db.updateTable('customers').set({ customer: null }).execute();
      expect(await opens(session)).toBe(0);
      await site.dashboard.subscriptions.update(subscription?.id ?? '', { description: `restored ${hasAddress}` });
      await site.deliver();
      expect(await opens(session)).toBe(1);
    }
  });

  it('send no email about changes that are four days old', async () => {
    await subscribed();
    const eve = await site.readers.join('eve@example.com');
    const { subscriptionId } = paid(await site.billing.subscribe(eve, monthly));
    await site.dashboard.subscriptions.cancel(subscriptionId);
    const { db } = site.database;
    for (const table of ['purchases', 'subscriptions', 'billing_notices'] as const)
      await db.deleteFrom(table).execute();
    site.mail.splice(0);
    await site.pass(4 * day);
    await site.deliver();
    expect(await states()).toHaveLength(2);
    expect(site.mail).toEqual([]);
  });

  it('update the prices on pages, but only when a displayed value has changed', async () => {
    let calls = 0;
    site = await billingFixture(await engines.open(), { onPrices: () => void calls++ });
    calls = 0;
    await site.dashboard.prices.update('price_reader_monthly', { nickname: 'By the month' });
    await site.deliver();
    expect(calls).toBe(1);
    expect(site.billing.prices()[0]?.name).toBe('By the month');
    await site.dashboard.prices.update('price_reader_monthly', { metadata: { note: 'nothing that is shown' } });
    await site.deliver();
    expect(calls).toBe(1);
    // A process that starts while Stripe is down still has the prices.
    site.stripe.faults.add({ status: 500, times: 1000 });
    const next = await site.another();
    expect(next.prices()).toEqual(site.billing.prices());
  });

  it('about another shop in the same Stripe account are ignored', async () => {
    site = await billingFixture(await engines.open());
    const { dashboard } = site;
    const product = await dashboard.products.create({ name: 'Mugs' });
    const price = await dashboard.prices.create({
      product: product.id,
      currency: 'usd',
      unit_amount: 900,
      recurring: { interval: 'month' },
    });
    const customer = await dashboard.customers.create({ email: 'mug@example.com' });
    const card = await dashboard.paymentMethods.attach('pm_card_visa', { customer: customer.id });
    const items = [{ price: price.id }];
    await dashboard.subscriptions.create({ customer: customer.id, items, default_payment_method: card.id });
    await site.deliver();
    expect(await states()).toEqual([]);
    expect(site.mail).toEqual([]);
    expect(await site.billing.compare()).toEqual({ checked: 0, drifted: [] });
  });

  if (engines.engine === 'postgres')
    it('get a 503 while PostgreSQL is down, so that Stripe sends them again', async () => {
      await subscribed();
      const [event] = site.events;
      await engines.cluster().stop();
      try {
        expect(event && (await site.send(event))).toBe(503);
      } finally {
        await engines.cluster().start();
      }
    });
});
