/** A reader whose customer the publisher has deleted in Stripe's dashboard. On both databases. */
import { afterEach, expect, it } from 'vitest';
import { type BillingFixture, billingFixture, day, home, paid } from '../../../../tests/world/billing.ts';
import { onBothEngines } from '../../../../tests/world/databases.ts';
import type { Session } from '../../accounts/service.ts';

const monthly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-monthly' };
const penny = { ...monthly, plan_id: 'reader-penny' };

onBothEngines('a customer who was deleted at Stripe', (engines) => {
  let site: BillingFixture;
  let session: Session;
  afterEach(() => site?.stop());

  async function deleted(plan = monthly): Promise<void> {
    site = await billingFixture(await engines.open());
    session = await site.readers.join('ada@example.com');
    paid(await site.billing.saveShipping(session, home));
    paid(await site.billing.subscribe(session, plan));
    await site.dashboard.customers.del((await site.billing.customerOf(session)) ?? '');
    await site.deliver();
    await site.pass(day);
  }

  it('is replaced with the next purchase, and access already paid for remains', async () => {
    await deleted();
    const old = await site.billing.customerOf(session);
    expect(paid(await site.billing.quote(session, { planId: 'reader-monthly' }))).toMatchObject({ dueToday: 1200 });
    expect(paid(await site.billing.subscribe(session, { ...monthly, expected: 1200 })).grant_id).not.toBeNull();
    const fresh = (await site.billing.customerOf(session)) ?? '';
    expect(fresh).not.toBe(old);
    expect(await site.dashboard.customers.retrieve(fresh)).toMatchObject({ shipping: { name: home.name } });
    await site.billing.compare();
    await site.deliver();
    expect(await site.billing.customerOf(session)).toBe(fresh);
    expect(await site.billing.entitlements(session.userId)).toHaveLength(2);
    expect(await site.billing.subscription(session)).toMatchObject({ status: 'active' });
  });

  it('is replaced when the reader saves a card', async () => {
    await deleted();
    expect(paid(await site.billing.setupIntent(session)).clientSecret).toMatch(/^seti_/);
    paid(await site.billing.usePaymentMethod(session, 'pm_card_visa'));
    expect(await site.dashboard.customers.retrieve((await site.billing.customerOf(session)) ?? '')).toMatchObject({
      email: 'ada@example.com',
    });
  });

  it('cannot use the promotion a second time', async () => {
    await deleted(penny);
    paid(await site.billing.setupIntent(session));
    const used = { ok: false, status: 409, error: { code: 'promotion_used' } };
    expect(await site.billing.subscribe(session, penny)).toMatchObject(used);
    expect(await site.billing.quote(session, { planId: 'reader-penny' })).toMatchObject(used);
  });
});
