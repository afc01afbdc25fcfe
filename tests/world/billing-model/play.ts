/** Plays a sequence, and reports what doesn't hold. */
import type Stripe from 'stripe';
import type { Event } from '../../../sandbox/stripe/core/model.ts';
import {
  type DisputeReason,
  endDispute,
  escalateInquiry,
  openDispute,
  reviewDispute,
} from '../../../sandbox/stripe/payments/disputes.ts';
import type { SavedCardAnswer, SubscribeAnswer } from '../../../src/lib/billing/schema.ts';
import type { Billed } from '../../../src/lib/billing/service.ts';
import { home } from '../billing.ts';
import { disagreements } from './agreement.ts';
import { decide, type Environment, type Environments, type Process, type Reader } from './environment.ts';
import { customersOf, type Outcome, violationsAfterStep, violationsAtEnd } from './oracle.ts';
import { type Action, cards, plans, type Sequence, type Step } from './steps.ts';
import { type Fault, ProcessEnded } from './wire.ts';

/** The longest time between two comparisons, in minutes. */
const longestBetweenComparisons = 10 * 24 * 60;

/** Records events, so that a test can check that they have happened. */
export type Note = (what: string) => void;

const kindOf = ({ action, answer }: Outcome): string =>
  `${action.do}: ${answer === null ? 'the process ended' : answer.ok ? 'done' : `${answer.status} ${answer.error.code ?? ''}`}`;

/** @returns sentences about what is wrong; none when all holds */
export async function play(
  environments: Environments,
  { steps, compare }: Sequence,
  note: Note = () => {},
): Promise<readonly string[]> {
  const environment = await environments.open();
  for (const [number, step] of steps.entries()) {
    const wrong = [...(await playStep(environments, environment, step, note))];
    if (compare !== null) wrong.push(...(await deliverAndCompare(environments, environment, compare + number, note)));
    if (wrong.length > 0) return wrong.map((one) => `After step ${number} (${JSON.stringify(step)}): ${one}`);
  }
  await comeToRest(environment);
  for (const charge of environment.charges()) note(charge.refunded ? 'a charge that was refunded' : 'a charge');
  for (const { status } of environment.stripe.account.store.all('dispute')) note(`a dispute: ${status}`);
  for (const { status, items, metadata } of environment.stripe.account.store.all('subscription')) {
    note(`a subscription: ${status}`);
    if (metadata.promotion && status === 'active')
      note(items.data.some(({ current_trial: trial }) => trial) ? 'an offer: running' : 'an offer: over');
  }
  return violationsAtEnd(environments.database, environment);
}

/** Delivers Stripe's events in any order, some of them twice, and compares both sides. */
async function deliverAndCompare(
  { database }: Environments,
  environment: Environment,
  seed: number,
  note: Note,
): Promise<readonly string[]> {
  for (let round = 0; environment.events.length > 0 && round < 10; round += 1) {
    await deliver(environment, 'doubled', seed + round, null);
  }
  note('a comparison');
  return disagreements(database, environment, await environment.process(0));
}

async function playStep(
  environments: Environments,
  environment: Environment,
  step: Step,
  note: Note,
): Promise<readonly string[]> {
  const before = environment.charges().length;
  const outcomes = await perform(environment, step);
  for (const outcome of outcomes) note(kindOf(outcome));
  return violationsAfterStep(environments.database, environment, step, outcomes, environment.charges().slice(before));
}

async function perform(environment: Environment, step: Step): Promise<readonly Outcome[]> {
  switch (step.do) {
    case 'action': {
      const at = await environment.process(step.process);
      at.life.startStep(step.fault);
      return [await act(environment, readerOf(environment, step.reader), step.action, at)].map(endFault(at));
    }
    case 'both': {
      const here = await environment.process(0);
      const there = step.apart ? await environment.process(1) : here;
      here.life.startStep(step.fault);
      if (step.apart) there.life.startStep(null);
      const reader = readerOf(environment, step.reader);
      const [one, other] = step.actions;
      const outcomes = await Promise.all([act(environment, reader, one, here), act(environment, reader, other, there)]);
      return outcomes.map(endFault(here));
    }
    case 'deliver':
      await deliver(environment, step.how, step.seed, step.fault);
      return [];
    case 'wait':
      // The nightly comparison runs long before Stripe has deleted its events.
      if (step.minutes > longestBetweenComparisons) {
        environment.wait(longestBetweenComparisons);
        await runTask(environment, 'compare', null);
        await runTask(environment, 'drain', null);
      }
      environment.wait(
        step.minutes > longestBetweenComparisons ? step.minutes - longestBetweenComparisons : step.minutes,
      );
      return [];
    case 'refund':
      await refund(environment, readerOf(environment, step.reader), step.part, step.oldest);
      return [];
    case 'dispute':
      dispute(environment, readerOf(environment, step.reader), step.reason, step.end);
      return [];
    case 'pause':
      await pause(environment, readerOf(environment, step.reader), step.behavior, step.days);
      return [];
    case 'unpause':
      for (const one of running(environment, readerOf(environment, step.reader))) {
        await environment.outside.subscriptions.update(one, { pause_collection: '' });
      }
      return [];
    case 'change the card at Stripe':
      await changeCard(environment, readerOf(environment, step.reader), cards[step.card]);
      return [];
    case 'cancel at Stripe':
      for (const one of running(environment, readerOf(environment, step.reader)))
        await environment.outside.subscriptions.cancel(one);
      return [];
    case 'restart':
      environment.restart();
      return [];
    default:
      await runTask(environment, step.do, step.fault);
      return [];
  }
}

const readerOf = ({ readers }: Environment, number: 0 | 1): Reader => {
  const reader = readers[number];
  if (!reader) throw new Error('There are two readers.');
  return reader;
};

/** Ends the fault of a process that has survived its action. */
const endFault =
  ({ life }: Process) =>
  <T>(value: T): T => {
    life.startStep(null);
    return value;
  };

async function act(
  environment: Environment,
  reader: Reader,
  action: Action,
  { billing, life }: Process,
): Promise<Outcome> {
  const { session, address } = reader;
  const expectation: { sum?: number } = {};
  try {
    const answer = await done();
    return { action, answer: life.ended ? null : answer, expected: expectation.sum };
  } catch (error) {
    // A failed repair is ignored, as its caller ignores the result.
    if (life.ended || error instanceof ProcessEnded || action.do === 'repair') return { action, answer: null };
    return { action, answer: null, thrown: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }

  async function told(plan: string, coupon: string | null): Promise<number | undefined> {
    const ask = { planId: plan, ...(coupon !== null && { couponCode: coupon }) };
    const quote = await billing.quote(session, ask, address);
    if (quote.ok) expectation.sum = quote.value.dueToday;
    return expectation.sum;
  }
  function keep(answer: Billed<SubscribeAnswer>): Billed<SubscribeAnswer> {
    if (!answer.ok) return answer;
    const { clientSecret, subscriptionId } = answer.value;
    reader.subscription = subscriptionId;
    const intent = clientSecret?.split('_secret_')[0];
    if (intent) reader.challenge = { intent, subscription: subscriptionId };
    return answer;
  }

  /** The bank may ask about open invoices, too. */
  function ask(answer: Billed<SavedCardAnswer>): Billed<SavedCardAnswer> {
    const intent = answer.ok ? answer.value.clientSecret?.split('_secret_')[0] : undefined;
    if (intent && reader.subscription !== null) reader.challenge = { intent, subscription: reader.subscription };
    return answer;
  }

  async function done(): Promise<Billed<unknown>> {
    switch (action.do) {
      case 'subscribe': {
        const decision = decide(reader, action);
        const plan = decision.plan as keyof typeof plans;
        const method = await methodOf(environment, reader, cards[action.card], action.sameCard);
        if (plan === 'member-print-yearly' && action.told) await billing.saveShipping(session, home);
        const expected = action.told ? await told(plan, decision.coupon) : undefined;
        const body = {
          payment_method: method,
          product_id: plans[plan],
          plan_id: plan,
          ...(decision.coupon !== null && { discount_code: decision.coupon }),
          ...(decision.attempt !== null && { attempt: decision.attempt }),
          ...(expected !== undefined && { expected }),
        };
        return keep(await billing.subscribe(session, body, address));
      }
      case 'switch': {
        const { plan, attempt } = decide(reader, action);
        const quote = action.told ? await billing.quote(session, { planId: plan }, address) : null;
        const sum = quote?.ok ? quote.value : null;
        if (sum && sum.kind !== 'new') expectation.sum = sum.dueToday;
        const answer = await billing.switchPlan(session, {
          planId: plan,
          ...(sum && sum.kind !== 'new' && { expected: sum.dueToday }),
          ...(sum?.prorationDate && { prorationDate: sum.prorationDate }),
          ...(attempt !== null && { attempt }),
        });
        keep(answer);
        return answer;
      }
      case 'challenge': {
        const asked = reader.challenge;
        if (!asked) return { ok: true, value: null };
        reader.challenge = null;
        try {
          environment.stripe.finishChallenge(asked.intent, action.passed);
        } catch {
          // The bank's challenge is no longer open.
        }
        return billing.confirm(session, asked.subscription);
      }
      case 'confirm':
        return reader.subscription ? billing.confirm(session, reader.subscription) : { ok: true, value: null };
      case 'use card':
        return ask(
          await billing.usePaymentMethod(session, await methodOf(environment, reader, cards[action.card], false)),
        );
      case 'cancel':
        return billing.cancel(session, null);
      case 'resume':
        return billing.resume(session);
      case 'save shipping':
        return billing.saveShipping(session, home);
      case 'save metadata':
        return billing.saveMetadata(session, reader.subscription ?? 'sub_none', { created_with: 'paywall' });
      case 'repair':
        await billing.repair(session);
        return { ok: true, value: null };
    }
  }
}

/** Creates a payment method as the browser does from a card's numbers. */
async function methodOf({ outside }: Environment, { methods }: Reader, token: string, same: boolean): Promise<string> {
  const known = methods.get(token);
  if (same && known !== undefined) return known;
  const { id } = await outside.paymentMethods.create({ type: 'card', card: { token } });
  methods.set(token, id);
  return id;
}

/** A small generator of numbers from 0 to 1, the same for the same seed. */
function numbers(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return (state >>> 0) / 2 ** 32;
  };
}

async function deliver(environment: Environment, how: string, seed: number, fault: Fault | null): Promise<void> {
  const next = numbers(seed);
  let those: Event[] = environment.events.splice(0);
  if (how === 'lost') those = those.filter(() => next() < 0.5);
  const later = how === 'late' ? those.filter(() => next() < 0.5) : [];
  those = those.filter((event) => !later.includes(event));
  if (how === 'doubled') those = [...those, ...those];
  if (how !== 'in order') {
    those = those
      .map((event) => ({ event, at: next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ event }) => event);
  }
  const at = await environment.process(0);
  at.life.startStep(fault);
  const refused: Event[] = [];
  for (const event of those) if (!(await environment.send(event, at))) refused.push(event);
  environment.events.unshift(...refused, ...later);
  await at.billing.drain().catch(() => {});
  endFault(at)(null);
}

async function runTask(
  environment: Environment,
  what: 'recover' | 'compare' | 'drain',
  fault: Fault | null,
): Promise<void> {
  const at = await environment.process(0);
  at.life.startStep(fault);
  await at.billing[what]().catch(() => {});
  endFault(at)(null);
}

const running = (environment: Environment, reader: Reader): readonly string[] => {
  const own = customersOf(environment, reader);
  return [...environment.stripe.account.store.all('subscription')]
    .filter(({ customer, status }) => own.includes(customer) && ['active', 'trialing', 'past_due'].includes(status))
    .map(({ id }) => id);
};

async function refund(
  environment: Environment,
  reader: Reader,
  part: 'whole' | 'half' | 'a cent',
  oldest: boolean,
): Promise<void> {
  const own = customersOf(environment, reader);
  const charges = environment
    .charges()
    .filter(({ customer, refunded, disputed }) => own.includes(customer ?? '') && !refunded && !disputed);
  const charge = oldest ? charges[0] : charges.at(-1);
  if (!charge) return;
  const left = charge.amount - charge.amount_refunded;
  const amount = { whole: left, half: Math.ceil(left / 2), 'a cent': 1 }[part];
  await environment.outside.refunds.create({ charge: charge.id, amount });
}

async function pause(
  environment: Environment,
  reader: Reader,
  behavior: 'keep_as_draft' | 'mark_uncollectible' | 'void',
  days: number | null,
): Promise<void> {
  const collection: Stripe.SubscriptionUpdateParams.PauseCollection = { behavior };
  if (days !== null) collection.resumes_at = environment.stripe.now() + days * 86_400;
  for (const one of running(environment, reader)) {
    await environment.outside.subscriptions.update(one, { pause_collection: collection });
  }
}

function dispute(
  environment: Environment,
  reader: Reader,
  reason: DisputeReason,
  ends: 'open' | 'answered' | 'won' | 'lost',
): void {
  const { account } = environment.stripe;
  const own = customersOf(environment, reader);
  account.transaction(() => {
    const mine = (id: string) => own.includes(account.need('charge', id).customer ?? '');
    const open = [...account.store.all('dispute')].find(
      ({ status, charge }) => !['won', 'lost', 'warning_closed'].includes(status) && mine(charge),
    );
    const charge = environment.charges().findLast(({ id, refunded, disputed }) => mine(id) && !refunded && !disputed);
    const one = open ?? (charge && openDispute(account, charge, reason));
    if (!one || ends === 'open') return;
    // A bank that decides against the publisher has first turned its inquiry into a dispute.
    if (ends === 'lost' && one.is_charge_refundable) escalateInquiry(account, one);
    if (ends === 'answered') reviewDispute(account, one);
    else endDispute(account, one, ends === 'won');
  });
}

async function changeCard(environment: Environment, reader: Reader, token: string): Promise<void> {
  for (const id of running(environment, reader)) {
    const { id: card } = await environment.outside.paymentMethods.create({ type: 'card', card: { token } });
    const customer = environment.stripe.account.need('subscription', id).customer;
    try {
      await environment.outside.paymentMethods.attach(card, { customer });
      await environment.outside.subscriptions.update(id, { default_payment_method: card });
    } catch {
      // A card that is refused outright is not kept.
    }
  }
}

/**
 * What happens when everything works again: Stripe sends the remaining events, the worker runs its jobs, and the background
 * tasks run.
 */
async function comeToRest(environment: Environment): Promise<void> {
  environment.restart();
  const { billing } = await environment.process(0);
  const settle = async (): Promise<void> => {
    const at = await environment.process(0);
    for (const event of environment.events.splice(0)) await environment.send(event, at);
    await billing.drain();
  };
  await settle();
  for (const minutes of [5, 50, 5]) {
    environment.wait(minutes);
    await settle();
    await billing.recover();
    await settle();
  }
  await billing.compare();
  await settle();
}
