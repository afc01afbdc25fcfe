/** Gift links on both engines. */
import { expect, it } from 'vitest';
import { accessFixture, article, day } from '../../../tests/world/access.ts';
import { browser, elsewhere } from '../../../tests/world/accounts.ts';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { deleteOldRows } from '../jobs/old-rows.ts';
import { featureValue } from './answers.ts';

onBothEngines('gifts', (engines) => {
  const open = async () => accessFixture(await engines.open());
  const slugOf = (id: number): string => `story-${id}`;
  /** The cookies of an opened link that are for this path. */
  const sentTo = (path: string, used: { readonly cookies: readonly string[] } | null) =>
    browser((used?.cookies ?? []).filter((line) => line.includes(`; Path=${path};`)));

  it('can be given only by subscribers', async () => {
    const { access, session, pay } = await open();
    expect(await access.give(session, 7)).toBeNull();
    pay('sun-reader', 60);
    expect(await access.give(session, 7)).toMatchObject({ ok: true, left: 1, gift: { articleId: 7 } });
  });

  it('are the same link for the same article, and limited to two within thirty days', async () => {
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

  it('are counted separately for each subscriber', async () => {
    const { access, session, pay, join } = await open();
    const grace = (await join('grace@example.com', elsewhere(1))).session;
    pay('sun-reader', day);
    const given = [await access.give(session, 7), await access.give(session, 8), await access.give(grace, 7)];
    expect(given).toMatchObject([
      { ok: true, left: 1 },
      { ok: true, left: 0 },
      { ok: true, left: 1 },
    ]);
    expect(new Set(given.map((one) => (one?.ok ? one.gift.token : '')))).toHaveLength(3);
    const left = async (reader: typeof session) => {
      const path = '/article/story-9';
      const view = await access.view({
        session: reader,
        path,
        article: article(9, 'subscriber'),
        cookies: null,
        count: true,
      });
      return [view.gifts?.left, featureValue(view, 'gift').outputValue];
    };
    expect(await left(session)).toEqual([0, 'NO']);
    expect(await left(grace)).toEqual([1, 'YES']);
  });

  it('get a new link once the old one has ended or is used up, and each link counts toward the limit', async () => {
    const { access, session, pay, clock, database } = await open();
    pay('sun-reader', 100 * day);
    const give = async (id: number) => {
      const given = await access.give(session, id);
      return given?.ok ? given.gift.token : '';
    };
    const [ended, other] = [await give(7), await give(8)];
    clock.pass(14 * day);
    expect(await access.give(session, 7)).toMatchObject({ ok: false, why: 'used up' });
    clock.pass(16 * day);
    const again = await give(7);
    expect(['', ended, other]).not.toContain(again);
    // Ended gifts that count no longer are deleted.
    await deleteOldRows(access.oldRows);
    expect(await database.db.selectFrom('gifts').select('article_id').execute()).toHaveLength(1);
    for (let browsers = 0; browsers < 2; browsers++) await access.useGift(again, slugOf, null);
    expect(await access.give(session, 7)).toMatchObject({ ok: true, left: 0 });
    expect(await access.useGift(again, slugOf, null)).toBeNull();
  });

  it('count toward the limit for thirty days, even if they have ended by then', async () => {
    const { access, session, pay, clock } = await open();
    pay('sun-reader', 100 * day);
    expect(await access.give(session, 7)).toMatchObject({ ok: true, left: 1 });
    clock.pass(15 * day);
    expect(await access.give(session, 8)).toMatchObject({ ok: true, left: 0 });
    expect(await access.give(session, 9)).toMatchObject({ ok: false, why: 'used up' });
  });

  it('open only their own article, and using one up does not affect another', async () => {
    const { access, session, pay } = await open();
    pay('sun-reader', day);
    const [given, other] = [await access.give(session, 7), await access.give(session, 8)];
    const giftToken = given?.ok ? given.gift.token : '';
    const shown = async (id: number) => {
      const question = { session: null, path: '/', cookies: null, giftToken, count: true };
      const view = await access.view({ ...question, article: article(id, 'subscriber') });
      return featureValue(view, 'article-access').outputValue;
    };
    expect([await shown(7), await shown(8)]).toEqual(['FULL', 'OPENING']);
    for (let browsers = 0; browsers < 2; browsers++) await access.useGift(giftToken, slugOf, null);
    expect(await shown(7)).toBe('OPENING');
    expect(await access.useGift(other?.ok ? other.gift.token : '', slugOf, null)).not.toBeNull();
  });

  it('requested three times at once are a single link', async () => {
    const { access, session, pay } = await open();
    pay('sun-reader', day);
    const given = await Promise.all([access.give(session, 7), access.give(session, 7), access.give(session, 7)]);
    expect(new Set(given.map((one) => (one?.ok ? one.gift.token : '')))).toHaveLength(1);
  });

  it('open one article in two browsers, and previewing the link uses nothing up', async () => {
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
    // A second use in the same browser uses nothing up.
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

  it('recognize a returning browser by its cookie for the link, even when they are used up', async () => {
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
      // The article's pass is renewed; the link gets none.
      expect(used?.cookies).toEqual([expect.stringContaining('; Path=/article/story-7; Max-Age=3600;')]);
    }
    expect(await access.useGift(token, slugOf, null)).not.toBeNull();
    expect(await access.useGift(token, slugOf, null)).toBeNull();
    expect(await access.peekGift(token, slugOf, null)).toBeNull();
    expect((await access.peekGift(token, slugOf, again))?.articleId).toBe(7);
    expect((await access.useGift(token, slugOf, again))?.path).toBe('/article/story-7');
  });

  it('also set a cookie at the path of the story’s live stream, which opens no other page', async () => {
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

  it('can be given only by readers who have confirmed their address', async () => {
    const { access, session, pay, database } = await open();
    pay('sun-reader', day);
    const unconfirmed = { ...session, emailVerified: false };
    expect(await access.give(unconfirmed, 7)).toEqual({ ok: false, why: 'unconfirmed' });
    expect(await database.db.selectFrom('gifts').selectAll().execute()).toEqual([]);
    expect(await access.give(session, 7)).toMatchObject({ ok: true });
  });

  it('open nothing after the giver’s subscription ends, and an existing pass ends within an hour', async () => {
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
    // After a refund, a cancellation or the end of the subscription.
    pay('sun-reader', 0);
    expect(await access.peekGift(token, slugOf, null)).toBeNull();
    expect(await access.peekGift(token, slugOf, link)).toBeNull();
    expect(await access.useGift(token, slugOf, null)).toBeNull();
    expect(await access.useGift(token, slugOf, link)).toBeNull();
    expect(featureValue(await view(null), 'article-access').outputValue).toBe('OPENING');
    expect(pass.opens(jar, '/article/story-7')).toBe(true);
    clock.pass(3601);
    expect(featureValue(await view(jar), 'article-access').outputValue).toBe('OPENING');
    // When the subscription resumes, the link is valid again and recognizes its browser.
    pay('sun-reader', day);
    expect((await access.useGift(token, slugOf, link))?.cookies).toHaveLength(1);
  });

  it('open for two browsers only, even if twelve come at once', async () => {
    const { access, session, pay } = await open();
    pay('sun-reader', day);
    const given = await access.give(session, 7);
    const token = given?.ok ? given.gift.token : '';
    const used = await Promise.all(Array.from({ length: 12 }, () => access.useGift(token, slugOf, null)));
    expect(used.filter((one) => one !== null)).toHaveLength(2);
  });

  it('end after 14 days, and open nothing when the article is gone or the link is made up', async () => {
    const { access, session, pay, clock, database } = await open();
    pay('sun-reader', 100 * day);
    const given = await access.give(session, 7);
    const token = given?.ok ? given.gift.token : '';
    expect(await access.useGift(token, () => null, null)).toBeNull();
    expect(await access.peekGift(token, () => null, null)).toBeNull();
    for (const wrong of ['', 'x', 'A'.repeat(43), `${token}x`, token.toLowerCase()])
      expect(await access.peekGift(wrong, slugOf, null), wrong).toBeNull();
    expect(JSON.stringify(await database.db.selectFrom('gifts').selectAll().execute())).not.toContain(token);
    clock.pass(14 * day);
    expect(await access.peekGift(token, slugOf, null)).toBeNull();
    expect(await access.useGift(token, slugOf, null)).toBeNull();
  });

  it('are in the giver’s data export, and are deleted with the giver’s account', async () => {
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
