/** An unpaid upgrade voids its own invoice and no other. */
import Stripe from 'stripe';
import { expect, it } from 'vitest';
import { voidSwitch } from './cancel.server.ts';

const upgrade = { id: 'in_1', status: 'open', billing_reason: 'subscription_update' };

function stripeWith(subscription: object, voidInvoice: (id: string) => void, found: object = upgrade): Stripe {
  const retrieve = async () => ({
    id: 'sub_1',
    pending_update: { expires_at: 1 },
    latest_invoice: upgrade,
    ...subscription,
  });
  return {
    subscriptions: { retrieve },
    invoices: { voidInvoice: async (id: string) => voidInvoice(id), retrieve: async () => found },
  } as unknown as Stripe;
}

it.each([
  ['voids the invoice of an upgrade that waits for its payment', {}, ['in_1'], true],
  ['leaves the invoice of a change that doesn’t wait for its payment', { pending_update: null }, [], true],
  ['leaves a paid invoice, and reports it', { latest_invoice: { ...upgrade, status: 'paid' } }, [], false],
  ['leaves a draft invoice', { latest_invoice: { ...upgrade, status: 'draft' } }, [], true],
  ['leaves a renewal invoice', { latest_invoice: { ...upgrade, billing_reason: 'subscription_cycle' } }, [], true],
  ['changes nothing when there is no invoice', { latest_invoice: null }, [], true],
])('undoing a plan switch %s', async (_, subscription, voided, ended) => {
  const ids: string[] = [];
  const stripe = stripeWith(subscription, (id) => ids.push(id));
  expect(await voidSwitch(stripe, 'sub_1')).toBe(ended);
  expect(ids).toEqual(voided);
});

it('undoing a plan switch reports if Stripe refuses to void the invoice, and fails if Stripe is down', async () => {
  const failing = (error: Error, status: string) =>
    voidSwitch(
      stripeWith(
        {},
        () => {
          throw error;
        },
        { ...upgrade, status },
      ),
      'sub_1',
    );
  const refused = new Stripe.errors.StripeInvalidRequestError({ type: 'invalid_request_error' } as never);
  expect(await failing(refused, 'paid')).toBe(false);
  expect(await failing(refused, 'open')).toBe(false);
  // Another process was faster.
  expect(await failing(refused, 'void')).toBe(true);
  const down = new Stripe.errors.StripeAPIError({ type: 'api_error' } as never);
  await expect(failing(down, 'open')).rejects.toBe(down);
});
