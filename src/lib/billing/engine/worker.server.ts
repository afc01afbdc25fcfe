/**
 * What billing does by itself: asks Stripe what events have caused, ends purchases that nobody goes on with, keeps the catalogue
 * fresh, announces renewals, compares everything once a night, and deletes what has had its time.
 */
import { DatabaseUnavailable } from '../../database.ts';
import { idOf } from '../read-state.ts';
import { openDisputes } from './disputes.server.ts';
import { dropSubscription, dropSwitch, refundSince } from './dropping.server.ts';
import { isMissing } from './errors.ts';
import type { Parts } from './parts.ts';
import type { Question } from './questions.server.ts';

export interface WorkerStats {
  /** Questions to Stripe since the start. */
  readonly asked: number;
  readonly failed: number;
  /** Questions that wait; a few seconds old. */
  readonly waiting: number;
  /** Payments that are disputed and not decided; a few seconds old. */
  readonly disputes: number;
}

export interface Worker {
  nudge(): void;
  start(): void;
  stop(): Promise<void>;
  /** Does everything that is due now, until nothing is; for tests and the first start. */
  drain(): Promise<void>;
  stats(): WorkerStats;
}

export interface Chore {
  readonly name: string;
  readonly everyMs: number;
  run(): Promise<void>;
}

const pollMs = 5000;
/** Questions asked at once. */
const concurrency = 4;

export function createWorker(
  parts: Parts,
  chores: readonly Chore[],
  countRefusals: (intent: string) => Promise<void>,
): Worker {
  const { stripe, database, mirror, catalogue, customers, questions, log } = parts;
  const counts = { asked: 0, failed: 0 };
  let waiting = 0;
  let disputes = 0;
  let running = false;
  let timer: NodeJS.Timeout | undefined;
  let turn: Promise<void> | null = null;
  let again = false;
  let unread = false;
  const ranAt = new Map<string, number>();

  async function answer({ subject }: Question): Promise<void> {
    const [kind, id = ''] = subject.split(':');
    if (kind === 'catalogue') return catalogue.refresh();
    if (kind === 'subscription') return void (await mirror.sync(id));
    if (kind === 'announced' || kind === 'amount' || kind === 'announced-amount')
      return void (await mirror.sync(id, kind));
    if (kind === 'customer') return void (await mirror.syncCustomer(id));
    if (kind === 'charge') {
      const customer = idOf((await stripe.charges.retrieve(id)).customer);
      return customer === null ? undefined : void (await mirror.syncCustomer(customer));
    }
    if (kind === 'forget') return forget(parts, id);
    if (kind === 'unship') return unship(id);
    if (kind === 'refused') return countRefusals(id);
    log.error({ subject: kind }, 'A question to Stripe is of no known kind; it is dropped');
  }

  /** Takes the shipping address from a customer, unless a new one has come meanwhile. */
  async function unship(customer: string): Promise<void> {
    const userId = await customers.userOf(customer);
    if (userId !== null && (await customers.shipping(userId)) !== null) return;
    await stripe.customers.update(customer, { shipping: '' });
  }

  async function settle(question: Question): Promise<void> {
    counts.asked++;
    try {
      await answer(question);
      await questions.answered(question);
    } catch (error) {
      if (isMissing(error)) return questions.answered(question);
      counts.failed++;
      log.warn({ err: error, tries: question.tries }, 'Stripe could not be asked; it is tried again');
      await questions.failed(question);
    }
  }

  async function drain(): Promise<void> {
    for (;;) {
      const due = await questions.take(concurrency);
      if (due.length === 0) break;
      await Promise.all(due.map(settle));
    }
    waiting = await questions.count();
    disputes = await openDisputes(database.db);
    unread = false;
  }

  async function runChores(): Promise<void> {
    for (const { name, everyMs, run } of chores) {
      if (!running || performance.now() - (ranAt.get(name) ?? Number.NEGATIVE_INFINITY) < everyMs) continue;
      ranAt.set(name, performance.now());
      await run().catch((error: unknown) => {
        if (!(error instanceof DatabaseUnavailable)) log.warn({ err: error, chore: name }, 'A chore of billing failed');
      });
    }
  }

  function nudge(): void {
    if (!running) return;
    if (turn) {
      again = true;
      return;
    }
    clearTimeout(timer);
    turn = drain()
      .then(runChores)
      .catch((error: unknown) => {
        if (!unread) log.warn({ err: error }, 'What is to be asked of Stripe cannot be read now');
        unread = true;
      })
      .finally(() => {
        turn = null;
        if (!running) return;
        if (again) {
          again = false;
          nudge();
          return;
        }
        timer = setTimeout(nudge, waiting > 0 ? 500 : pollMs);
        timer.unref();
      });
  }

  return {
    nudge,
    drain,
    stats: () => ({ ...counts, waiting, disputes }),
    start() {
      running = true;
      nudge();
    },
    async stop() {
      running = false;
      clearTimeout(timer);
      await turn;
    },
  };
}

/**
 * Stripe cancels at once whatever a customer has, and forgets the person; the bills stay, as the law wants. A bill that is still at
 * the till is taken back before: Stripe leaves it open, and a bank that is being asked just now would have it paid. What was paid
 * while the account was deleted is refunded.
 */
async function forget({ stripe, customers, log }: Parts, customer: string): Promise<void> {
  for await (const { id, status, pending_update: update } of stripe.subscriptions.list({ customer, status: 'all' })) {
    if (status === 'incomplete') await dropSubscription(stripe, id);
    else if (update !== null) await dropSwitch(stripe, id);
  }
  const since = await customers.chargeableUntil(customer);
  const refund = async (): Promise<void> => {
    if (since === null) return;
    const { data } = await stripe.charges.list({ customer, limit: 100 });
    await refundSince({ stripe, log }, data, since);
  };
  await refund();
  await stripe.customers.del(customer);
  // Now nothing can be charged any more: what was paid in between is found.
  await refund();
}
