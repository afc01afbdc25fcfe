/** The access service on both engines: entitlements, meter, gifts. */
import { describe, expect, it } from 'vitest';
import { bench, browser, caller, got } from '../../../tests/world/accounts.ts';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { createPassCookie } from '../../press/delivery/access-cookie.ts';
import { type AccessOptions, createAccess } from './access.server.ts';
import { accessDetails, featureValue } from './answers.ts';
import type { Paid } from './entitlements.ts';
import type { ArticleSubject } from './model.ts';

const day = 86_400;
const article = (id: number, level: ArticleSubject['level'] = 'default'): ArticleSubject => ({
  id,
  slug: `story-${id}`,
  level,
});
const key = { id: 'k1', secret: 'a secret that is long enough for a test' };

onBothEngines('access', (engines) => {
  async function open(rules: Partial<AccessOptions['rules']> = {}) {
    const database = await engines.open();
    const own = await bench(database);
    const now = () => own.clock.now;
    let paid: readonly Paid[] = [];
    const pass = createPassCookie({ name: 'gift', keys: [key], now });
    const access = createAccess({
      database,
      secret: key.secret,
      secure: true,
      pass,
      now,
      rules: {
        meter: { days: 30, anonymous: 2, registered: 3 },
        trialHours: 0,
        gifts: { days: 14, readers: 2, most: 2, passMinutes: 60 },
        ...rules,
      },
      paid: async () => paid,
      promotionDays: () => 60,
    });
    const { session } = await own.join('ada@example.com');
    const read = (id: number, count = true, level?: ArticleSubject['level']) =>
      access.view({ session, path: `/article/story-${id}?x=1`, article: article(id, level), cookies: null, count });
    const pay = (product: string, seconds: number, trialing = false) => {
      paid = [{ product, until: own.clock.now + seconds * 1000, trialing }];
    };
    return { ...own, access, session, read, pay, pass, database };
  }

  describe('the meter', () => {
    const left = ({
      meter: { state, remaining, counted },
    }: Awaited<ReturnType<Awaited<ReturnType<typeof open>>['read']>>) => [state, remaining, counted];

    it('counts an article once, and asks when none is left', async () => {
      const { read } = await open();
      expect(left(await read(1))).toEqual(['left', 2, true]);
      expect(left(await read(1))).toEqual(['counted', 2, false]);
      expect(left(await read(2))).toEqual(['left', 1, true]);
      expect(left(await read(3))).toEqual(['left', 0, true]);
      const over = await read(4);
      expect(left(over)).toEqual(['over', 0, false]);
      expect(featureValue(over, 'paywall').outputValue).toBe('SOFT_SUBSCRIBE');
      expect(featureValue(over, 'article-access').outputValue).toBe('FULL');
      // What was read before stays open.
      expect(featureValue(await read(2), 'paywall').outputValue).toBe('NONE');
    });

    it('counts what the table says and nothing else', async () => {
      const { read, access, session, pay } = await open();
      expect(left(await read(1, false))).toEqual(['left', 3, false]);
      expect(left(await read(1, true, 'free'))).toEqual(['left', 3, false]);
      expect(left(await read(1, true, 'registered'))).toEqual(['left', 3, false]);
      pay('sun-reader', 60);
      await read(1);
      pay('sun-reader', 0);
      expect(left(await read(2, false))).toEqual(['left', 3, false]);
      const page = await access.view({ session, path: '/', article: null, cookies: null, count: true });
      expect(left(page)).toEqual(['left', 3, false]);
    });

    it('forgets after its days', async () => {
      const { read, clock, database } = await open();
      for (const id of [1, 2, 3]) await read(id);
      clock.pass(29 * day);
      expect(left(await read(4))).toEqual(['over', 0, false]);
      clock.pass(day);
      expect(left(await read(4))).toEqual(['left', 2, true]);
      expect(await database.db.selectFrom('article_reads').select('article_id').execute()).toHaveLength(1);
    });

    it('is not counted twice by many tabs', async () => {
      const { read } = await open();
      const views = await Promise.all([1, 1, 1, 1, 2, 2].map((id) => read(id)));
      expect(views.filter(({ meter }) => meter.counted)).toHaveLength(2);
      expect(left(await read(9, false))).toEqual(['left', 1, false]);
    });

    it('opens no more articles than it has, however many tabs ask at once', async () => {
      const { read } = await open();
      const views = await Promise.all([1, 2, 3, 4, 5, 6].map((id) => read(id)));
      expect(views.filter(({ meter }) => meter.state === 'left')).toHaveLength(3);
      expect(left(await read(7))).toEqual(['over', 0, false]);
    });

    it('does not count for a reader who has not signed in', async () => {
      const { access, database } = await open();
      const view = await access.view({
        session: null,
        path: '/article/x',
        article: article(1),
        cookies: null,
        count: true,
      });
      expect(accessDetails(view)).toMatchObject({
        authenticated: false,
        meters: {
          articles: { totalCredits: 2, remainingCredits: 2, decrementedInDecision: false, usedInDecision: true },
        },
      });
      expect(await database.db.selectFrom('article_reads').selectAll().execute()).toEqual([]);
    });
  });

  describe('entitlements', () => {
    it('has the form of the specification’s answers', async () => {
      const { read, pay, clock } = await open();
      expect(accessDetails(await read(1, true, 'subscriber'))).toEqual({
        authenticated: true,
        accessDecisions: { 'article-access': false },
        entitlements: { registered: { usedInDecision: false, decrementedInDecision: false } },
        credits: {},
        meters: {
          articles: { usedInDecision: false, decrementedInDecision: false, totalCredits: 3, remainingCredits: 3 },
        },
        trialTrackingDetails: [],
        trials: {},
        timeTrials: {},
        testGroups: {},
        activeProducts: [],
      });
      pay('sun-member', 30 * day);
      expect(accessDetails(await read(1, true, 'subscriber'))).toMatchObject({
        accessDecisions: { 'article-access': true },
        entitlements: { 'sun-member': { usedInDecision: true }, registered: { usedInDecision: false } },
        credits: { gifts: { totalCredits: 2, remainingCredits: 2 } },
        meters: {},
        timeTrials: {},
        activeProducts: ['sun-member'],
      });
      clock.pass(30 * day);
      expect(accessDetails(await read(1, true, 'subscriber'))).toMatchObject({
        accessDecisions: { 'article-access': false },
        activeProducts: [],
      });
    });

    it('has a real clock for the penny promotion', async () => {
      const { read, pay, clock, access, session } = await open();
      const began = clock.now;
      pay('sun-reader', 60 * day, true);
      clock.pass(12 * 3600);
      const { timeTrials, activeProducts } = accessDetails(await read(1, true, 'subscriber'));
      expect(activeProducts).toEqual(['sun-reader']);
      expect(timeTrials).toEqual({
        promotion: {
          reportInDataLayer: false,
          trialDurationUnits: 'HOURS',
          trialDuration: 60 * 24,
          entryTime: `${new Date(began).toISOString()}[UTC]`,
          trackerHits: 0,
          timeRemainingInTrial: 60 * 24 - 12,
          activeInDecision: true,
        },
      });
      expect(await access.grantFor(session.userId, null)).toEqual({
        level: 'subscriber',
        until: began + 60 * day * 1000,
        visitor: 'reader',
      });
    });

    it('has a real clock for the hours after registering', async () => {
      const { read, clock, access, session } = await open({ trialHours: 24 });
      const began = clock.now;
      const view = await read(1, true, 'subscriber');
      expect(accessDetails(view)).toMatchObject({
        accessDecisions: { 'article-access': true },
        meters: {},
        timeTrials: { registration: { trialDuration: 24, timeRemainingInTrial: 24, activeInDecision: true } },
        activeProducts: [],
      });
      expect(featureValue(view, 'meter').outputValue).toBe('UNLIMITED');
      expect(await access.grantFor(session.userId, began)).toMatchObject({
        level: 'subscriber',
        visitor: 'registered',
      });
      clock.pass(24 * 3600);
      expect(accessDetails(await read(1, true, 'subscriber'))).toMatchObject({
        accessDecisions: { 'article-access': false },
        timeTrials: {},
      });
      expect(await access.grantFor(session.userId, began)).toMatchObject({ level: 'registered' });
    });

    it('has no hours after registering before the address is confirmed', async () => {
      const { accounts, access } = await open({ trialHours: 24 });
      const { signedIn } = got(await accounts.create('eve@example.com', caller(), '/', 'enter'));
      const session = signedIn?.session ?? null;
      const question = { session, path: '/a', article: article(1, 'subscriber'), cookies: null, count: true };
      const view = await access.view(question);
      expect(accessDetails(view)).toMatchObject({ accessDecisions: { 'article-access': false }, timeTrials: {} });
    });
  });

  describe('features', () => {
    it('answer by their names', async () => {
      const { read, pay, access, session } = await open();
      const home = () => access.view({ session, path: '/', article: null, cookies: null, count: true });
      const say = async (view: Parameters<typeof featureValue>[0]) =>
        ['article-access', 'paywall', 'meter', 'print-upsell', 'ads', 'join', 'gift', 'anything else'].map(
          (name) => featureValue(view, name).outputValue,
        );
      expect(await say(await read(1, true, 'registered'))).toEqual([
        'FULL',
        'NONE',
        '3',
        'NO',
        'YES',
        'JOIN',
        'NO',
        'YES',
      ]);
      expect(await say(await read(1, true, 'subscriber'))).toEqual([
        'OPENING',
        'SUBSCRIBE',
        '3',
        'NO',
        'YES',
        'JOIN',
        'NO',
        'YES',
      ]);
      pay('sun-reader', 60);
      expect(await say(await read(1, true, 'subscriber'))).toEqual([
        'FULL',
        'NONE',
        'UNLIMITED',
        'YES',
        'NO',
        'UPGRADE',
        'YES',
        'YES',
      ]);
      expect(featureValue(await home(), 'print-upsell').outputValue).toBe('YES');
      pay('sun-founder', 60);
      expect(await say(await read(1))).toEqual(['FULL', 'NONE', 'UNLIMITED', 'NO', 'NO', 'NONE', 'NO', 'YES']);
      const stranger = await access.view({
        session: null,
        path: '/article/story-1',
        cookies: null,
        count: true,
        article: article(1, 'registered'),
      });
      expect(await say(stranger)).toEqual(['OPENING', 'REGISTER', '2', 'NO', 'YES', 'JOIN', 'NO', 'NO']);
      expect(featureValue(stranger, 'constructor').outputValue).toBe('NO');
    });
  });

  describe('gifts', () => {
    const slugOf = (id: number): string => `story-${id}`;
    /** What a browser that has opened a link sends to a path, and to what is below it alone. */
    const sentTo = (path: string, used: { readonly cookies: readonly string[] } | null) =>
      browser((used?.cookies ?? []).filter((line) => line.includes(`; Path=${path};`)));

    it('are for subscribers to give', async () => {
      const { access, session, pay } = await open();
      expect(await access.give(session, 7)).toBeNull();
      pay('sun-reader', 60);
      expect(await access.give(session, 7)).toMatchObject({ ok: true, left: 1, gift: { articleId: 7 } });
    });

    it('are the same link for the same article, and so many within thirty days', async () => {
      const { access, session, pay, clock } = await open();
      pay('sun-reader', 100 * day);
      const first = await access.give(session, 7);
      expect(await access.give(session, 7)).toMatchObject({ ok: true, left: 1, gift: first?.ok ? first.gift : null });
      clock.pass(day);
      expect(await access.give(session, 8)).toMatchObject({ ok: true, left: 0 });
      expect(await access.give(session, 9)).toEqual({ ok: false, why: 'used up', retryAfter: 29 * day });
      expect(await access.give(session, 8)).toMatchObject({ ok: true, left: 0 });
      clock.pass(29 * day);
      expect(await access.give(session, 9)).toMatchObject({ ok: true, left: 0 });
    });

    it('two clicks are one gift', async () => {
      const { access, session, pay } = await open();
      pay('sun-reader', day);
      const given = await Promise.all([access.give(session, 7), access.give(session, 7), access.give(session, 7)]);
      expect(new Set(given.map((one) => (one?.ok ? one.gift.token : '')))).toHaveLength(1);
    });

    it('open one article for so many browsers, and looking costs nothing', async () => {
      const { access, session, pay, pass } = await open();
      pay('sun-reader', day);
      const given = await access.give(session, 7);
      const token = given?.ok ? given.gift.token : '';
      for (let look = 0; look < 5; look++) expect((await access.peekGift(token, slugOf, null))?.articleId).toBe(7);

      const first = await access.useGift(token, slugOf, null);
      expect(first?.path).toBe('/article/story-7');
      const [line = ''] = first?.cookies ?? [];
      expect(line).toMatch(/^gift=v1\.k1\.\d+\.[\w-]{43}; Path=\/article\/story-7; Max-Age=3600; .*HttpOnly; Secure$/);
      const jar = sentTo('/article/story-7', first);
      expect(pass.opens(jar, '/article/story-7')).toBe(true);
      // Again in the same browser: nothing is used up.
      expect((await access.useGift(token, slugOf, sentTo(`/gift/${token}`, first)))?.path).toBe('/article/story-7');
      expect(await access.useGift(token, slugOf, null)).not.toBeNull();
      expect(await access.useGift(token, slugOf, null)).toBeNull();
      expect(await access.peekGift(token, slugOf, null)).toBeNull();

      const cookies = jar;
      const view = (id: number) =>
        access.view({ session: null, path: '/', article: article(id, 'subscriber'), cookies, count: true });
      expect(featureValue(await view(7), 'article-access').outputValue).toBe('FULL');
      expect(featureValue(await view(8), 'article-access').outputValue).toBe('OPENING');
    });

    it('know a browser that comes again, by what it sends to the link, also when they are used up', async () => {
      const { access, session, pay } = await open();
      pay('sun-reader', day);
      const given = await access.give(session, 7);
      const token = given?.ok ? given.gift.token : '';
      const { cookies = [] } = (await access.useGift(token, slugOf, null)) ?? {};
      expect(sentTo('/article/story-7', { cookies })).not.toBe('');
      const again = sentTo(`/gift/${token}`, { cookies });
      for (let visit = 0; visit < 5; visit++) {
        expect((await access.peekGift(token, slugOf, again))?.articleId).toBe(7);
        const used = await access.useGift(token, slugOf, again);
        // The article's pass anew, and none for the link.
        expect(used?.cookies).toEqual([expect.stringContaining('; Path=/article/story-7; Max-Age=3600;')]);
      }
      expect(await access.useGift(token, slugOf, null)).not.toBeNull();
      expect(await access.useGift(token, slugOf, null)).toBeNull();
      expect(await access.peekGift(token, slugOf, null)).toBeNull();
      expect((await access.peekGift(token, slugOf, again))?.articleId).toBe(7);
      expect((await access.useGift(token, slugOf, again))?.path).toBe('/article/story-7');
    });

    it('are sent by the browser also to where the story has its stream, and open nothing else there', async () => {
      const { access, session, pay, pass } = await open();
      pay('sun-reader', day);
      const given = await access.give(session, 7);
      const token = given?.ok ? given.gift.token : '';
      const used = await access.useGift(token, slugOf, null, (id) => [`/live/${id}`]);
      expect(used?.cookies.map((line) => /Path=([^;]*)/.exec(line)?.[1])).toEqual([
        '/article/story-7',
        '/live/7',
        `/gift/${token}`,
      ]);
      for (const line of used?.cookies.slice(0, 2) ?? []) expect(line).toMatch(/; Max-Age=3600; .*HttpOnly; Secure$/);
      const jar = sentTo('/live/7', used);
      expect(pass.opens(jar, '/article/story-7')).toBe(true);
      for (const other of ['/live/7', '/article/story-8', '/article/story-7/live?page=2']) {
        expect(pass.opens(jar, other), other).toBe(false);
      }
      expect(sentTo('/live/8', used)).toBe('');
    });

    it('are for readers who have confirmed their address', async () => {
      const { access, session, pay, database } = await open();
      pay('sun-reader', day);
      const unconfirmed = { ...session, emailVerified: false };
      expect(await access.give(unconfirmed, 7)).toEqual({ ok: false, why: 'unconfirmed' });
      expect(await database.db.selectFrom('gifts').selectAll().execute()).toEqual([]);
      expect(await access.give(session, 7)).toMatchObject({ ok: true });
    });

    it('open nothing once their giver does not subscribe any more, and a pass ends within the hour', async () => {
      const { access, session, pay, pass, clock } = await open();
      pay('sun-reader', 10 * day);
      const given = await access.give(session, 7);
      const token = given?.ok ? given.gift.token : '';
      const first = await access.useGift(token, slugOf, null);
      const [jar, link] = [sentTo('/article/story-7', first), sentTo(`/gift/${token}`, first)];
      const view = (cookies: string | null) =>
        access.view({
          session: null,
          path: '/',
          article: article(7, 'subscriber'),
          cookies,
          giftToken: token,
          count: true,
        });
      expect(featureValue(await view(null), 'article-access').outputValue).toBe('FULL');
      // Refunded, given up, or over.
      pay('sun-reader', 0);
      expect(await access.peekGift(token, slugOf, null)).toBeNull();
      expect(await access.peekGift(token, slugOf, link)).toBeNull();
      expect(await access.useGift(token, slugOf, null)).toBeNull();
      expect(await access.useGift(token, slugOf, link)).toBeNull();
      expect(featureValue(await view(null), 'article-access').outputValue).toBe('OPENING');
      expect(pass.opens(jar, '/article/story-7')).toBe(true);
      clock.pass(3601);
      expect(featureValue(await view(jar), 'article-access').outputValue).toBe('OPENING');
      // Taken up again: the link that was given is good again, and knows its browser.
      pay('sun-reader', day);
      expect((await access.useGift(token, slugOf, link))?.cookies).toHaveLength(1);
    });

    it('never open for more browsers than they may, however many come at once', async () => {
      const { access, session, pay } = await open();
      pay('sun-reader', day);
      const given = await access.give(session, 7);
      const token = given?.ok ? given.gift.token : '';
      const used = await Promise.all(Array.from({ length: 12 }, () => access.useGift(token, slugOf, null)));
      expect(used.filter((one) => one !== null)).toHaveLength(2);
    });

    it('end, and open nothing that is gone or made up', async () => {
      const { access, session, pay, clock, database } = await open();
      pay('sun-reader', 100 * day);
      const given = await access.give(session, 7);
      const token = given?.ok ? given.gift.token : '';
      expect(await access.useGift(token, () => null, null)).toBeNull();
      for (const wrong of ['', 'x', 'A'.repeat(43), `${token}x`, token.toLowerCase()])
        expect(await access.peekGift(wrong, slugOf, null), wrong).toBeNull();
      expect(JSON.stringify(await database.db.selectFrom('gifts').selectAll().execute())).not.toContain(token);
      clock.pass(14 * day);
      expect(await access.peekGift(token, slugOf, null)).toBeNull();
      expect(await access.useGift(token, slugOf, null)).toBeNull();
    });

    it('go with their giver, and are in the export before', async () => {
      const { access, accounts, session, pay, read, database } = await open();
      await read(3);
      pay('sun-reader', day);
      await access.give(session, 7);
      expect(await access.personalData.export(session)).toEqual({
        metered_articles: [{ article: 3, time: expect.any(String) }],
        gifts: [{ article: 7, time: expect.any(String), readers: 0 }],
      });
      await accounts.forget(session, { address: '203.0.113.1', userAgent: null });
      for (const table of ['gifts', 'article_reads'] as const)
        expect(await database.db.selectFrom(table).selectAll().execute(), table).toEqual([]);
    });
  });
});
