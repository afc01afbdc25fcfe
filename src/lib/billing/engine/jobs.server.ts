/** The worker of billing's jobs, which also runs the background tasks. None of them waits for another. */
import Stripe from 'stripe';
import { DatabaseUnavailable } from '../../database.ts';
import { inJobSpan, type Job } from '../../jobs/queue.server.ts';
import { backOff, type RepeatedTask, repeat, repeatAfterPause } from '../../jobs/tasks.ts';
import { createFailureLog, type Logger } from '../../logging.ts';
import { metadataFields } from '../schema.ts';
import { cancelUnpaid, refundSince, voidSwitch } from './cancel.server.ts';
import { countRefusedCards } from './card-attempts.server.ts';
import type { BillingDependencies, BillingJobKind } from './dependencies.ts';
import { idOf } from './fetch-subscription.server.ts';
import { restoreReleased } from './plan-switches.server.ts';
import { isMissing } from './stripe.server.ts';
import { countOpenDisputes } from './subscriptions.server.ts';

export interface WorkerStats {
  /** Jobs tried since the start, and failed tries. */
  readonly tried: number;
  readonly failed: number;
  /** Waiting jobs and open disputes, as counted a few seconds ago. */
  readonly waiting: number;
  readonly disputes: number;
}

export interface BackgroundTask {
  readonly name: string;
  readonly everyMs: number;
  /** @param signal aborted when the worker stops; a run that may take long throws then */
  run(signal: AbortSignal): Promise<void>;
}

const pollMs = 5000;
/** Shortest pause between two looks, milliseconds. */
const busyPollMs = 500;
/** Jobs worked on at once. */
const concurrency = 4;
/** First and longest wait after a failure, milliseconds. */
const backOffMs = [1000, 5 * 60_000] as const;

type Works = Readonly<Record<BillingJobKind, (subject: string) => Promise<unknown>>>;

export function createWorker(dependencies: BillingDependencies, tasks: readonly BackgroundTask[]) {
  const { database, jobs, log, now } = dependencies;
  const works = worksOf(dependencies);
  const counts = { tried: 0, failed: 0, waiting: 0, disputes: 0 };
  /** When the next waiting job is due, epoch milliseconds. */
  let nextDue = Number.POSITIVE_INFINITY;
  let rounds: RepeatedTask | null = null;
  let repeatedTasks: readonly RepeatedTask[] | null = null;
  const failures = createFailureLog(log);

  /** Works until no job is due, or until a signal to stop. */
  async function drain(signal?: AbortSignal): Promise<void> {
    while (!signal?.aborted) {
      const due = await jobs.claim(concurrency);
      if (due.length === 0) break;
      await Promise.all(due.map((job) => inJobSpan('stripe job', job, () => work(dependencies, works, counts, job))));
    }
    const { count, due } = await jobs.waiting();
    counts.waiting = count;
    nextDue = due ?? Number.POSITIVE_INFINITY;
    counts.disputes = await countOpenDisputes(database.db);
    failures.worked();
  }

  const onError = (error: unknown): void =>
    failures.failed({ err: error }, 'The Stripe jobs can’t be read from the database; they wait');

  /** Milliseconds until the next look: when the next job is due, but not in a tight loop around one that can't be claimed. */
  const pauseMs = (): number => Math.max(busyPollMs, Math.min(nextDue - now(), pollMs));

  const nudge = (): void => void rounds?.runNow();

  return {
    nudge,
    drain: () => drain(),
    stats: (): WorkerStats => ({ ...counts }),
    start() {
      rounds ??= repeatAfterPause(pauseMs, drain, onError);
      repeatedTasks ??= tasks.map((task) => startTask(task, log));
      nudge();
    },
    async stop() {
      await Promise.all([rounds, ...(repeatedTasks ?? [])].map((repeated) => repeated?.stop()));
    },
  };
}

/** Runs a task at its interval, the first time at once. */
function startTask({ name, everyMs, run }: BackgroundTask, log: Logger): RepeatedTask {
  const repeated = repeat(everyMs, (signal) =>
    run(signal).catch((error: unknown) => {
      if (!signal.aborted && !(error instanceof DatabaseUnavailable))
        log.warn({ err: error, task: name }, 'A background task of billing failed');
    }),
  );
  void repeated.runNow();
  return repeated;
}

/** Runs a job, and releases it for another try if it fails. */
async function work(
  { jobs, log, now }: BillingDependencies,
  works: Works,
  counts: { tried: number; failed: number },
  job: Job<BillingJobKind>,
): Promise<void> {
  const { kind, subject, tries } = job;
  counts.tried++;
  try {
    await works[kind](subject);
  } catch (error) {
    if (!isMissing(error)) {
      counts.failed++;
      log.warn({ err: error, kind, tries }, 'A Stripe job failed and will be retried');
      return jobs.release(job, now() + backOff(tries, ...backOffMs));
    }
  }
  await jobs.complete(job);
}

function worksOf(dependencies: BillingDependencies): Works {
  const { stripe, customers, subscriptions, catalog } = dependencies;
  return {
    catalogue: () => catalog.refresh(),
    subscription: (id) => subscriptions.reconcile(id),
    announced: (id) => subscriptions.reconcile(id, 'announced'),
    amount: (id) => subscriptions.reconcile(id, 'amount'),
    'announced-amount': (id) => subscriptions.reconcile(id, 'announced-amount'),
    planned: (id) => restoreReleased(dependencies, id),
    customer: (id) => subscriptions.reconcileCustomer(id),
    async charge(id) {
      const customer = idOf((await stripe.charges.retrieve(id)).customer);
      if (customer !== null) await subscriptions.reconcileCustomer(customer);
    },
    'erase-customer': (id) => eraseCustomer(dependencies, id),
    'erase-shipping': (id) => customers.eraseShipping(id),
    'refused-card': (id) => countRefusedCards(dependencies, id),
  };
}

/**
 * Deletes a customer at Stripe, which cancels the subscriptions at once and keeps the invoices, as the law requires. Open invoices are
 * voided first, because a bank could still confirm their payment. Payments made while the account was being deleted are refunded. What a
 * subscription says about the reader is removed, because Stripe keeps ended subscriptions.
 */
async function eraseCustomer(dependencies: BillingDependencies, customer: string): Promise<void> {
  const { stripe, customers, log } = dependencies;
  for await (const subscription of stripe.subscriptions.list({ customer, status: 'all' })) {
    const { id, status, pending_update: update } = subscription;
    if (update !== null) await voidSwitch(stripe, id);
    await eraseDetails(dependencies, subscription);
    if (status === 'incomplete') await cancelUnpaid(stripe, id);
  }
  const since = await customers.chargeableUntil(customer);
  const refund = async (): Promise<void> => {
    if (since === null) return;
    const { data } = await stripe.charges.list({ customer, limit: 100 });
    await refundSince({ stripe, log }, data, since);
  };
  await refund();
  await stripe.customers.del(customer);
  // From here on nothing can be charged, so this finds every payment.
  await refund();
}

/** Removes what a subscription says about a deleted reader, except which purchase and promotion it was. */
async function eraseDetails(
  { stripe, log }: Pick<BillingDependencies, 'stripe' | 'log'>,
  { id, metadata, cancellation_details: details }: Stripe.Subscription,
): Promise<void> {
  const named = [...metadataFields, 'user'].filter((name) => metadata[name] !== undefined);
  const hasWords = Boolean(details?.comment);
  if (named.length === 0 && !hasWords) return;
  const params: Stripe.SubscriptionUpdateParams = { metadata: Object.fromEntries(named.map((name) => [name, ''])) };
  if (hasWords) params.cancellation_details = { comment: '' };
  try {
    await stripe.subscriptions.update(id, params);
  } catch (error) {
    // A refusal must not keep the customer from being deleted.
    if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
    log.error({ err: error, subscription: id }, 'Delete the metadata of this subscription of a deleted reader by hand');
  }
}
