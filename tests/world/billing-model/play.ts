/** Plays a sequence, and says what does not hold. */
import type { Event } from '../../../sandbox/stripe/core/model.ts';
import { endDispute, openDispute } from '../../../sandbox/stripe/payments/disputes.ts';
import type { Billed } from '../../../src/lib/billing/service.ts';
import type { KeptCardAnswer, SubscribeAnswer } from '../../../src/lib/billing/wire.ts';
import { home } from '../billing.ts';
import { decide, type House, type Process, type Reader, type Theatre } from './environment.ts';
import { atRest, during, type Outcome } from './oracle.ts';
import { cards, type Deed, plans, type Step } from './steps.ts';
import { Dead, type Fault } from './wire.ts';

/** Minutes: the longest that nobody compares anything. */
const longest = 10 * 24 * 60;

/** Told what has happened, so that a test can see that something has. */
export type Note = (what: string) => void;

const kindOf = ({ deed, answer }: Outcome): string =>
  `${deed.do}: ${answer === null ? 'the process ended' : answer.ok ? 'done' : `${answer.status} ${answer.error.code ?? ''}`}`;

/** @returns sentences about what is wrong; none when all holds */
export async function play(
  theatre: Theatre,
  steps: readonly Step[],
  note: Note = () => {},
): Promise<readonly string[]> {
  const house = await theatre.open();
  for (const [number, step] of steps.entries()) {
    const wrong = await take(theatre, house, step, note);
    if (wrong.length > 0) return wrong.map((one) => `After step ${number} (${JSON.stringify(step)}): ${one}`);
  }
  await comeToRest(house);
  for (const charge of house.charges()) note(charge.refunded ? 'a charge that was refunded' : 'a charge');
  for (const { status } of house.stripe.ledger.store.all('dispute')) note(`a dispute: ${status}`);
  for (const { status } of house.stripe.ledger.store.all('subscription')) note(`a subscription: ${status}`);
  return atRest(theatre.database, house);
}

async function take(theatre: Theatre, house: House, step: Step, note: Note): Promise<readonly string[]> {
  const before = house.charges().length;
  const outcomes = await happen(house, step);
  for (const outcome of outcomes) note(kindOf(outcome));
  return during(theatre.database, house, step, outcomes, house.charges().slice(before));
}

async function happen(house: House, step: Step): Promise<readonly Outcome[]> {
  switch (step.do) {
    case 'deed': {
      const at = await house.process(step.process);
      at.life.meet(step.fault);
      return [await act(house, readerOf(house, step.reader), step.deed, at)].map(cool(at));
    }
    case 'both': {
      const here = await house.process(0);
      const there = step.apart ? await house.process(1) : here;
      here.life.meet(step.fault);
      if (step.apart) there.life.meet(null);
      const reader = readerOf(house, step.reader);
      const [one, other] = step.deeds;
      const outcomes = await Promise.all([act(house, reader, one, here), act(house, reader, other, there)]);
      return outcomes.map(cool(here));
    }
    case 'deliver':
      await deliver(house, step.how, step.seed, step.fault);
      return [];
    case 'wait':
      // The nightly comparison comes long before Stripe has forgotten what it told.
      if (step.minutes > longest) {
        house.wait(longest);
        await chore(house, 'reconcile', null);
        await chore(house, 'drain', null);
      }
      house.wait(step.minutes > longest ? step.minutes - longest : step.minutes);
      return [];
    case 'refund':
      await refund(house, readerOf(house, step.reader), step.whole);
      return [];
    case 'dispute':
      dispute(house, readerOf(house, step.reader), step.end);
      return [];
    case 'change the card at Stripe':
      await changeCard(house, readerOf(house, step.reader), cards[step.card]);
      return [];
    case 'cancel at Stripe':
      for (const one of running(house, readerOf(house, step.reader))) await house.outside.subscriptions.cancel(one);
      return [];
    case 'restart':
      house.restart();
      return [];
    default:
      await chore(house, step.do, step.fault);
      return [];
  }
}

const readerOf = ({ readers }: House, number: 0 | 1): Reader => {
  const reader = readers[number];
  if (!reader) throw new Error('There are two readers.');
  return reader;
};

/** Nothing goes wrong any more with a process that has survived. */
const cool =
  ({ life }: Process) =>
  <T>(value: T): T => {
    life.meet(null);
    return value;
  };

async function act(house: House, reader: Reader, deed: Deed, { billing, life }: Process): Promise<Outcome> {
  const { session, address } = reader;
  const expectation: { sum?: number } = {};
  try {
    const answer = await done();
    return { deed, answer: life.dead ? null : answer, expected: expectation.sum };
  } catch (error) {
    // A repair's failure is nobody's business: the call's result is ignored.
    if (life.dead || error instanceof Dead || deed.do === 'repair') return { deed, answer: null };
    return { deed, answer: null, thrown: error instanceof Error ? (error.stack ?? error.message) : String(error) };
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

  /** About what is open the bank may ask, too. */
  function ask(answer: Billed<KeptCardAnswer>): Billed<KeptCardAnswer> {
    const intent = answer.ok ? answer.value.clientSecret?.split('_secret_')[0] : undefined;
    if (intent && reader.subscription !== null) reader.challenge = { intent, subscription: reader.subscription };
    return answer;
  }

  async function done(): Promise<Billed<unknown>> {
    switch (deed.do) {
      case 'subscribe': {
        const decision = decide(reader, deed);
        const plan = decision.plan as keyof typeof plans;
        const method = await methodOf(house, reader, cards[deed.card], deed.sameCard);
        if (plan === 'member-print-yearly' && deed.told) await billing.saveShipping(session, home);
        const expected = deed.told ? await told(plan, decision.coupon) : undefined;
        const body = {
          ...{ payment_method: method, product_id: plans[plan], plan_id: plan },
          ...(decision.coupon !== null && { discount_code: decision.coupon }),
          ...(decision.attempt !== null && { attempt: decision.attempt }),
          ...(expected !== undefined && { expected }),
        };
        return keep(await billing.subscribe(session, body, address));
      }
      case 'switch': {
        const { plan, attempt } = decide(reader, deed);
        const quote = deed.told ? await billing.quote(session, { planId: plan }, address) : null;
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
          house.stripe.finishChallenge(asked.intent, deed.passed);
        } catch {
          // The bank does not ask any more.
        }
        return billing.confirm(session, asked.subscription);
      }
      case 'confirm':
        return reader.subscription ? billing.confirm(session, reader.subscription) : { ok: true, value: null };
      case 'use card':
        return ask(await billing.usePaymentMethod(session, await methodOf(house, reader, cards[deed.card], false)));
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

/** As the browser makes it of a card's numbers. */
async function methodOf({ outside }: House, { methods }: Reader, token: string, same: boolean): Promise<string> {
  const known = methods.get(token);
  if (same && known !== undefined) return known;
  const { id } = await outside.paymentMethods.create({ type: 'card', card: { token } });
  methods.set(token, id);
  return id;
}

/** A small generator of numbers from 0 to 1: the same for the same seed. */
function numbers(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return (state >>> 0) / 2 ** 32;
  };
}

async function deliver(house: House, how: string, seed: number, fault: Fault | null): Promise<void> {
  const next = numbers(seed);
  let those: Event[] = house.events.splice(0);
  if (how === 'lost') those = those.filter(() => next() < 0.5);
  if (how === 'doubled') those = [...those, ...those];
  if (how !== 'in order') {
    those = those
      .map((event) => ({ event, at: next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ event }) => event);
  }
  const at = await house.process(0);
  at.life.meet(fault);
  const refused: Event[] = [];
  for (const event of those) if (!(await house.send(event, at))) refused.push(event);
  house.events.unshift(...refused);
  await at.billing.drain().catch(() => {});
  cool(at)(null);
}

async function chore(house: House, what: 'recover' | 'reconcile' | 'drain', fault: Fault | null): Promise<void> {
  const at = await house.process(0);
  at.life.meet(fault);
  await at.billing[what]().catch(() => {});
  cool(at)(null);
}

const customersOf = ({ stripe }: House, { session }: Reader): readonly string[] =>
  [...stripe.ledger.store.all('customer')].filter(({ email }) => email === session.email).map(({ id }) => id);

const running = (house: House, reader: Reader): readonly string[] => {
  const own = customersOf(house, reader);
  return [...house.stripe.ledger.store.all('subscription')]
    .filter(({ customer, status }) => own.includes(customer) && ['active', 'trialing', 'past_due'].includes(status))
    .map(({ id }) => id);
};

async function refund(house: House, reader: Reader, whole: boolean): Promise<void> {
  const own = customersOf(house, reader);
  const charge = house
    .charges()
    .findLast(({ customer, refunded, disputed }) => own.includes(customer ?? '') && !refunded && !disputed);
  if (!charge) return;
  const left = charge.amount - charge.amount_refunded;
  await house.outside.refunds.create({ charge: charge.id, ...(!whole && left > 1 && { amount: Math.ceil(left / 2) }) });
}

function dispute(house: House, reader: Reader, ends: 'open' | 'won' | 'lost'): void {
  const { ledger } = house.stripe;
  const own = customersOf(house, reader);
  ledger.run(() => {
    const mine = (id: string) => own.includes(ledger.need('charge', id).customer ?? '');
    const open = [...ledger.store.all('dispute')].find(
      ({ status, charge }) => status === 'needs_response' && mine(charge),
    );
    const charge = house.charges().findLast(({ id, refunded, disputed }) => mine(id) && !refunded && !disputed);
    const one = open ?? (charge && openDispute(ledger, charge));
    if (one && ends !== 'open') endDispute(ledger, one, ends === 'won');
  });
}

async function changeCard(house: House, reader: Reader, token: string): Promise<void> {
  for (const id of running(house, reader)) {
    const { id: card } = await house.outside.paymentMethods.create({ type: 'card', card: { token } });
    const customer = house.stripe.ledger.need('subscription', id).customer;
    try {
      await house.outside.paymentMethods.attach(card, { customer });
      await house.outside.subscriptions.update(id, { default_payment_method: card });
    } catch {
      // A card that is refused outright is not kept.
    }
  }
}

/** What happens by itself when everything works again: Stripe sends what it has not sent, the worker asks, the chores run. */
async function comeToRest(house: House): Promise<void> {
  house.restart();
  const { billing } = await house.process(0);
  const settle = async (): Promise<void> => {
    const at = await house.process(0);
    for (const event of house.events.splice(0)) await house.send(event, at);
    await billing.drain();
  };
  await settle();
  for (const minutes of [5, 50, 5]) {
    house.wait(minutes);
    await settle();
    await billing.recover();
    await settle();
  }
  await billing.reconcile();
  await settle();
}
