/** Stored data of a user: every table is declared, and data from before the address was confirmed is deleted. */
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { browser, caller, elsewhere, got, openMailbox, secret, signUp, siteUrl } from '../../tests/world/accounts.ts';
import { billingFixture, home, paid } from '../../tests/world/billing.ts';
import { onBothEngines } from '../../tests/world/databases.ts';
import { limiterOf } from '../../tests/world/limiter.ts';
import type { Session } from '../lib/accounts/service.ts';
import type { RunningBilling } from '../lib/billing/engine/billing.server.ts';
import type { BillingDependencies } from '../lib/billing/engine/dependencies.ts';
import { forgetCancellations } from '../lib/billing/engine/retention.server.ts';
import { billingData } from '../lib/billing/personal-data.server.ts';
import type { Moderation } from '../lib/comments/moderation.server.ts';
import type { AccountsDatabase, Database } from '../lib/database.ts';
import { silent } from '../lib/logging.ts';
import type { PersonalData } from '../lib/personal-data.ts';
import { parseConfig } from './config/config.ts';
import { type PersonalDataList, personalDataOf } from './personal-data.ts';
import { createServices } from './readers.ts';

const email = 'ada@example.com';
const config = parseConfig({ SITE_URL: siteUrl, ACCESS_KEYS: `k1:${secret.replaceAll(' ', '-')}` });
const nothing = { export: async () => ({}), erase: async () => {} };
const yearly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-yearly' };

onBothEngines('personal data', (engines) => {
  /** All services on a new database; without Stripe, billing has only the table of cancellations. */
  async function open() {
    const database = await engines.open();
    const { outbox, token } = openMailbox();
    const billing = {
      entitlements: async () => [],
      personalData: {
        ...billingData({} as BillingDependencies, async () => {}),
        ...nothing,
        disown: forgetCancellations,
      },
    };
    const { services, personalData } = await createServices(config, {
      database,
      limiter: limiterOf(database),
      outbox,
      secret,
      log: silent,
      verification: { verify: async () => ({ verified: true, suggestedEmail: null, message: '' }) },
      replaced: { billing: billing as Partial<RunningBilling> as RunningBilling, moderation: {} as Moderation },
    });
    return { database, accounts: services.accounts, personalData, token };
  }

  async function tablesOfUsers(database: Database): Promise<string[]> {
    const all = await database.db.introspection.getTables();
    const named = all.filter(({ columns }) => columns.some(({ name }) => name === 'user_id' || name === 'userId'));
    return [...named.map(({ name }) => name), 'users'].sort();
  }

  it('is declared for every table with a column for the user', async () => {
    const { database, personalData } = await open();
    expect(Object.keys(personalData.tables).sort()).toEqual(await tablesOfUsers(database));
  });

  it('is exported from every feature in the list, billing first and accounts last', async () => {
    const order: string[] = [];
    const feature = (name: string): PersonalData => ({
      tables: {},
      export: async () => ({ [name]: order.push(name) }),
      erase: async () => {},
      disown: async () => {},
    });
    const names = ['accounts', 'later', 'billing', 'newsletters', 'support', 'comments', 'access'];
    const features = Object.fromEntries(names.map((name) => [name, feature(name)]));
    const all = personalDataOf(() => features as unknown as PersonalDataList, silent);
    await all.export({ userId: 'u', email, emailVerified: true });
    expect(order.toSorted()).toEqual(names.toSorted());
    expect([order.at(0), order.at(-1)]).toEqual(['billing', 'accounts']);
  });

  /**
   * Adds a row of a user to each table that can have one. @param name and @param number are the user's own, in every row that can hold
   * one
   */
  async function fill(database: Database, userId: string, name = 'Eve', number = 7): Promise<void> {
    const { db } = database;
    const one = { user_id: userId, article_id: number, at: 1 };
    for (const table of ['saved_articles', 'reading_history', 'article_reads'] as const) {
      await db.insertInto(table).values(one).execute();
    }
    for (const table of ['history_refusals', 'corrections_told'] as const)
      await db.insertInto(table).values({ user_id: userId, at: 1 }).execute();
    await db
      .insertInto('podcast_feeds')
      .values({ id: name, user_id: userId, podcast_id: number, token: name, created: 1 })
      .execute();
    const data = JSON.stringify({ first_name: name });
    await db.insertInto('profiles').values({ user_id: userId, data, updated: 1 }).execute();
    await db.insertInto('extended_profiles').values({ user_id: userId, app: name, data, updated: 1 }).execute();
    await db.insertInto('mail_choices').values({ user_id: userId, choice: name, since: 1 }).execute();
    const gift = { id: name, token: name, article_id: number, created: 1, expires: 2, readers: 0, most: 5 };
    await db
      .insertInto('gifts')
      .values({ ...gift, user_id: userId })
      .execute();
    const words = { name, email: `${name}@example.net`, phone: '', message: `${name}’s alone.`, held: null };
    await db
      .insertInto('support_messages')
      .values({ ...words, id: name, created: 1, user_id: userId })
      .execute();
    const comment = { id: name, draft: name, article_id: number, parent_id: 0, name, content: name, edited: null };
    const sent = { state: 'waiting', wordpress_id: number, claimed: 0, created: 1, checked: 1 } as const;
    await db
      .insertInto('comment_posts')
      .values({ ...comment, ...sent, user_id: userId })
      .execute();
    await db.insertInto('comment_reports').values({ user_id: userId, comment_id: number, at: 1 }).execute();
    const leaving = { id: name, subscription: 'sub_1', plan: 'reader-yearly', reason: null, words: name, offer: null };
    await db
      .insertInto('cancellations')
      .values({ ...leaving, user_id: userId, outcome: 'open', created: 1, updated: 1 })
      .execute();
  }

  async function rowsOf(database: Database, userId: string): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const table of await tablesOfUsers(database)) {
      const column = table === 'users' ? 'id' : ['sessions', 'identities'].includes(table) ? 'userId' : 'user_id';
      const query = sql<{
        n: number;
      }>`select count(*) as n from ${sql.table(table)} where ${sql.ref(column)} = ${userId}`;
      counts[table] = Number((await query.execute(database.db)).rows[0]?.n);
    }
    return counts;
  }

  /** An account made and filled by a stranger, whose owner then confirms the address. @param by the browser that confirms it */
  async function proven(by: (cookies: string) => ReturnType<typeof caller>) {
    const { database, accounts, personalData, token } = await open();
    const { signedIn } = got(await accounts.create(email, caller(), { enter: true }));
    const userId = signedIn?.session.userId ?? '';
    await fill(database, userId);
    const before = await rowsOf(database, userId);
    got(await accounts.useLink(token(email), by(browser(signedIn?.cookies ?? []))));
    return { database, tables: personalData.tables, before, after: await rowsOf(database, userId) };
  }

  it('entered before the email address was confirmed is deleted when its owner confirms it', async () => {
    const { database, tables, before, after } = await proven(() => elsewhere(1));
    for (const [table, becomes] of Object.entries(tables) as [keyof AccountsDatabase, string][]) {
      if (becomes === 'kept') continue;
      // The session is the owner's own.
      expect(after[table], table).toBe(table === 'sessions' ? 1 : 0);
      if (!['sessions', 'identities'].includes(table)) expect(before[table], table).toBe(1);
    }
    expect(await database.db.selectFrom('support_messages').select('message').execute()).toEqual([
      { message: 'Eve’s alone.' },
    ]);
    // WordPress is told to remove the name.
    expect(await database.db.selectFrom('jobs').select('id').where('queue', '=', 'comments').execute()).toEqual([
      { id: 'comments:erase:7' },
    ]);
  });

  it('is kept when the browser that confirms the email address is signed in to the account', async () => {
    const { before, after } = await proven((cookies) => caller('203.0.113.1', cookies));
    const { sessions: _, audit: __, ...others } = after;
    expect(before).toMatchObject(others);
  });

  describe('of two readers', () => {
    // Not hexadecimal, and long, so that neither is found in an identifier by chance.
    const readers = [
      { name: 'Nora', number: 908_170_233 },
      { name: 'Otto', number: 406_231_577 },
    ] as const;

    /** Two signed-in readers with a row in every table, and nothing in common. */
    async function two() {
      const { database, accounts, personalData, token } = await open();
      const sessions: Session[] = [];
      for (const [index, { name, number }] of readers.entries()) {
        const { session } = await signUp(accounts, token, `${name.toLowerCase()}@example.com`, elsewhere(index));
        const { userId } = session;
        await fill(database, userId, name, number);
        const identity = { id: name, userId, providerId: 'google', accountId: name, createdAt: '', updatedAt: '' };
        await database.db.insertInto('identities').values(identity).execute();
        const entry = { id: name, at: 1, event: 'sign-in', user_id: userId, subject: null, place: null, detail: name };
        await database.db.insertInto('audit').values(entry).execute();
        sessions.push(session);
      }
      const [nora, otto] = sessions as [Session, Session];
      return { database, personalData, accounts, nora, otto };
    }

    it('is exported only to the reader it belongs to', async () => {
      const { personalData, nora, otto } = await two();
      for (const [own, other] of [
        [nora, otto],
        [otto, nora],
      ] as const) {
        const exported = JSON.stringify(await personalData.export(own)).toLowerCase();
        for (const [index, { name, number }] of readers.entries()) {
          const isOwn = own === [nora, otto][index];
          for (const mark of [name.toLowerCase(), String(number)]) expect(exported.includes(mark), mark).toBe(isOwn);
        }
        expect(exported).not.toContain(other.trackingId.toLowerCase());
      }
    });

    it('is deleted with one reader’s account, while the other reader keeps every row', async () => {
      const { database, accounts, nora, otto } = await two();
      const kept = await rowsOf(database, otto.userId);
      await accounts.forget(nora, elsewhere(1));
      expect(await rowsOf(database, otto.userId)).toEqual(kept);
      // Cancellations are deleted with billing's data, which is not in this list.
      const { cancellations: _, ...left } = await rowsOf(database, nora.userId);
      expect(Object.entries(left).filter(([, rows]) => rows > 0)).toEqual([]);
    });

    it('is deleted when one reader’s address is confirmed, while the other reader keeps every row', async () => {
      const { database, personalData, nora, otto } = await two();
      const kept = await rowsOf(database, otto.userId);
      await database.transaction((tx) => personalData.disown(tx, nora.userId));
      expect(await rowsOf(database, otto.userId)).toEqual(kept);
    });
  });

  describe('of billing', () => {
    let own: Awaited<ReturnType<typeof billingFixture>>;
    beforeEach(async () => {
      own = await billingFixture(await engines.open());
    });
    afterEach(() => own.stop());

    const print = () => {
      const sold = own.billing.prices().find(({ print: isPrint, promotion }) => isPrint && !promotion);
      return { plan_id: sold?.zephrPlanId, product_id: sold?.product.metadata.zephr_product_id };
    };

    /** The stored shipping address, which the owner of the email address may not see. */
    async function stored(userId: string): Promise<unknown> {
      const { db } = own.database;
      const row = await db.selectFrom('customers').select('shipping').where('user_id', '=', userId).executeTakeFirst();
      return JSON.parse(row?.shipping ?? 'null');
    }

    /** An account with a subscription, a shipping address and a cancellation, whose owner confirms the email address. */
    async function confirmed(name: string, buy: object) {
      const { billing, accounts, database, dashboard, deliver } = own;
      const made = got(await accounts.accounts.create(`${name}@example.com`, elsewhere(3), { enter: true }));
      const session = made.signedIn?.session;
      if (!session) throw new Error('Not signed in');
      paid(await billing.saveShipping(session, home));
      paid(await billing.subscribe(session, { ...yearly, ...buy }));
      const leaving = { id: name, user_id: session.userId, subscription: 'sub_1', plan: yearly.plan_id };
      await database.db
        .insertInto('cancellations')
        .values({ ...leaving, reason: null, words: name, offer: null, outcome: 'open', created: 1, updated: 1 })
        .execute();
      await database.transaction((tx) => billing.personalData.disown(tx, session.userId));
      await deliver();
      const customer = await dashboard.customers.retrieve((await billing.customerOf(session)) ?? '');
      return {
        session,
        cancellations: (await rowsOf(database, session.userId)).cancellations,
        here: await stored(session.userId),
        atStripe: 'shipping' in customer ? (customer.shipping ?? null) : null,
      };
    }

    it('is deleted on confirmation: cancellations and the shipping address, here and at Stripe', async () => {
      expect(await confirmed('ada', {})).toMatchObject({ cancellations: 0, here: null, atStripe: null });
    });

    it('is deleted on confirmation, except the address to which the account’s own paid print goes', async () => {
      const atStripe = expect.objectContaining({ name: home.name });
      expect(await confirmed('grace', print())).toMatchObject({ cancellations: 0, here: home, atStripe });
      // The print edition of another reader keeps no address of this one.
      expect(await confirmed('alan', {})).toMatchObject({ here: null, atStripe: null });
    });

    it('keeps the address of paid print from changes while the email address is unconfirmed', async () => {
      const { billing } = own;
      const { session } = await confirmed('grace', print());
      const elsewhereNow = { ...home, name: 'Eve' };
      expect(await billing.saveShipping({ ...session, emailVerified: false }, elsewhereNow)).toMatchObject({
        status: 403,
        error: { code: 'unconfirmed' },
      });
      expect(await stored(session.userId)).toEqual(home);
      paid(await billing.saveShipping({ ...session, emailVerified: true }, elsewhereNow));
      expect(await billing.shipping(session)).toEqual(elsewhereNow);
    });
  });
});
