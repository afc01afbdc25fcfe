/** The invariants of the model, computed from the sandbox's own records and not from those of the billing service. */
import { pauseOf } from '../../../sandbox/stripe/billing/pausing.ts';
import type { Charge, Invoice, Subscription } from '../../../sandbox/stripe/core/model.ts';
import { cardBehavior } from '../../../sandbox/stripe/payments/cards.ts';
import type { SubscribeAnswer } from '../../../src/lib/billing/schema.ts';
import type { Billed } from '../../../src/lib/billing/service.ts';
import { entitlementOf, type StripeState } from '../../../src/lib/billing/subscription-model.ts';
import type { Database } from '../../../src/lib/database.ts';
import { type Environment, type Process, type Reader, rules } from './environment.ts';
import type { Action, Step } from './steps.ts';

/** Result of an action: a value, a refusal, or `null` when the process ended. */
export type Outcome = {
  readonly action: Action;
  readonly answer: Billed<unknown> | null;
  readonly expected?: number | undefined;
  readonly thrown?: string;
};

const day = 24 * 60 * 60;
export const runningStatuses = ['trialing', 'active', 'past_due', 'unpaid', 'paused'];

export function customersOf({ stripe }: Environment, { session }: Reader): readonly string[] {
  return [...stripe.account.store.all('customer')].filter(({ email }) => email === session.email).map(({ id }) => id);
}
export function subscriptionsOf(environment: Environment, reader: Reader): readonly Subscription[] {
  const own = customersOf(environment, reader);
  return [...environment.stripe.account.store.all('subscription')].filter(({ customer }) => own.includes(customer));
}
export const invoicesOf = ({ stripe }: Environment, { id }: Subscription): readonly Invoice[] =>
  [...stripe.account.store.all('invoice')].filter(({ parent }) => parent?.subscription_details.subscription === id);
export const chargesOf = (environment: Environment, { _intent: intent }: Invoice): readonly Charge[] =>
  environment.charges().filter((charge) => intent !== null && charge.payment_intent === intent);
/** Refunded in full, or lost in a dispute. */
const isReturned = ({ stripe }: Environment, charge: Charge): boolean =>
  charge.refunded ||
  [...stripe.account.store.all('dispute')].some(({ charge: of, status }) => of === charge.id && status === 'lost');

/** Whether all charges of an invoice were returned. */
export function isRefunded(environment: Environment, invoice: Invoice): boolean {
  const charges = chargesOf(environment, invoice);
  return charges.length > 0 && charges.every((charge) => isReturned(environment, charge));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** Checks the invariants of every step. @returns a sentence for each violation */
export async function violationsAfterStep(
  database: Database,
  environment: Environment,
  step: Step,
  outcomes: readonly Outcome[],
  charged: readonly Charge[],
): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const reader of environment.readers) {
    const running = subscriptionsOf(environment, reader).filter(({ status }) => runningStatuses.includes(status));
    if (running.length > 1) wrong.push(`a reader has ${running.length} subscriptions at once`);
    wrong.push(...chargedTwice(environment, reader));
    wrong.push(...(await accessWithoutPayment(database, environment, reader)));
  }
  // Two processes may interfere with each other at Stripe; one of them then fails, and the reader tries again.
  const apart = step.do === 'both' && step.apart;
  for (const { action, thrown } of outcomes)
    if (!apart && thrown !== undefined) wrong.push(`${action.do} threw ${thrown}`);
  if (step.do !== 'action') return wrong;
  const [outcome] = outcomes;
  const { action, answer, expected } = outcome ?? { action: step.action, answer: null };
  if (!answer) return wrong;
  const taken = sum(charged.map(({ amount }) => amount));
  const buying = action.do === 'subscribe' || action.do === 'switch';
  if (!answer.ok && answer.status < 500 && action.do !== 'use card' && taken > 0) {
    wrong.push(`${taken} was charged, and the answer was ${answer.status} ${answer.error.message}`);
  }
  if (buying && expected !== undefined && taken > 0 && taken !== expected) {
    wrong.push(`${taken} was charged, and the button showed ${expected}`);
  }
  if (buying && answer.ok && (answer.value as SubscribeAnswer).grant_id !== null) {
    const reader = environment.readers[step.reader];
    const rows = await database.db
      .selectFrom('subscriptions')
      .select('grant_id')
      .where('user_id', '=', reader?.session.userId ?? '')
      .execute();
    const { grant_id: grant, subscriptionId } = answer.value as SubscribeAnswer;
    if (!rows.some(({ grant_id: id }) => id === grant)) wrong.push('the answer names a grant that is not stored');
    if (!isSettled(environment, subscriptionId))
      wrong.push('the answer names a grant, and its first invoice is not paid');
  }
  return wrong;
}

/** The site's records must not give access without money or a card behind it, not even before webhooks arrive. */
async function accessWithoutPayment(
  { db }: Database,
  environment: Environment,
  reader: Reader,
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('subscriptions')
    .select(['id', 'state'])
    .where('user_id', '=', reader.session.userId)
    .execute();
  return rows.flatMap(({ id, state }) => {
    const subscription = environment.stripe.account.store.find('subscription', id);
    if (!state || !subscription) return [];
    const open = entitlementOf(JSON.parse(state) as StripeState, environment.clock.now, rules.graceDays);
    const bought = hasMoneyOrCard(environment, subscription, invoicesOf(environment, subscription));
    return open && !bought ? [`${id} gives access, with neither a payment nor a card`] : [];
  });
}

function isSettled(environment: Environment, id: string): boolean {
  const subscription = environment.stripe.account.store.find('subscription', id);
  return subscription !== undefined && invoicesOf(environment, subscription).some(({ status }) => status === 'paid');
}

/** Finds what was charged twice: an invoice, a period or a decision. */
function chargedTwice(environment: Environment, reader: Reader): readonly string[] {
  const wrong: string[] = [];
  const paid = { subscription_create: 0, subscription_update: 0 };
  const purchases = new Set<string>();
  for (const subscription of subscriptionsOf(environment, reader)) {
    const periods = new Set<string>();
    for (const invoice of invoicesOf(environment, subscription)) {
      const charges = chargesOf(environment, invoice);
      if (charges.length > 1) wrong.push('one invoice was charged twice');
      if (charges.length === 0) continue;
      const reason = invoice.billing_reason;
      if (reason === 'subscription_create' || reason === 'subscription_update') paid[reason] += 1;
      if (reason === 'subscription_create') {
        const purchase = subscription.metadata.purchase ?? '';
        if (purchases.has(purchase)) wrong.push('one purchase was charged in two subscriptions');
        purchases.add(purchase);
      }
      if (reason === 'subscription_cycle') {
        const line = invoice.lines.data.find(({ _item: item }) => item !== undefined);
        const period = `${line?.period.start}`;
        if (periods.has(period)) wrong.push('one period was charged twice');
        periods.add(period);
      }
    }
  }
  for (const [kind, reason] of [
    ['subscribe', 'subscription_create'],
    ['switch', 'subscription_update'],
  ] as const) {
    const decisions = reader.decisions.filter((one) => one.kind === kind).length;
    if (paid[reason] > decisions) wrong.push(`${paid[reason]} were paid for ${decisions} decisions (${kind})`);
  }
  return wrong;
}

interface PaidAccess {
  readonly is: 'paid' | 'grace' | 'nothing';
  /** The tier that the current time is paid for; a higher number is a higher tier. */
  readonly tier: number;
}

/** The tier of a price, by its metadata. */
function tierOf({ stripe }: Environment, id: string): number {
  const price = stripe.account.need('price', id);
  const product = stripe.account.need('product', price.product).metadata.zephr_product_id;
  return (product === 'sun-member' ? 2 : 0) + (price.metadata.print === 'true' ? 1 : 0);
}

/** The access that a subscription gives by Stripe's records: paid time, the grace period, or none. */
function paidAccess(environment: Environment, subscription: Subscription): PaidAccess {
  const now = environment.stripe.now();
  const invoices = invoicesOf(environment, subscription);
  if (!hasMoneyOrCard(environment, subscription, invoices)) return { is: 'nothing', tier: 0 };
  const paid = invoices
    .filter(({ status }) => status === 'paid')
    .map((invoice) => {
      return { invoice, refunded: isRefunded(environment, invoice) };
    });
  const lines = paid.flatMap(({ invoice, refunded }) =>
    invoice.lines.data
      .filter(({ _item: item }) => item !== undefined)
      .map(({ amount, period, pricing }) => ({
        ...period,
        refunded,
        amount,
        invoice: invoice.id,
        price: pricing.price_details.price,
        free: isFree(invoice),
      })),
  );
  // A switch's credit for unused time ends that time.
  const credits = lines.filter(({ amount, refunded }) => amount < 0 && !refunded);
  const times = lines
    .filter(({ amount }) => amount >= 0)
    .map((line) => {
      const backs = credits.filter(
        ({ price, invoice, start }) =>
          price === line.price && invoice !== line.invoice && start >= line.start && start < line.end,
      );
      return {
        ...line,
        end: Math.min(line.end, ...backs.map(({ start }) => start)),
        tier: tierOf(environment, line.price),
      };
    });
  const ended = subscription.status === 'canceled' ? (subscription.ended_at ?? now) : Number.POSITIVE_INFINITY;
  const good = times.filter(({ refunded }) => !refunded);
  const open = good.filter(({ start, end, free }) => start <= now && now < (free ? Math.min(end, ended) : end));
  if (open.length > 0) return { is: 'paid', tier: Math.max(...open.map(({ tier }) => tier)) };
  const renewing = ['active', 'trialing', 'past_due'].includes(subscription.status) && subscription.cancel_at === null;
  const last = Math.max(0, ...good.map(({ end }) => end));
  const takenBack = times.some(({ refunded, start }) => refunded && start >= last);
  // A period for which the publisher collects nothing is free, with its plan.
  const [item] = subscription.items.data;
  const held = invoices.some((one) => one._held && one.created >= (item?.current_period_start ?? 0));
  const given = (pauseOf(subscription) !== null || held) && ['active', 'past_due'].includes(subscription.status);
  if (given && item && !takenBack && good.length > 0 && now < item.current_period_end) {
    return { is: 'paid', tier: tierOf(environment, item.price) };
  }
  const grace = renewing && !takenBack && good.length > 0 && now < last + rules.graceDays * day;
  return { is: grace ? 'grace' : 'nothing', tier: 0 };
}

/** Whether no money was taken for it, nor a credit used. */
const isFree = ({ amount_paid: paid, amount_due: due, total, starting_balance: before }: Invoice): boolean =>
  paid === 0 && due === 0 && total >= 0 && before >= 0;

/** Whether something was paid, or a card is set up for later charges: access requires one of them. */
export function hasMoneyOrCard(
  { stripe }: Environment,
  subscription: Subscription,
  invoices: readonly Invoice[],
): boolean {
  if (invoices.some((invoice) => invoice.status === 'paid' && !isFree(invoice))) return true;
  const card = [...stripe.account.store.all('payment_method')].some(
    ({ customer, _setUp: isSetUp, _number: number }) =>
      customer === subscription.customer && (isSetUp || cardBehavior(number).authentication === 'never'),
  );
  return card && subscription.pending_setup_intent === null;
}

/** Whether the newest payment was lost in a dispute. */
function isLost(environment: Environment, subscription: Subscription): boolean {
  const [last] = invoicesOf(environment, subscription)
    .filter(({ amount_paid: paid }) => paid > 0)
    .toSorted((a, b) => b.created - a.created || (b._n ?? 0) - (a._n ?? 0));
  return (
    last !== undefined && chargesOf(environment, last).some((one) => !one.refunded && isReturned(environment, one))
  );
}

/** Whether the product gives exactly the access that is paid by Stripe's records. */
export async function access(
  environment: Environment,
  reader: Reader,
  billing: Pick<Process['billing'], 'entitlements'>,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  const mine = subscriptionsOf(environment, reader);
  const entitlements = await billing.entitlements(reader.session.userId);
  const paid = mine.map((one) => paidAccess(environment, one));
  const kinds = paid.map(({ is }) => is);
  const [first] = entitlements;
  const most = Math.max(...paid.map(({ is, tier }) => (is === 'paid' ? tier : -1)));
  const got = first ? (first.product === 'sun-member' ? 2 : 0) + (first.print ? 1 : 0) : most;
  if (most >= 0 && got !== most) wrong.push(`tier ${got} has access, and tier ${most} is paid`);
  const atStripe = `Stripe has ${mine.map(({ status }, at) => `${status}: ${kinds[at]}`).join(', ') || 'nothing'}`;
  if (kinds.includes('paid') && entitlements.length === 0)
    wrong.push(`a reader who has paid has no access; ${atStripe}`);
  if (kinds.includes('grace') && entitlements.length === 0)
    wrong.push(`access is missing during the grace period; ${atStripe}`);
  if (kinds.every((one) => one === 'nothing') && entitlements.length > 0)
    wrong.push(`there is access without a payment; ${atStripe}`);
  return wrong;
}

/** Checks the invariants at the end, when no event or job waits. @returns a sentence for each violation */
export async function violationsAtEnd(database: Database, environment: Environment): Promise<readonly string[]> {
  const wrong: string[] = [];
  const { billing } = await environment.process(0);
  const { db } = database;
  const open = await db.selectFrom('purchases').select(['id', 'kind']).where('state', '=', 'open').execute();
  if (open.length > 0) wrong.push(`${open.length} purchases stay open (${open.map(({ kind }) => kind)})`);
  const waiting = await db.selectFrom('jobs').select('subject').where('queue', '=', 'stripe').execute();
  if (waiting.length > 0) wrong.push(`${waiting.length} Stripe jobs stay open`);
  const { drifted } = await billing.compare();
  if (drifted.length > 0) wrong.push(`the comparison still finds ${drifted.length} differences`);
  for (const reader of environment.readers) {
    wrong.push(...chargedTwice(environment, reader));
    const mine = subscriptionsOf(environment, reader);
    const customers = customersOf(environment, reader);
    if (customers.length > 1) wrong.push(`a reader is ${customers.length} customers`);
    wrong.push(...(await access(environment, reader, billing)));
    if (mine.some((one) => runningStatuses.includes(one.status) && isLost(environment, one)))
      wrong.push('a subscription whose last payment was lost in a dispute will be charged again');
    wrong.push(...(await storedStateDifferences(database, environment, reader, mine)));
  }
  return wrong;
}

/** Whether the stored state of each subscription is what Stripe would answer now. */
async function storedStateDifferences(
  { db }: Database,
  environment: Environment,
  reader: Reader,
  mine: readonly Subscription[],
): Promise<readonly string[]> {
  const wrong: string[] = [];
  const read = async (): Promise<ReadonlyMap<string, string>> => {
    const rows = await db
      .selectFrom('subscriptions')
      .select(['id', 'state'])
      .where('user_id', '=', reader.session.userId)
      .execute();
    return new Map(rows.map(({ id, state }) => [id, state ?? '']));
  };
  const stored = await read();
  for (const one of mine) {
    const state = stored.get(one.id);
    if (!state) {
      wrong.push(`a subscription (${one.status}) is not stored`);
      continue;
    }
    const { status, price, periodEnd, invoices } = JSON.parse(state) as StripeState;
    const [item] = one.items.data;
    const same =
      status === one.status && price.id === item?.price && periodEnd === (item?.current_period_end ?? 0) * 1000;
    if (!same) wrong.push(`stored as ${status} ${price.plan}, at Stripe ${one.status} ${item?.price}`);
    const invoicesAtStripe = new Map(invoicesOf(environment, one).map((invoice) => [invoice.id, invoice]));
    for (const { id, status: had, paid } of invoices) {
      const invoice = invoicesAtStripe.get(id);
      if (invoice?.status !== had || invoice.amount_paid !== paid)
        wrong.push(`an invoice is stored as ${had}, and is ${invoice?.status}`);
    }
  }
  for (const id of stored.keys())
    if (!mine.some((one) => one.id === id)) wrong.push('a stored subscription is not at Stripe');
  environment.restart();
  const { billing } = await environment.process(0);
  await billing.repair(reader.session);
  const fresh = await read();
  for (const [id, state] of fresh) {
    if (stored.get(id) !== state)
      wrong.push(`a new reconciliation changes the stored state: ${difference(stored.get(id), state)}`);
  }
  return wrong;
}

function difference(before: string | undefined, after: string): string {
  const [oldState, newState] = [JSON.parse(before ?? '{}'), JSON.parse(after)] as Record<string, unknown>[];
  return Object.keys(newState ?? {})
    .filter((field) => JSON.stringify(oldState?.[field]) !== JSON.stringify(newState?.[field]))
    .map((field) => `${field} ${JSON.stringify(oldState?.[field])} → ${JSON.stringify(newState?.[field])}`)
    .join('; ');
}
