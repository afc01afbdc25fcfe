/** Purchases as they are stored: how they end, depending on their subscription's state, and which ones stay unchanged. */
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { type BillingFixture, billingFixture, day, paid, storePurchase } from '../../../../tests/world/billing.ts';
import { prepare } from '../../../../tests/world/databases.ts';
import type { Session } from '../../accounts/service.ts';
import type { StripeState } from '../subscription-model.ts';
import { createPurchases } from './purchases.server.ts';

const engines = prepare('sqlite');
let site: BillingFixture;
afterEach(() => site?.stop());

const monthly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-monthly' };

async function subscribed(body: object = {}): Promise<{ session: Session; id: string }> {
  site = await billingFixture(await engines.open());
  const session = await site.readers.join('ada@example.com');
  const { subscriptionId: id } = paid(await site.billing.subscribe(session, { ...monthly, ...body }));
  await site.deliver();
  return { session, id };
}

const stateOf = async (id: string) =>
  (await site.database.db.selectFrom('purchases').select('state').where('id', '=', id).executeTakeFirst())?.state;

it('invoices of refused upgrades take nothing of what was paid for', async () => {
  const { session, id: subscription } = await subscribed();
  const { invoiceItems, invoices, subscriptions } = site.dashboard;
  const customer = String((await subscriptions.retrieve(subscription)).customer);
  for (let upgrades = 0; upgrades < 24; upgrades++) {
    await invoiceItems.create({ customer, subscription, amount: 500, currency: 'usd' });
    const params = { customer, subscription, pending_invoice_items_behavior: 'include' } as const;
    const { id = '' } = await invoices.create(params);
    await invoices.finalizeInvoice(id);
    await invoices.voidInvoice(id);
  }
  await site.deliver();
  expect(await site.billing.entitlements(session.userId)).toHaveLength(1);
  const { state } = await site.database.db.selectFrom('subscriptions').select('state').executeTakeFirstOrThrow();
  const stored: StripeState = JSON.parse(state ?? '');
  expect(stored.invoices.map(({ status }) => status)).toEqual([...Array(6).fill('void'), 'paid']);
});

describe('an interrupted upgrade', () => {
  const beginSwitch = ({ session, id }: { session: Session; id: string }, plan = 'member-monthly') =>
    storePurchase(site, session.userId, {
      kind: 'switch',
      plan,
      price: `price_${plan.replace('-', '_')}`,
      subscription: id,
    });
  const changed = async (id: string, change: object) => {
    const [item] = (await site.dashboard.subscriptions.retrieve(id)).items.data;
    const items = [{ id: item?.id ?? '', price: 'price_member_monthly' }];
    await site.dashboard.subscriptions.update(id, { items, ...change });
  };

  it('stays open while the subscription has its old plan', async () => {
    const bought = await subscribed();
    const purchase = await beginSwitch(bought);
    await site.dashboard.subscriptions.update(bought.id, { metadata: { noted: 'yes' } });
    await site.deliver();
    expect(await stateOf(purchase)).toBe('open');
  });

  it('stays open when it leads back to a plan that was paid for earlier', async () => {
    const bought = await subscribed();
    paid(await site.billing.switchPlan(bought.session, { planId: 'member-monthly' }));
    await site.deliver();
    const purchase = await beginSwitch(bought, 'reader-monthly');
    await site.dashboard.subscriptions.update(bought.id, { metadata: { noted: 'yes' } });
    await site.deliver();
    expect(await stateOf(purchase)).toBe('open');
  });

  it('is done once the new plan is paid', async () => {
    const bought = await subscribed();
    const purchase = await beginSwitch(bought);
    const customer = (await site.billing.customerOf(bought.session)) ?? '';
    const bad = await site.dashboard.paymentMethods.attach('pm_card_chargeCustomerFail', { customer });
    await site.dashboard.subscriptions.update(bought.id, { default_payment_method: bad.id });
    await changed(bought.id, { proration_behavior: 'always_invoice' });
    await site.deliver();
    expect(await site.billing.subscription(bought.session)).toMatchObject({ planId: 'member-monthly' });
    expect(await stateOf(purchase)).toBe('open');
    const { latest_invoice: invoice } = await site.dashboard.subscriptions.retrieve(bought.id);
    const good = await site.dashboard.paymentMethods.attach('pm_card_visa', { customer });
    await site.dashboard.invoices.pay(String(invoice), { payment_method: good.id });
    await site.deliver();
    expect(await stateOf(purchase)).toBe('done');
  });

  it('is done when the new plan is scheduled for the next invoice', async () => {
    const bought = await subscribed();
    const purchase = await beginSwitch(bought);
    const { id: schedule, phases } = await site.dashboard.subscriptionSchedules.create({
      from_subscription: bought.id,
    });
    const { start_date, end_date } = phases[0] ?? {};
    const phase = (price: string) => ({ items: [{ price }], proration_behavior: 'none' as const });
    const present = { ...phase('price_reader_monthly'), start_date, end_date };
    await site.dashboard.subscriptionSchedules.update(schedule, { phases: [present, phase('price_member_monthly')] });
    await site.deliver();
    expect(await stateOf(purchase)).toBe('done');
  });

  it('is given up when its subscription is canceled', async () => {
    const bought = await subscribed();
    const purchase = await beginSwitch(bought);
    await site.dashboard.subscriptions.cancel(bought.id);
    await site.deliver();
    expect(await stateOf(purchase)).toBe('given up');
  });
});

describe('an interrupted purchase', () => {
  /** As if this purchase had created its subscription, and then something had happened to the subscription. */
  async function after(body: object, happens: (id: string) => Promise<unknown>): Promise<string | undefined> {
    const { session, id } = await subscribed(body);
    await site.database.db.deleteFrom('purchases').execute();
    const purchase = await storePurchase(site, session.userId, { subscription: id });
    await happens(id);
    await site.dashboard.subscriptions.update(id, { metadata: { purchase } }).catch(() => null);
    await site.deliver();
    return stateOf(purchase);
  }
  const refund = async () => {
    const [charge] = (await site.dashboard.charges.list()).data;
    await site.dashboard.refunds.create({ charge: charge?.id ?? '' });
  };
  const cancel = (id: string) => site.dashboard.subscriptions.cancel(id);
  const free = { plan_id: 'reader-yearly', discount_code: 'FREEYEAR' };

  it.each<[string, object, (id: string) => Promise<unknown>, string]>([
    ['is paid', {}, async () => {}, 'done'],
    ['is paid and then canceled', {}, cancel, 'done'],
    ['is paid and refunded, and still runs', {}, refund, 'done'],
    ['is paid, refunded and canceled', {}, (id) => refund().then(() => cancel(id)), 'given up'],
    ['costs nothing at first', free, async () => {}, 'done'],
    ['costs nothing at first, and is canceled', free, cancel, 'given up'],
    ['waits for the bank’s confirmation', { payment_method: 'pm_card_authenticationRequired' }, async () => {}, 'open'],
  ])('is done, given up or left open according to its subscription, which %s', async (_, body, happens, state) => {
    expect(await after(body, happens)).toBe(state);
  });
});

it('idle purchases are the open ones that were not updated since a given time, oldest first', async () => {
  site = await billingFixture(await engines.open());
  const readers = ['ada', 'eve', 'grace', 'joan', 'mary'].map((name) => site.readers.join(`${name}@example.com`));
  const [ada, eve, grace, joan, mary] = (await Promise.all(readers)).map(({ userId }) => userId);
  const recent = await storePurchase(site, ada ?? '', { updated: 300 });
  const older = await storePurchase(site, eve ?? '', { updated: 200 });
  const oldest = await storePurchase(site, grace ?? '', { updated: 100 });
  await storePurchase(site, joan ?? '', { updated: 400 });
  await storePurchase(site, mary ?? '', { updated: 50, state: 'done' });
  await storePurchase(site, mary ?? '', { updated: 50, state: 'given up' });
  const { idle } = createPurchases(site.database, () => 1000);
  const ids = async (most: number) => (await idle(400, most)).map(({ id }) => id);
  expect(await ids(50)).toEqual([oldest, older, recent]);
  expect(await ids(2)).toEqual([oldest, older]);
});

describe('a quote', () => {
  const kind = async (session: Session, planId = 'member-monthly') =>
    paid(await site.billing.quote(session, { planId })).kind;

  it('is for an upgrade while another plan change, or another purchase, is open', async () => {
    const { session, id } = await subscribed();
    const open = await storePurchase(site, session.userId, { kind: 'switch', subscription: id });
    expect(await kind(session)).toBe('upgrade');
    await site.database.db.deleteFrom('purchases').where('id', '=', open).execute();
    await storePurchase(site, session.userId, {});
    expect(await kind(session)).toBe('upgrade');
  });

  it('is for a new purchase while the purchase of the subscription itself is open', async () => {
    const { session, id } = await subscribed();
    const purchase = randomUUID();
    await site.dashboard.subscriptions.update(id, { metadata: { purchase } });
    await site.deliver();
    expect(await kind(session)).toBe('upgrade');
    await storePurchase(site, session.userId, { id: purchase, subscription: id });
    expect(await kind(session)).toBe('new');
  });

  it.each(['at once', 'at the end of its period'])(
    'is for a new purchase when the subscription has ended %s, even without a webhook',
    async (when) => {
      const { session, id } = await subscribed();
      if (when === 'at once') await site.dashboard.subscriptions.cancel(id);
      else await site.dashboard.subscriptions.update(id, { cancel_at_period_end: true });
      await site.pass(when === 'at once' ? 60 : 32 * day);
      site.events.splice(0);
      expect(await kind(session)).toBe('new');
    },
  );
});
