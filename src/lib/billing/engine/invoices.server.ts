/** The reader's invoices and card, which only Stripe has. Always those of the reader's own customer. */

import type Stripe from 'stripe';
import { messages } from '../messages.ts';
import type { Bill, SavedCard } from '../schema.ts';
import type { Billing } from '../service.ts';
import { isRunning } from '../subscription-model.ts';
import type { BillingDependencies } from './dependencies.ts';
import { idOf, taxOf } from './fetch-subscription.server.ts';
import { asResult, isMissing, no, ok } from './stripe.server.ts';

/** Invoices on one page. */
const pageSize = 12;

const isInvoice = (id: string): boolean => /^in_\w{1,250}$/.test(id);

export function createInvoices(
  dependencies: BillingDependencies,
): Pick<Billing, 'bills' | 'billAddress' | 'card' | 'customerOf'> {
  const { stripe, customers, subscriptions } = dependencies;

  /** The subscription's card comes before the customer's. */
  async function cardOf(userId: string, customer: string): Promise<Stripe.PaymentMethod | null> {
    const expand = ['default_payment_method'];
    const running = (await subscriptions.ofUser(userId)).find(({ state }) => isRunning(state));
    const subscription = running && (await stripe.subscriptions.retrieve(running.state.id, { expand }));
    if (typeof subscription?.default_payment_method === 'object' && subscription.default_payment_method) {
      return subscription.default_payment_method;
    }
    const owner = await stripe.customers.retrieve(customer, { expand: ['invoice_settings.default_payment_method'] });
    if (owner.deleted) return null;
    const method = owner.invoice_settings.default_payment_method;
    return typeof method === 'object' ? method : null;
  }

  return {
    customerOf: ({ userId }) => customers.find(userId),
    bills: ({ userId }, after = null) =>
      asResult(async () => {
        if (after !== null && !isInvoice(after)) return no(404, messages.unknownInvoice);
        const customer = await customers.find(userId);
        if (customer === null) return ok({ bills: [], next: null });
        try {
          const page = await stripe.invoices.list({
            customer,
            limit: pageSize,
            starting_after: after ?? undefined,
          });
          const last = page.data.at(-1)?.id ?? null;
          return ok({
            bills: page.data.flatMap((invoice) => billOf(invoice) ?? []),
            next: page.has_more ? last : null,
          });
        } catch (error) {
          if (isMissing(error))
            return after === null ? ok({ bills: [], next: null }) : no(404, messages.unknownInvoice);
          throw error;
        }
      }),
    billAddress: ({ userId }, id, as) =>
      asResult(async () => {
        const customer = await customers.find(userId);
        if (customer === null || !isInvoice(id)) return no(404, messages.unknownInvoice);
        try {
          const invoice = await stripe.invoices.retrieve(id);
          const address = as === 'pdf' ? invoice.invoice_pdf : invoice.hosted_invoice_url;
          return idOf(invoice.customer) === customer && address ? ok(address) : no(404, messages.unknownInvoice);
        } catch (error) {
          if (isMissing(error)) return no(404, messages.unknownInvoice);
          throw error;
        }
      }),
    card: ({ userId }) =>
      asResult(async () => {
        const customer = await customers.find(userId);
        if (customer === null) return ok(null);
        try {
          return ok(savedCard(await cardOf(userId, customer)));
        } catch (error) {
          if (isMissing(error)) return ok(null);
          throw error;
        }
      }),
  };
}

/** Leaves out drafts, voided invoices, and the first one of a purchase until it is paid. */
function billOf(invoice: Stripe.Invoice): Bill | null {
  const { id, status, number, created, currency, total, billing_reason: reason, invoice_pdf: file } = invoice;
  if (!id || !status || status === 'draft' || status === 'void') return null;
  if (status !== 'paid' && reason === 'subscription_create') return null;
  return {
    id,
    number,
    currency,
    status: status as Bill['status'],
    amount: total,
    tax: taxOf(invoice),
    date: new Date(created * 1000).toISOString(),
    file: Boolean(file),
  };
}

function savedCard(method: Stripe.PaymentMethod | null): SavedCard | null {
  if (!method?.card) return null;
  const { brand, last4, exp_month: expMonth, exp_year: expYear } = method.card;
  return { brand, last4, expMonth, expYear };
}
