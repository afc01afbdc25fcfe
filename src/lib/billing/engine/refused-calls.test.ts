/** Calls that Stripe refuses without a code, or because of a change at Stripe, and what readers are told. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type BillingFixture, billingFixture, paid } from '../../../../tests/world/billing.ts';
import { prepare } from '../../../../tests/world/databases.ts';
import type { Session } from '../../accounts/service.ts';

const engines = prepare('sqlite');
let site: BillingFixture;
let session: Session;
beforeEach(async () => {
  site = await billingFixture(await engines.open());
  session = await site.readers.join('ada@example.com');
});
afterEach(() => site.stop());

const monthly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-monthly' };

/** A card that the reader has removed, which Stripe no longer accepts. */
async function removedCard(): Promise<string> {
  paid(await site.billing.setupIntent(session));
  const customer = (await site.billing.customerOf(session)) ?? '';
  const { id } = await site.dashboard.paymentMethods.attach('pm_card_visa', { customer });
  await site.dashboard.paymentMethods.detach(id);
  return id;
}

it('a payment method disabled in Stripe’s dashboard raises an error for operators, not a declined card', async () => {
  const error = {
    type: 'invalid_request_error',
    message:
      'The payment method type "link" is invalid. Please ensure the provided type is activated in your dashboard.',
    param: 'payment_settings[payment_method_types][1]',
  };
  site.stripe.faults.add({ method: 'POST', path: '/v1/subscriptions', status: 400, error });
  await expect(site.billing.subscribe(session, monthly)).rejects.toThrow('activated in your dashboard');
  paid(await site.billing.subscribe(session, monthly));
});

it('a removed card counts as declined, at checkout and when it is saved for later', async () => {
  const card = await removedCard();
  const refused = { ok: false, status: 402 };
  expect(await site.billing.subscribe(session, { ...monthly, payment_method: card })).toMatchObject(refused);
  const free = { ...monthly, payment_method: card, plan_id: 'reader-yearly', discount_code: 'FREEYEAR' };
  expect(await site.billing.subscribe(session, free)).toMatchObject(refused);
  expect(await site.billing.usePaymentMethod(session, card)).toMatchObject(refused);
  paid(await site.billing.subscribe(session, monthly));
  const { data } = await site.dashboard.charges.list();
  expect(data.map(({ amount }) => amount)).toEqual([1200]);
});
