/** The reader's invoices and card, which only Stripe has. Always those of the reader's own customer. */

import type Stripe from 'stripe';
import { messages } from '../messages.ts';
import type { Bill, BillsAnswer, SavedCard } from '../schema.ts';
import type { Billing } from '../service.ts';
import type { BillingDependencies } from './dependencies.ts';
import { idOf, taxOf } from './fetch-subscription.server.ts';
import { asResult, ifMissing, ok, refusal } from './stripe.server.ts';

/** Invoices on one page. */
const pageSize = 12;

const isInvoice = (id: string): boolean => /^in_\w{1,250}$/.test(id);

export const createInvoices = (dependencies: BillingDependencies) =>
  ({
    bills: ({ userId }, after = null) => asResult(() => listBills(dependencies, userId, after)),
    billAddress: ({ userId }, id, as) => asResult(() => findBillAddress(dependencies, userId, id, as)),
    card: ({ userId }) => asResult(() => findCard(dependencies, userId)),
  }) satisfies Partial<Billing>;

async function listBills({ stripe, customers }: BillingDependencies, userId: string, after: string | null) {
  if (after !== null && !isInvoice(after)) return refusal(404, messages.unknownInvoice);
  const nothing = { bills: [], next: null };
  const customer = await customers.find(userId);
  if (customer === null) return ok(nothing);
  const params = { customer, limit: pageSize, starting_after: after ?? undefined };
  const page = await stripe.invoices.list(params).catch(ifMissing(null));
  if (page === null) return after === null ? ok(nothing) : refusal(404, messages.unknownInvoice);
  const bills = page.data.flatMap((invoice) => billOf(invoice) ?? []);
  return ok<BillsAnswer>({ bills, next: page.has_more ? (page.data.at(-1)?.id ?? null) : null });
}

async function findBillAddress(
  { stripe, customers }: BillingDependencies,
  userId: string,
  id: string,
  as: 'pdf' | 'page',
) {
  const customer = await customers.find(userId);
  if (customer === null || !isInvoice(id)) return refusal(404, messages.unknownInvoice);
  const invoice = await stripe.invoices.retrieve(id).catch(ifMissing(null));
  const address = as === 'pdf' ? invoice?.invoice_pdf : invoice?.hosted_invoice_url;
  return idOf(invoice?.customer) === customer && address ? ok(address) : refusal(404, messages.unknownInvoice);
}

async function findCard(dependencies: BillingDependencies, userId: string) {
  const customer = await dependencies.customers.find(userId);
  if (customer === null) return ok(null);
  return ok(savedCard(await fetchMethod(dependencies, userId, customer).catch(ifMissing(null))));
}

/** The subscription's card takes precedence over the customer's. */
async function fetchMethod(
  { stripe, subscriptions }: BillingDependencies,
  userId: string,
  customer: string,
): Promise<Stripe.PaymentMethod | null> {
  const expand = ['default_payment_method'];
  const running = await subscriptions.running(userId);
  const subscription = running && (await stripe.subscriptions.retrieve(running.id, { expand }));
  if (typeof subscription?.default_payment_method === 'object' && subscription.default_payment_method) {
    return subscription.default_payment_method;
  }
  const owner = await stripe.customers.retrieve(customer, { expand: ['invoice_settings.default_payment_method'] });
  if (owner.deleted) return null;
  const method = owner.invoice_settings.default_payment_method;
  return typeof method === 'object' ? method : null;
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
