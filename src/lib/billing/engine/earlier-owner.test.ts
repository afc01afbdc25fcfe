/** Readers who bought under another person's email address, which its owner confirms later: on both databases. */
import { afterEach, describe, expect, it } from 'vitest';
import { type BillingFixture, billingFixture, day, home, paid } from '../../../../tests/world/billing.ts';
import { onBothEngines } from '../../../../tests/world/databases.ts';
import type { Session } from '../../accounts/service.ts';
import { messages } from '../messages.ts';

const monthly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-monthly' };
const print = { payment_method: 'pm_card_visa', product_id: 'sun-member', plan_id: 'member-print-yearly' };
const refused = { ok: false, status: 409, error: { message: messages.earlierCard, code: 'earlier_card' } };
const mine = { ...home, name: 'Grace Hopper' };

onBothEngines('the owner of an email address with which another person has bought', (engines) => {
  let site: BillingFixture;
  let owner: Session;
  let id: string;
  afterEach(() => site?.stop());

  async function begin(bought: typeof monthly): Promise<void> {
    site = await billingFixture(await engines.open());
    owner = await site.readers.join('grace@example.com');
    paid(await site.billing.saveShipping(owner, home));
    ({ subscriptionId: id } = paid(await site.billing.subscribe(owner, bought)));
    await site.deliver();
    await site.pass(day);
    await site.database.transaction((tx) => site.billing.personalData.disown(tx, owner.userId));
    await site.deliver();
  }
  const invoices = async () => paid(await site.billing.invoices(owner)).bills;
  const cards = async () => paid(await site.billing.cards(owner)).map(({ card }) => card.brand);
  const exported = async () => JSON.stringify(await site.billing.personalData.export(owner));
  const replaceCard = async () => paid(await site.billing.usePaymentMethod(owner, 'pm_card_mastercard'));
  const newestInvoice = async () => (await site.dashboard.invoices.list({ limit: 1 })).data[0]?.id ?? '';
  const charges = async () => (await site.dashboard.charges.list()).data;

  it('sees no card, address or invoice of that person', async () => {
    await begin(print);
    expect(await site.billing.entitlements(owner.userId)).toHaveLength(1);
    expect([await invoices(), await cards(), await site.billing.shipping(owner)]).toEqual([[], [], null]);
    expect(paid(await site.billing.card(owner))).toBeNull();
    for (const as of ['pdf', 'page'] as const)
      expect(await site.billing.invoiceUrl(owner, await newestInvoice(), as)).toMatchObject({ status: 404 });
    const data = await exported();
    for (const theirs of [home.name, home.address.line1]) expect(data).not.toContain(theirs);
    expect(JSON.parse(data)).toMatchObject({ billing: { invoices: [], subscriptions: [{ id }] } });
    // The paper is still delivered.
    const customer = await site.dashboard.customers.retrieve((await site.billing.customerOf(owner)) ?? '');
    expect(customer).toMatchObject({ shipping: { name: home.name } });
  });

  it('can’t have that person’s card charged, but can cancel', async () => {
    await begin(monthly);
    const before = (await charges()).length;
    expect(await site.billing.quote(owner, { planId: 'member-yearly' })).toMatchObject(refused);
    expect(await site.billing.switchPlan(owner, { planId: 'member-yearly' })).toMatchObject(refused);
    expect(paid(await site.billing.cancel(owner)).cancelAtPeriodEnd).toBe(true);
    expect(await site.billing.resume(owner)).toMatchObject(refused);
    expect((await site.dashboard.subscriptions.retrieve(id)).cancel_at_period_end).toBe(true);
    expect((await charges()).length).toBe(before);
  });

  it('changes the plan and resumes with a card of their own', async () => {
    await begin(monthly);
    paid(await site.billing.cancel(owner));
    await replaceCard();
    expect(await cards()).toEqual(['mastercard']);
    expect(paid(await site.billing.resume(owner)).cancelAtPeriodEnd).toBe(false);
    expect(await invoices()).toEqual([]);
    paid(await site.billing.switchPlan(owner, { planId: 'member-yearly' }));
    expect(await invoices()).toHaveLength(1);
    expect(paid(await site.billing.invoiceUrl(owner, await newestInvoice(), 'pdf'))).toMatch(/pdf$/);
    const [charge] = await charges();
    expect(charge?.payment_method_details?.card?.brand).toBe('mastercard');
  });

  it('replaces the address, and sees the invoices of the time after both are replaced', async () => {
    await begin(print);
    await replaceCard();
    expect(await site.billing.shipping(owner)).toBeNull();
    await site.pass(400 * day);
    await site.deliver();
    expect(await invoices()).toEqual([]);
    paid(await site.billing.saveShipping(owner, mine));
    expect(await site.billing.shipping(owner)).toEqual(mine);
    expect(await invoices()).toEqual([]);
    expect(await exported()).not.toContain(home.name);
    await site.pass(366 * day);
    await site.deliver();
    expect(await invoices()).toHaveLength(1);
  });

  it('sees and pays the invoices of a subscription without a card', async () => {
    site = await billingFixture(await engines.open());
    owner = await site.readers.join('grace@example.com');
    paid(await site.billing.setupIntent(owner));
    const customer = (await site.billing.customerOf(owner)) ?? '';
    const byInvoice = { collection_method: 'send_invoice', days_until_due: 30 } as const;
    const items = [{ price: 'price_reader_monthly' }];
    const { latest_invoice: bill } = await site.dashboard.subscriptions.create({ customer, items, ...byInvoice });
    await site.dashboard.invoices.pay(String(bill), { paid_out_of_band: true });
    await site.deliver();
    await site.pass(day);
    await site.database.transaction((tx) => site.billing.personalData.disown(tx, owner.userId));
    paid(await site.billing.cancel(owner));
    expect(paid(await site.billing.resume(owner)).cancelAtPeriodEnd).toBe(false);
    expect(await invoices()).toEqual([]);
    await site.pass(32 * day);
    await site.deliver();
    expect(await invoices()).toMatchObject([{ status: 'open' }]);
  });

  it('starts anew with the next purchase', async () => {
    await begin(print);
    paid(await site.billing.cancel(owner));
    await site.pass(400 * day);
    await site.deliver();
    const asked = { ...print, payment_method: 'pm_card_mastercard' };
    expect(await site.billing.subscribe(owner, asked)).toMatchObject({ status: 400, error: { code: 'shipping' } });
    paid(await site.billing.subscribe(owner, { ...monthly, payment_method: 'pm_card_mastercard' }));
    await site.deliver();
    expect([await cards(), (await invoices()).length]).toEqual([['mastercard'], 1]);
    const customer = await site.dashboard.customers.retrieve((await site.billing.customerOf(owner)) ?? '');
    expect(customer).toMatchObject({ shipping: null });
    paid(await site.billing.switchPlan(owner, { planId: 'member-yearly' }));
  });

  it('gets no form for a card that the other person began to fill in', async () => {
    site = await billingFixture(await engines.open());
    owner = await site.readers.join('grace@example.com');
    const { clientSecret } = paid(await site.billing.setupIntent(owner));
    await site.database.transaction((tx) => site.billing.personalData.disown(tx, owner.userId));
    const own = paid(await site.billing.setupIntent(owner));
    expect(own.clientSecret).not.toBe(clientSecret);
    expect(paid(await site.billing.setupIntent(owner))).toEqual(own);
  });

  describe('while a call of that person is under way', () => {
    /** Holds the next change of a customer back until the address is confirmed. */
    async function confirmDuring(call: () => Promise<unknown>): Promise<void> {
      const { customers } = site.dashboard;
      const update = customers.update.bind(customers);
      customers.update = async (...asked: Parameters<typeof update>) => {
        customers.update = update;
        await site.database.transaction((tx) => site.billing.personalData.disown(tx, owner.userId));
        return update(...asked);
      };
      await call();
    }

    it('does not get the card', async () => {
      await begin(monthly);
      await replaceCard();
      const slow = await site.another({ stripe: site.dashboard });
      await confirmDuring(() => slow.usePaymentMethod(owner, 'pm_card_visa'));
      expect(await cards()).toEqual([]);
      expect(await site.billing.switchPlan(owner, { planId: 'member-yearly' })).toMatchObject(refused);
    });
  });

  it('keeps nothing of it after deleting the account', async () => {
    await begin(print);
    await site.billing.personalData.erase(owner, null);
    const notes = await site.database.db.selectFrom('billing_notes').select('key').execute();
    expect(notes.filter(({ key }) => key.includes(owner.userId))).toEqual([]);
  });
});
