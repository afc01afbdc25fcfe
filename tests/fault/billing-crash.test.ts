/**
 * A crash at a step of a purchase and of a switch, on both databases. At any step, no reader is charged twice or has two
 * subscriptions, a reader who was charged has access, and a reader who comes back gets the requested plan. `npm test` tries steps at
 * regular distances from a random first one, `npm run prove` tries every step.
 */
import { randomUUID } from 'node:crypto';
import Stripe from 'stripe';
import { afterEach, expect, it } from 'vitest';
import { apiVersion } from '../../src/lib/billing/engine/stripe.server.ts';
import { silent } from '../../src/lib/logging.ts';
import { openOutbox } from '../../src/lib/mail/outbox.server.ts';
import { publisherAt } from '../../src/lib/mail/publisher.ts';
import { lifeOf } from '../fixtures/dying.ts';
import { secret, siteUrl } from '../world/accounts.ts';
import { type BillingFixture, billingFixture, paid } from '../world/billing.ts';
import { onBothEngines } from '../world/databases.ts';
import { runs, seedFrom } from '../world/runs.ts';

const paper = publisherAt(siteUrl);
const yearly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-yearly' };

onBothEngines('a crash', (engines) => {
  let fixture: BillingFixture;
  afterEach(() => fixture?.stop());

  async function begin(): Promise<void> {
    const database = await engines.open();
    const outbox = openOutbox({ database, transport: null, paper, secret, log: silent });
    fixture = await billingFixture(database, { outbox });
  }

  /** A process that dies at a step. */
  async function mortal(last: number) {
    const life = lifeOf(last);
    const stripe = new Stripe(fixture.stripe.keys.secret, {
      apiVersion,
      host: 'stripe.test',
      protocol: 'http',
      maxNetworkRetries: 0,
      httpClient: life.httpClient(fixture.fetch),
    });
    const database = life.database(fixture.database);
    // Its work before the purchase doesn't count as steps of the purchase.
    const billing = await fixture.another({ stripe });
    const dying = await fixture.another({ stripe, database }).catch(() => null);
    return { life, billing: dying ?? billing };
  }

  /** How many steps it takes without a crash. */
  async function stepsOf(work: (billing: BillingFixture['billing']) => Promise<unknown>): Promise<number> {
    const { life, billing } = await mortal(Number.POSITIVE_INFINITY);
    const before = life.steps();
    await work(billing);
    return life.steps() - before;
  }

  async function dieAt(step: number, work: (billing: BillingFixture['billing']) => Promise<unknown>): Promise<boolean> {
    const started = await mortal(Number.POSITIVE_INFINITY);
    const { life, billing } = await mortal(started.life.steps() + step);
    await work(billing).catch(() => {});
    return life.dead;
  }

  const mailed = async (): Promise<readonly string[]> =>
    (await fixture.database.db.selectFrom('jobs').select('kind').execute())
      .map(({ kind }) => kind)
      .filter((kind) => kind !== 'link')
      .toSorted();

  async function books() {
    const charges = (await fixture.dashboard.charges.list({ limit: 100 })).data.filter(({ paid: was }) => was);
    const subscriptions = (await fixture.dashboard.subscriptions.list({ status: 'all', limit: 100 })).data;
    return {
      sums: charges.map(({ amount }) => amount),
      running: subscriptions.filter(({ status }) => !['canceled', 'incomplete_expired'].includes(status)),
    };
  }

  const distance = runs(engines.engine === 'sqlite' ? 5 : 10, 1);
  const firstStep = 1 + (seedFrom('FAULT_SEED') % distance);
  const tried = `at every ${distance === 1 ? '' : `${distance}th `}step from ${firstStep}`;

  it(
    `during a purchase: a reader who tries again is charged only once and has access (${tried})`,
    async () => {
      await begin();
      const first = await fixture.readers.join('first@example.com');
      const steps = await stepsOf((billing) => billing.subscribe(first, { ...yearly, expected: 12_000 }));
      expect(steps).toBeGreaterThan(25);
      let charges = 1;
      for (let step = firstStep; step <= steps; step += distance) {
        const session = await fixture.readers.join(`reader-${step}@example.com`);
        const body = { ...yearly, expected: 12_000, attempt: randomUUID() };
        expect(await dieAt(step, (billing) => billing.subscribe(session, body)), `step ${step}`).toBe(true);
        const answer = paid(await fixture.billing.subscribe(session, body));
        expect(answer.grant_id, `step ${step}`).not.toBeNull();
        expect(await fixture.billing.entitlements(session.userId), `step ${step}`).toHaveLength(1);
        const { sums, running } = await books();
        expect([sums.length, running.length], `step ${step}`).toEqual([++charges, charges]);
      }
      await fixture.deliver();
      const mail = await mailed();
      expect(mail.filter((kind) => kind === 'receipt')).toHaveLength(charges);
      expect(mail.filter((kind) => kind === 'welcome-tier')).toHaveLength(charges);
    },
    runs(120_000, 480_000),
  );

  it(
    `during a purchase: a reader who doesn’t return is either charged and has access, or neither (${tried})`,
    async () => {
      await begin();
      const first = await fixture.readers.join('first@example.com');
      const steps = await stepsOf((billing) => billing.subscribe(first, { ...yearly, expected: 12_000 }));
      await fixture.deliver();
      let charged = 1;
      for (let step = firstStep; step <= steps; step += distance) {
        const session = await fixture.readers.join(`reader-${step}@example.com`);
        await dieAt(step, (billing) =>
          billing.subscribe(session, { ...yearly, expected: 12_000, attempt: randomUUID() }),
        );
        // All webhooks are lost: what billing does without them must be enough.
        fixture.events.splice(0);
        await fixture.pass(50 * 60);
        await fixture.billing.recover();
        fixture.events.splice(0);
        await fixture.billing.drain();
        const { sums, running } = await books();
        const isOpen = (await fixture.billing.entitlements(session.userId)).length === 1;
        expect(sums.length - charged, `step ${step}`).toBe(isOpen ? 1 : 0);
        charged = sums.length;
        expect(running.length, `step ${step}`).toBe(charged);
        const left = await fixture.database.db
          .selectFrom('purchases')
          .select('state')
          .where('state', '=', 'open')
          .execute();
        expect(left, `step ${step}`).toEqual([]);
      }
      expect((await mailed()).filter((kind) => kind === 'receipt')).toHaveLength(charged);
    },
    runs(120_000, 480_000),
  );

  it(
    `during an upgrade: a reader who tries again is charged only once and has the new plan (${tried})`,
    async () => {
      await begin();
      const upgrade = { planId: 'member-yearly' };
      const first = await fixture.readers.join('first@example.com');
      paid(await fixture.billing.subscribe(first, yearly));
      const steps = await stepsOf((billing) => billing.switchPlan(first, upgrade));
      expect(steps).toBeGreaterThan(20);
      let readers = 1;
      for (let step = firstStep; step <= steps; step += distance) {
        const session = await fixture.readers.join(`reader-${step}@example.com`);
        paid(await fixture.billing.subscribe(session, yearly));
        const ask = { ...upgrade, attempt: randomUUID() };
        await dieAt(step, (billing) => billing.switchPlan(session, ask));
        paid(await fixture.billing.switchPlan(session, ask));
        expect(await fixture.billing.entitlements(session.userId), `step ${step}`).toMatchObject([
          { product: 'sun-member' },
        ]);
        const { sums } = await books();
        readers++;
        expect(
          sums.toSorted((a, b) => a - b),
          `step ${step}`,
        ).toEqual([...Array.from({ length: readers }, () => 8000), ...Array.from({ length: readers }, () => 12_000)]);
      }
    },
    runs(120_000, 480_000),
  );
});
