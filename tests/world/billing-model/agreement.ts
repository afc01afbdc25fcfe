/**
 * Whether the product's records of a reader match Stripe's, once it has received Stripe's events: status, plans, Trial Offers, the
 * next charge, what is open, invoices with what was paid and refunded, and the card. The expectations come from the sandbox's own objects.
 */
import { nextInvoice, periodEnd } from '../../../sandbox/stripe/billing/lifecycle.ts';
import { pauseOf } from '../../../sandbox/stripe/billing/pausing.ts';
import type { Invoice, PaymentMethod, Subscription } from '../../../sandbox/stripe/core/model.ts';
import type { StripeState } from '../../../src/lib/billing/subscription-model.ts';
import type { Database } from '../../../src/lib/database.ts';
import type { Environment, Process, Reader } from './environment.ts';
import {
  access,
  chargesOf,
  customersOf,
  hasMoneyOrCard,
  invoicesOf,
  isRefunded,
  runningStatuses,
  subscriptionsOf,
} from './oracle.ts';

/** @returns a sentence for each difference */
export async function disagreements(
  database: Database,
  environment: Environment,
  { billing }: Process,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const reader of environment.readers) {
    const stored = await statesOf(database, reader);
    for (const subscription of subscriptionsOf(environment, reader)) {
      const state = stored.get(subscription.id);
      if (!state) wrong.push(`a subscription (${subscription.status}) is not stored`);
      else wrong.push(...differences(environment, subscription, state));
    }
    wrong.push(...(await access(environment, reader, billing)));
    wrong.push(...(await nextCharge(environment, reader, billing)));
    wrong.push(...(await invoiceList(environment, reader, billing)));
    wrong.push(...(await cardOnFile(environment, reader, billing)));
  }
  return wrong;
}

async function statesOf({ db }: Database, { session }: Reader): Promise<ReadonlyMap<string, StripeState>> {
  const rows = await db
    .selectFrom('subscriptions')
    .select(['id', 'state'])
    .where('user_id', '=', session.userId)
    .execute();
  return new Map(rows.flatMap(({ id, state }) => (state ? [[id, JSON.parse(state) as StripeState]] : [])));
}

const ms = (seconds: number | null): number | null => (seconds === null ? null : seconds * 1000);

/** Price of the phase after the current one. */
function plannedPrice({ stripe }: Environment, { schedule: id }: Subscription): string | null {
  const schedule = id ? stripe.account.store.find('subscription_schedule', id) : undefined;
  const running = schedule?.status === 'active' ? schedule.current_phase : null;
  if (!schedule || !running) return null;
  return schedule.phases.find(({ start_date: start }) => start >= running.end_date)?.items[0]?.price ?? null;
}

function differences(environment: Environment, subscription: Subscription, state: StripeState): readonly string[] {
  const [item] = subscription.items.data;
  const pause = pauseOf(subscription);
  const expected: Readonly<Record<string, unknown>> = {
    status: subscription.status,
    price: item?.price,
    planned: plannedPrice(environment, subscription),
    periodStart: ms(item?.current_period_start ?? null),
    periodEnd: ms(item?.current_period_end ?? null),
    cancelAt: ms(subscription.cancel_at),
    offer: item?.current_trial?.trial_offer ?? null,
    trialEnd: ms(item?.current_trial?.end_date ?? subscription.trial_end),
    pause: pause && { behavior: pause.behavior, resumesAt: ms(pause.resumes_at) },
  };
  const actual: typeof expected = {
    status: state.status,
    price: state.price.id,
    planned: state.next?.id ?? null,
    periodStart: state.periodStart,
    periodEnd: state.periodEnd,
    cancelAt: state.cancelAt,
    offer: state.offer ?? null,
    trialEnd: state.trialEnd,
    pause: state.pause ?? null,
  };
  const wrong = Object.keys(expected)
    .filter((name) => JSON.stringify(expected[name]) !== JSON.stringify(actual[name]))
    .map((name) => `${name} is ${JSON.stringify(actual[name])}, at Stripe ${JSON.stringify(expected[name])}`);
  const invoices = new Map(invoicesOf(environment, subscription).map((invoice) => [invoice.id, invoice]));
  for (const { id, status, paid, refunded } of state.invoices) {
    const invoice = invoices.get(id);
    if (!invoice) {
      wrong.push(`invoice ${id} is not at Stripe`);
      continue;
    }
    const charges = chargesOf(environment, invoice);
    const sum = charges.reduce((all, { amount }) => all + amount, 0);
    const returned = sum > 0 && isRefunded(environment, invoice);
    if (status !== invoice.status || paid !== sum || refunded !== returned) {
      wrong.push(
        `an invoice is stored as ${status}, ${paid} paid, refunded ${refunded}; at Stripe it is ${invoice.status}, ${sum}, ${returned}`,
      );
    }
  }
  return wrong;
}

/** The only subscription that will be charged again. */
const runningOf = (environment: Environment, reader: Reader): Subscription | undefined =>
  subscriptionsOf(environment, reader).find(
    (one) => runningStatuses.includes(one.status) && hasMoneyOrCard(environment, one, invoicesOf(environment, one)),
  );

/** Amount and date of the next charge, as the account page shows them, against the sandbox's own preview of the renewal. */
async function nextCharge(
  environment: Environment,
  { session, ...reader }: Reader,
  billing: Process['billing'],
): Promise<readonly string[]> {
  const running = runningOf(environment, { session, ...reader });
  const shown = await billing.subscription(session);
  if (!running || shown?.id !== running.id) return [];
  const { account } = environment.stripe;
  const charged = ['active', 'trialing'].includes(running.status) && running.cancel_at === null && !pauseOf(running);
  if (!charged) {
    const bills = running.status === 'past_due' && running.cancel_at === null && !pauseOf(running);
    return bills || shown.nextBillingDate === null
      ? []
      : [`a charge on ${shown.nextBillingDate} is shown, and there will be none`];
  }
  const date = new Date(periodEnd(running) * 1000).toISOString();
  const due = account.dryRun(() => nextInvoice(account, running)?.amount_due ?? null);
  const wrong = [];
  if (shown.nextBillingDate !== date)
    wrong.push(`the next charge is shown for ${shown.nextBillingDate}, it comes on ${date}`);
  if (due !== null && shown.price !== due) wrong.push(`the next charge is shown as ${shown.price}, it will be ${due}`);
  return wrong;
}

/** Invoices that the account page lists: finalized ones, newest first, without purchases that were never paid. */
const isListed = ({ status, billing_reason: reason }: Invoice): boolean =>
  status === 'paid' || ((status === 'open' || status === 'uncollectible') && reason !== 'subscription_create');

async function invoiceList(
  environment: Environment,
  reader: Reader,
  billing: Process['billing'],
): Promise<readonly string[]> {
  const own = customersOf(environment, reader);
  const page = [...environment.stripe.account.store.all('invoice')]
    .filter(({ customer }) => own.includes(customer))
    .toSorted((a, b) => (b._n ?? 0) - (a._n ?? 0))
    .slice(0, 12)
    .filter(isListed);
  const answer = await billing.invoices(reader.session);
  if (!answer.ok) return [`the invoices can't be listed: ${answer.status}`];
  const line = (id: string, status: string, amount: number): string => `${id} ${status} ${amount}`;
  const shown = (invoice: Invoice): string => (isRefunded(environment, invoice) ? 'refunded' : invoice.status);
  const expected = page.map((invoice) => line(invoice.id, shown(invoice), invoice.total)).toSorted();
  const listed = answer.value.bills.map(({ id, status, amount }) => line(id, status, amount)).toSorted();
  return expected.join() === listed.join()
    ? []
    : [`the invoices are listed as ${listed}; at Stripe they are ${expected}`];
}

async function cardOnFile(
  environment: Environment,
  reader: Reader,
  billing: Process['billing'],
): Promise<readonly string[]> {
  const { store } = environment.stripe.account;
  const [customer] = customersOf(environment, reader);
  if (customer === undefined) return [];
  const id =
    runningOf(environment, reader)?.default_payment_method ??
    store.find('customer', customer)?.invoice_settings.default_payment_method;
  const card: PaymentMethod | undefined = id ? store.find('payment_method', id) : undefined;
  const answer = await billing.card(reader.session);
  if (!answer.ok) return [`the card can't be shown: ${answer.status}`];
  const [known, expected] = [answer.value?.last4 ?? 'none', card?.card.last4 ?? 'none'];
  return known === expected ? [] : [`the card on file is shown as ${known}, and is ${expected}`];
}
