/** The reader's invoices and card, which only Stripe has. Always those of the reader's own customer. */

import type Stripe from 'stripe';
import { subscriptionName } from '../../plans/membership.ts';
import { messages } from '../messages.ts';
import type { ChargedCard, Invoice, InvoicesAnswer, SavedCard } from '../schema.ts';
import type { Billing } from '../service.ts';
import { isRunning, type StripeState } from '../subscription-model.ts';
import type { BillingDependencies } from './dependencies.ts';
import { findEarlier } from './earlier-owner.server.ts';
import { idOf, taxOf } from './fetch-subscription.server.ts';
import { asResult, ifMissing, ok, refusal } from './stripe.server.ts';

/** Invoices on one page. */
const pageSize = 12;

const isInvoice = (id: string): boolean => /^in_\w{1,250}$/.test(id);

export const createInvoices = (dependencies: BillingDependencies) =>
  ({
    invoices: ({ userId }, after = null) => asResult(() => listInvoices(dependencies, userId, after)),
    invoiceUrl: ({ userId }, id, as) => asResult(() => findInvoiceUrl(dependencies, userId, id, as)),
    async card({ userId }) {
      const cards = await asResult(() => findCards(dependencies, userId));
      return cards.ok ? ok(cards.value[0]?.card ?? null) : cards;
    },
    cards: ({ userId }) => asResult(() => findCards(dependencies, userId)),
  }) satisfies Partial<Billing>;

/** Names of a reader's subscriptions by their ids, with those that have ended; none unless several run. */
function namesOf(states: readonly StripeState[]): ReadonlyMap<string, string> {
  if (states.filter(isRunning).length < 2) return new Map();
  return new Map(
    states.map(({ id, price: { product, name, print } }) => [
      id,
      subscriptionName({ productId: product, planName: name, print }),
    ]),
  );
}

async function listInvoices(dependencies: BillingDependencies, userId: string, after: string | null) {
  const { stripe, database, customers } = dependencies;
  if (after !== null && !isInvoice(after)) return refusal(404, messages.unknownInvoice);
  const nothing = { bills: [], next: null };
  const customer = await customers.find(userId);
  if (customer === null) return ok(nothing);
  const params = { customer, limit: pageSize, starting_after: after ?? undefined };
  const page = await stripe.invoices.list(params).catch(ifMissing(null));
  if (page === null) return after === null ? ok(nothing) : refusal(404, messages.unknownInvoice);
  const states = await dependencies.subscriptions.statesOf(userId);
  const names = namesOf(states);
  const refunded = new Set(
    states.flatMap(({ invoices }) => invoices.filter((one) => one.refunded).map(({ id }) => id)),
  );
  const { isEarlier } = await findEarlier(database.db, userId);
  const own = page.data.filter(({ created }) => !isEarlier(created));
  const invoices = own.flatMap((invoice) => invoiceOf(invoice, names, refunded) ?? []);
  // After an earlier owner's invoice come only older ones.
  const hasMore = page.has_more && own.length === page.data.length;
  return ok<InvoicesAnswer>({ bills: invoices, next: hasMore ? (own.at(-1)?.id ?? null) : null });
}

async function findInvoiceUrl(
  { stripe, database, customers }: BillingDependencies,
  userId: string,
  id: string,
  as: 'pdf' | 'page',
) {
  const customer = await customers.find(userId);
  if (customer === null || !isInvoice(id)) return refusal(404, messages.unknownInvoice);
  const invoice = await stripe.invoices.retrieve(id).catch(ifMissing(null));
  const url = as === 'pdf' ? invoice?.invoice_pdf : invoice?.hosted_invoice_url;
  const { isEarlier } = await findEarlier(database.db, userId);
  const isOwn = invoice !== null && idOf(invoice.customer) === customer && !isEarlier(invoice.created);
  return isOwn && url ? ok(url) : refusal(404, messages.unknownInvoice);
}

/** The cards of the subscriptions that run and aren't paid by invoice, that of the shown one first; if none runs, the customer's. */
async function findCards(dependencies: BillingDependencies, userId: string) {
  const { database, customers, subscriptions } = dependencies;
  const customer = await customers.find(userId);
  if (customer === null || (await findEarlier(database.db, userId)).card) return ok<readonly ChargedCard[]>([]);
  const shown = await subscriptions.running(userId);
  const running = (await subscriptions.statesOf(userId)).filter(isRunning);
  const charged = running
    .filter((state) => !state.byInvoice)
    .toSorted((a, b) => Number(b.id === shown?.id) - Number(a.id === shown?.id));
  const found = new Map<string, ChargedCard>();
  for (const id of running.length === 0 ? [null] : charged.map((one) => one.id)) {
    const method = await fetchMethod(dependencies, id, customer).catch(ifMissing(null));
    const card = savedCard(method);
    if (!method || !card) continue;
    const { subscriptions: others = [] } = found.get(method.id) ?? {};
    found.set(method.id, { card, subscriptions: id === null ? others : [...others, id] });
  }
  return ok<readonly ChargedCard[]>([...found.values()]);
}

/** The subscription's card takes precedence over the customer's. @param id of the subscription; `null`: none runs */
async function fetchMethod(
  { stripe }: BillingDependencies,
  id: string | null,
  customer: string,
): Promise<Stripe.PaymentMethod | null> {
  const expand = ['default_payment_method'];
  const subscription = id === null ? null : await stripe.subscriptions.retrieve(id, { expand });
  if (typeof subscription?.default_payment_method === 'object' && subscription.default_payment_method) {
    return subscription.default_payment_method;
  }
  const owner = await stripe.customers.retrieve(customer, { expand: ['invoice_settings.default_payment_method'] });
  if (owner.deleted) return null;
  const method = owner.invoice_settings.default_payment_method;
  return typeof method === 'object' ? method : null;
}

/** Leaves out drafts, voided invoices, and the first one of a purchase until it is paid, unless Stripe has mailed it to the reader. */
function invoiceOf(
  invoice: Stripe.Invoice,
  names: ReadonlyMap<string, string>,
  refunded: ReadonlySet<string>,
): Invoice | null {
  const { id, status, number, created, currency, total, billing_reason: reason, invoice_pdf: file } = invoice;
  if (!id || !status || status === 'draft' || status === 'void') return null;
  const isMailed = invoice.collection_method === 'send_invoice';
  if (status !== 'paid' && reason === 'subscription_create' && !isMailed) return null;
  return {
    id,
    number,
    currency,
    // For Stripe an invoice stays paid.
    status: refunded.has(id) ? 'refunded' : (status as Invoice['status']),
    amount: total,
    tax: taxOf(invoice),
    date: new Date(created * 1000).toISOString(),
    plan: names.get(idOf(invoice.parent?.subscription_details?.subscription) ?? ''),
    file: Boolean(file),
  };
}

function savedCard(method: Stripe.PaymentMethod | null): SavedCard | null {
  if (!method?.card) return null;
  const { brand, last4, exp_month: expMonth, exp_year: expYear } = method.card;
  return { brand, last4, expMonth, expYear };
}
