import type Stripe from 'stripe';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { escalateInquiry, openDispute } from './payments/disputes.ts';
import { errorOf, type Fixture, openFixture } from './testing.ts';

let fixture: Fixture;
let stripe: Stripe;
beforeEach(async () => {
  fixture = await openFixture();
  stripe = fixture.stripe;
});
afterEach(() => fixture.stop());

async function pay(card: string): Promise<Stripe.PaymentIntent> {
  const { id } = await stripe.paymentIntents.create({
    amount: 1200,
    currency: 'usd',
    allowed_payment_method_types: ['card'],
  });
  return stripe.paymentIntents.confirm(id, { payment_method: card });
}
async function disputed(card = 'pm_card_createDispute'): Promise<Stripe.Dispute> {
  const { latest_charge: charge, status } = await pay(card);
  expect(status).toBe('succeeded');
  const { data } = await stripe.disputes.list({ charge: charge as string });
  const [dispute] = data;
  if (!dispute) throw new Error('Nothing is disputed.');
  return dispute;
}
const eventTypes = async () => (await stripe.events.list({ limit: 100 })).data.map(({ type }) => type).toReversed();

it('a charge to a disputing test card is disputed and can no longer be refunded', async () => {
  const dispute = await disputed();
  expect(dispute).toMatchObject({ object: 'dispute', amount: 1200, reason: 'fraudulent', status: 'needs_response' });
  // As in Stripe's API: the customer is named on the charge.
  expect('customer' in dispute).toBe(false);
  expect(await stripe.charges.retrieve(dispute.charge as string)).toMatchObject({ disputed: true, refunded: false });
  expect(await eventTypes()).toEqual(
    expect.arrayContaining(['charge.succeeded', 'charge.dispute.created', 'charge.dispute.funds_withdrawn']),
  );
  expect((await stripe.disputes.list({ payment_intent: 'pi_other' })).data).toEqual([]);
  const refused = await errorOf(stripe.refunds.create({ charge: dispute.charge as string }));
  expect(refused).toMatchObject({ statusCode: 400, code: 'charge_disputed' });
});

it.each([
  ['losing_evidence', 'lost', ['charge.dispute.closed']],
  ['winning_evidence', 'won', ['charge.dispute.funds_reinstated', 'charge.dispute.closed']],
])('a dispute answered with %s is %s', async (words, status, events) => {
  const { id } = await disputed();
  expect(await stripe.disputes.update(id, { evidence: { uncategorized_text: words } })).toMatchObject({ status });
  expect((await eventTypes()).slice(-events.length)).toEqual(events);
  expect(await errorOf(stripe.disputes.close(id))).toMatchObject({ statusCode: 400 });
});

it('a dispute with other evidence is under review, and is lost when it is closed', async () => {
  const { id } = await disputed('pm_card_createDisputeProductNotReceived');
  const later = await stripe.disputes.update(id, { evidence: { uncategorized_text: 'It was read.' } });
  expect(later).toMatchObject({ status: 'under_review', reason: 'product_not_received' });
  expect(await stripe.disputes.close(id)).toMatchObject({ status: 'lost' });
});

it('an inquiry moves no money, and its charge can still be refunded', async () => {
  const { id, charge, status } = await disputed('pm_card_createDisputeInquiry');
  expect(status).toBe('warning_needs_response');
  expect(await eventTypes()).not.toContain('charge.dispute.funds_withdrawn');
  expect(await stripe.refunds.create({ charge: charge as string })).toMatchObject({ status: 'succeeded' });
  expect(await stripe.disputes.close(id)).toMatchObject({ status: 'warning_closed' });
});

it('an escalated inquiry withdraws the funds, blocks refunds, and is lost when it is closed', async () => {
  const { id, charge } = await disputed('pm_card_createDisputeInquiry');
  const { account } = fixture.state;
  account.transaction(() => escalateInquiry(account, account.need('dispute', id)));
  expect(await stripe.disputes.retrieve(id)).toMatchObject({ status: 'needs_response', is_charge_refundable: false });
  expect((await eventTypes()).slice(-2)).toEqual(['charge.dispute.updated', 'charge.dispute.funds_withdrawn']);
  expect(await errorOf(stripe.refunds.create({ charge: charge as string }))).toMatchObject({ code: 'charge_disputed' });
  expect(await stripe.disputes.close(id)).toMatchObject({ status: 'lost' });
});

it('a dispute keeps earlier refunds and blocks further ones', async () => {
  const { latest_charge: charge } = await pay('pm_card_visa');
  await stripe.refunds.create({ charge: charge as string, amount: 200 });
  const { account } = fixture.state;
  const { id } = account.transaction(() => openDispute(account, account.need('charge', charge as string)));
  expect(await stripe.disputes.close(id)).toMatchObject({ status: 'lost' });
  expect(await stripe.charges.retrieve(charge as string)).toMatchObject({ amount_refunded: 200, disputed: true });
  const more = await errorOf(stripe.refunds.create({ charge: charge as string, amount: 1 }));
  expect(more).toMatchObject({ statusCode: 400, code: 'charge_disputed' });
});

it('a dispute can be opened and decided with the buttons on the sandbox’s page', async () => {
  const { latest_charge: charge } = await pay('pm_card_visa');
  const press = (action: string, fields: Record<string, string>) =>
    fetch(`${fixture.access.url}page/${action}`, { method: 'POST', body: new URLSearchParams(fields) });
  await press('dispute', { charge: charge as string });
  const [dispute] = (await stripe.disputes.list()).data;
  const shown = await (await fetch(`${fixture.access.url}?view=payments`)).text();
  expect(shown).toContain('needs response');
  expect(shown).toContain('Lose');
  await press('decide', { dispute: dispute?.id ?? '', won: 'no' });
  expect((await stripe.disputes.list()).data).toMatchObject([{ status: 'lost' }]);
});
