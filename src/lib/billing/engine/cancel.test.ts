/** An unpaid upgrade voids its own invoice and no other. */
import Stripe from 'stripe';
import { expect, it } from 'vitest';
import { voidSwitch } from './cancel.server.ts';

const upgrade = { id: 'in_1', status: 'open', billing_reason: 'subscription_update' };

function stripeWith(subscription: object, voidInvoice: (id: string) => void): Stripe {
  const retrieve = async () => ({
    id: 'sub_1',
    pending_update: { expires_at: 1 },
    latest_invoice: upgrade,
    ...subscription,
  });
  return {
    subscriptions: { retrieve },
    invoices: { voidInvoice: async (id: string) => voidInvoice(id) },
  } as unknown as Stripe;
}

it.each([
  ['voids the invoice of an upgrade that waits for its payment', {}, ['in_1']],
  ['leaves the invoice of a change that doesn’t wait for its payment', { pending_update: null }, []],
  ['leaves a paid invoice', { latest_invoice: { ...upgrade, status: 'paid' } }, []],
  ['leaves a draft invoice', { latest_invoice: { ...upgrade, status: 'draft' } }, []],
  ['leaves a renewal invoice', { latest_invoice: { ...upgrade, billing_reason: 'subscription_cycle' } }, []],
  ['changes nothing when there is no invoice', { latest_invoice: null }, []],
])('undoing a plan switch %s', async (_, subscription, voided) => {
  const ids: string[] = [];
  await voidSwitch(
    stripeWith(subscription, (id) => ids.push(id)),
    'sub_1',
  );
  expect(ids).toEqual(voided);
});

it('undoing a plan switch succeeds if Stripe refuses to void the invoice, and fails if Stripe is down', async () => {
  const failing = (error: Error) =>
    voidSwitch(
      stripeWith({}, () => {
        throw error;
      }),
      'sub_1',
    );
  const paid = new Stripe.errors.StripeInvalidRequestError({ type: 'invalid_request_error' } as never);
  await expect(failing(paid)).resolves.toBeUndefined();
  const down = new Stripe.errors.StripeAPIError({ type: 'api_error' } as never);
  await expect(failing(down)).rejects.toBe(down);
});
