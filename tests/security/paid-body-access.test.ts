/** With access, the paid text of articles is found, and only where it may be. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser } from '../fixtures/account-site.ts';
import { entriesOfPaid, everyRoute } from '../fixtures/paid-paper.ts';
import {
  articles,
  ask,
  cookies,
  crawl,
  googlebot,
  others,
  paid,
  search,
  secretsIn,
  site,
  soon,
  startSite,
  words,
} from '../world/paid-text.ts';

beforeAll(() => startSite());
afterAll(() => site.stop());

describe('the paid text of an article, with a free account', () => {
  it('is visible only in articles for registered readers', async () => {
    const browser = site.browser();
    await browser.signIn(site, 'registered@example.com');
    const cookie = [...browser.jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const mine = paid.filter(({ level }) => level === 'registered');
    // The further page and the entries of a live story are for the same readers as the story.
    const live = mine.filter(({ slug }) => slug.endsWith('-live'));
    const expected = [
      ...mine.map(({ slug, secret }) => `GET /article/${slug}: ${secret}`),
      ...live.map(({ slug, secret }) => `GET /article/${slug}/live?page=2: ${secret}`),
      ...live.flatMap((one) => entriesOfPaid(one).map((entry) => `GET /fragments/live/${entry}: ${one.secret}`)),
    ].toSorted();
    expect(await search([...new Set([...everyRoute(words()), ...others()])], { cookie })).toEqual(expected);
    const { found } = await crawl({ cookie });
    expect(found).toEqual(
      [
        ...mine.map(({ slug, secret }) => `/article/${slug}: ${secret}`),
        ...live.map(({ slug, secret }) => `/article/${slug}/live?page=2: ${secret}`),
      ].toSorted(),
    );
  });
});

describe('the paid text of an article, with access', () => {
  const everything = () => paid.map(({ slug, secret }) => `GET /article/${slug}: ${secret}`).toSorted();

  it('is visible to a subscriber for as long as the subscription is paid', async () => {
    const browser = site.browser();
    const email = 'subscriber@example.com';
    site.paid.set(email, [{ product: 'sun-reader', until: Date.now() + 3_600_000, trialing: false }]);
    await browser.signIn(site, email);
    expect(browser.jar.get('visitor')).toBe('reader');
    const cookie = () => [...browser.jar].map(([name, value]) => `${name}=${value}`).join('; ');
    expect(await search(articles(), { cookie: cookie() })).toEqual(everything());
    const full = await ask(articles()[0] ?? '', { cookie: cookie() });
    expect(full.headers['cache-control']).toBe('private, max-age=0, must-revalidate');

    // Refunded: the next request removes the cookie, and a stolen cookie expires after its quarter of an hour.
    site.paid.set(email, []);
    await browser.post('/zephr/feature-decisions', { featureIds: [] });
    expect(browser.jar.get('visitor')).toBe('registered');
    const registered = paid.filter(({ level }) => level === 'registered');
    expect(await search(articles(), { cookie: cookie() })).toHaveLength(registered.length);
  });

  it('is hidden when the paid period ends, even if no request renews the cookie', async () => {
    const browser = site.browser();
    const email = 'ending@example.com';
    await browser.signIn(site, email);
    const path = `/article/${paid.find(({ level }) => level === 'subscriber')?.slug}`;
    let cookie = '';
    let until = 0;
    // A machine that is too busy to ask in these seconds gets more of them.
    for (let seconds = 4; ; seconds *= 2) {
      until = Date.now() + seconds * 1000;
      site.paid.set(email, [{ product: 'sun-member', until, trialing: false }]);
      browser.jar.delete('access');
      await browser.post('/zephr/feature-decisions', { featureIds: [] });
      cookie = `access=${browser.jar.get('access')}`;
      const found = secretsIn(await ask(path, { cookie }));
      // A cookie's time is in whole seconds.
      if (Date.now() > until - 1000) continue;
      expect(found).toHaveLength(1);
      break;
    }
    await expect.poll(() => Date.now()).toBeGreaterThan(until);
    expect(secretsIn(await ask(path, { cookie }))).toEqual([]);
  });

  it('appears on each device after a payment, once the device asks for its access', async () => {
    const [phone, desk] = [site.browser(), site.browser()];
    const email = 'two-devices@example.com';
    await phone.signIn(site, email);
    await desk.signIn(site, email, 'login');
    const path = `/article/${paid.find(({ level }) => level === 'subscriber')?.slug}`;
    const found = async (browser: Browser) => secretsIn(await browser.get(path)).length;
    expect([await found(phone), await found(desk)]).toEqual([0, 0]);
    site.paid.set(email, [{ product: 'sun-founder', until: Date.now() + 3_600_000, trialing: false }]);
    await desk.post('/zephr/feature-decisions', { featureIds: [], path });
    expect([await found(phone), await found(desk)]).toEqual([0, 1]);
    await phone.post('/zephr/feature-decisions', { featureIds: [], path });
    expect([await found(phone), await found(desk), phone.jar.get('visitor')]).toEqual([1, 1, 'founder']);
    // Signed out everywhere: this browser's cookies are removed at once, the other's with its next request.
    await desk.post('/blaize/logout', { where: 'EVERYWHERE' });
    expect(await found(desk)).toBe(0);
    await phone.post('/zephr/feature-decisions', { featureIds: [] });
    expect([await found(phone), phone.jar.size]).toEqual([0, 0]);
  });

  it('is opened by a gift link for the one article only', async () => {
    const giver = site.browser();
    const email = 'giver@example.com';
    site.paid.set(email, [{ product: 'sun-reader', until: Date.now() + 3_600_000, trialing: false }]);
    await giver.signIn(site, email);
    const [article, other] = paid.filter(({ level }) => level === 'subscriber');
    if (!article || !other) throw new Error('There are no articles.');
    const made = await giver.post('/api/v1/gifts', { articleId: article.id });
    expect(made.status).toBe(201);
    const { url, left, readers } = made.json<{ url: string; left: number; readers: number }>();
    expect([left, readers]).toEqual([9, 10]);

    const friend = site.browser();
    const path = new URL(url).pathname;
    const page = await friend.get(path);
    expect([page.status, secretsIn(page), friend.jar.size]).toEqual([200, [], 0]);
    expect(page.headers['cache-control']).toBe('no-store');
    const opened = await friend.submit(path, {});
    expect([opened.status, opened.headers.location]).toEqual([303, `/article/${article.slug}`]);
    // Two cookies have this name: a browser sends this one to the article, and the other to the link.
    const forArticle = opened.cookies.find((line) => line.includes(`; Path=/article/${article.slug};`));
    const [gift = ''] = forArticle?.split(';') ?? [];
    expect(gift).toMatch(/^gift=v1\./);
    const whole = await ask(`/article/${article.slug}`, { cookie: gift });
    expect([secretsIn(whole), whole.headers['cache-control']]).toEqual([
      [article.secret],
      'private, max-age=0, must-revalidate',
    ]);
    expect(await search([...everyRoute(words()), ...others()], { cookie: gift })).toEqual([
      `GET /article/${article.slug}: ${article.secret}`,
    ]);

    const stranger = site.browser();
    await stranger.signIn(site, 'stranger@example.com');
    expect((await stranger.post('/api/v1/gifts', { articleId: article.id })).status).toBe(403);
    expect((await site.browser().post('/api/v1/gifts', { articleId: article.id })).status).toBe(401);
    expect((await giver.post('/api/v1/gifts', { articleId: 1 })).status).toBe(409);
    expect((await giver.post('/api/v1/gifts', { articleId: 99_999 })).status).toBe(404);
    expect((await site.browser().get(`/gift/${'A'.repeat(43)}`)).status).toBe(410);
  });

  it('is visible to a search engine with a known IP address, and not stored in caches', async () => {
    const headers = { 'user-agent': googlebot, 'x-forwarded-for': '192.0.2.66' };
    expect(await search(articles(), headers)).toEqual(everything());
    const seen = await ask(articles()[0] ?? '', headers);
    expect(seen.headers['cache-control']).toBe('private, no-store');
    expect(seen.headers['cdn-cache-control']).toBe('no-store');
    expect(seen.headers.etag).toBeUndefined();
    expect(await search(articles())).toEqual([]);
  });

  it('is marked as paid in structured data, in the public and full variants', async () => {
    for (const { slug } of paid.slice(0, 1)) {
      for (const cookie of ['', `access=${cookies.sign('subscriber', soon())}`]) {
        const { text } = await ask(`/article/${slug}`, { cookie });
        expect(text).toMatch(/"isAccessibleForFree":false,"hasPart":\{[^}]*"cssSelector":"\.restricted"/);
        expect(text).toMatch(/class="[^"]*\brestricted\b/);
      }
    }
  });
});
