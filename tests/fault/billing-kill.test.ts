/** `kill -9` during purchases: no reader is charged twice, a reader who was charged has access, no acknowledgment is lost. */
import { join } from 'node:path';
import Stripe from 'stripe';
import { expect, it } from 'vitest';
import { randomNumbers } from '../../sandbox/random.ts';
import { startStripe } from '../../sandbox/stripe/stripe.ts';
import { apiVersion } from '../../src/lib/billing/engine/stripe.server.ts';
import { silent } from '../../src/lib/logging.ts';
import { openDatabase } from '../../src/server/database/open.ts';
import { type Bought, shop } from '../fixtures/buying.ts';
import { onBothEngines } from '../world/databases.ts';
import { runs, seedFrom } from '../world/runs.ts';
import { killOne } from './fixtures/killing.ts';

const fixture = join(import.meta.dirname, '../fixtures/buying.ts');

onBothEngines('kills during purchases', (engines) => {
  const rounds = runs(4, 25);
  const seed = seedFrom('FAULT_SEED');

  it(`charge no reader twice and lose no acknowledged purchase in ${rounds} rounds (FAULT_SEED=${seed})`, async () => {
    const stripe = await startStripe({});
    const place = await engines.place();
    try {
      const said: Bought[] = [];
      const random = randomNumbers(seed);
      for (let round = 0; round < rounds; round++) {
        // Eight purchases, of whichever cards, have at least the three grants that are expected below.
        const moment = { after: (round === 0 ? 8 : 2) + Math.floor(random() * 5), delay: random() * 60 };
        const url = place.databaseUrl === null ? [] : [place.databaseUrl];
        const args = [place.dataDir, String(round), stripe.access.apiUrl, stripe.access.secretKey, ...url];
        said.push(...(await killOne<Bought>(fixture, args, moment)));
      }

      const { apiUrl, secretKey } = stripe.access;
      const database = await openDatabase({ ...place, log: silent });
      // 50 minutes later; no reader has come back.
      const billing = await shop(database, apiUrl, secretKey, () => Date.now() + 50 * 60_000);
      await billing.refresh();
      const open = async () =>
        (await database.db.selectFrom('purchases').select('id').where('state', '=', 'open').execute()).length;
      for (let turn = 0; turn < 20 && (await open()) > 0; turn++) await billing.recover();
      await billing.drain();
      expect(await open()).toBe(0);

      const { hostname, port } = new URL(apiUrl);
      const dashboard = new Stripe(secretKey, { apiVersion, host: hostname, port, protocol: 'http' });
      const charged = new Map<string, number>();
      for await (const { customer, paid } of dashboard.charges.list({ limit: 100 })) {
        if (paid) charged.set(String(customer), (charged.get(String(customer)) ?? 0) + 1);
      }
      const running = new Set<string>();
      for await (const { customer, status } of dashboard.subscriptions.list({ limit: 100 })) {
        if (!['canceled', 'incomplete_expired'].includes(status)) running.add(String(customer));
      }
      const customers = await database.db.selectFrom('customers').select(['user_id', 'customer']).execute();
      expect(customers.length).toBeGreaterThan(rounds);
      for (const { user_id: user, customer } of customers) {
        const times = charged.get(customer ?? '') ?? 0;
        expect(times).toBeLessThanOrEqual(1);
        expect((await billing.entitlements(user)).length, user).toBe(times);
        expect(running.has(customer ?? ''), user).toBe(times === 1);
      }
      const grants = said.filter(({ grant }) => grant !== null);
      expect(grants.length).toBeGreaterThan(Math.floor(rounds / 2));
      for (const { userId, grant } of grants) {
        const rows = await database.db
          .selectFrom('subscriptions')
          .select('grant_id')
          .where('user_id', '=', userId)
          .execute();
        expect(rows.map(({ grant_id }) => grant_id)).toEqual([grant]);
        expect(await billing.entitlements(userId)).toHaveLength(1);
      }
      // One receipt for each charge.
      const mail = await database.db.selectFrom('jobs').select('kind').where('kind', '=', 'receipt').execute();
      expect(mail.length).toBe([...charged.values()].length);
      await database.close();
    } finally {
      await stripe.stop();
    }
  }, 600_000);
});
