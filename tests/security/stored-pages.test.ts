/** Stored pages hold nothing of the reader for whom they were rendered. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pathsOf } from '../../src/lib/http/fixed-pages.ts';
import { type Answer, type Browser, siteUrl } from '../fixtures/account-site.ts';
import { reader, site, startSite } from '../world/account-readers.ts';

beforeAll(() => startSite());
afterAll(() => site.stop());

describe('stored pages', () => {
  /** Every page that can be reached by links, except those that are never stored. */
  async function crawl(browser: Browser): Promise<Map<string, Answer>> {
    const pages = new Map<string, Answer>();
    const waiting = ['/', '/newsletter', '/newsletter-signUp', '/offer/newsletter', '/follow', '/thankyou'];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (
        pages.has(path) ||
        /^\/(?:api|blaize|zephr|account|dashboard|gift|image|_assets|-|privacy-choices)\b/.test(path) ||
        pathsOf('uncached').includes(path.replace(/[?#].*$/, ''))
      )
        continue;
      const page = await browser.get(path);
      pages.set(path, page);
      if (!String(page.headers['content-type']).startsWith('text/html')) continue;
      for (const [, href = ''] of page.text.matchAll(/\shref="([^"]*)"/g)) {
        const url = new URL(href.replaceAll('&amp;', '&'), siteUrl + path);
        if (url.origin === siteUrl) waiting.push(url.pathname + url.search);
      }
    }
    return pages;
  }

  it('are byte-for-byte the same for readers and visitors, and hold no personal data', async () => {
    const { browser, email } = await reader();
    await browser.post('/blaize/profile', { first_name: 'Quintessa', last_name: 'Featherstonehaugh' });
    const { tracking_id } = (await browser.get('/blaize/account')).json<{ tracking_id: string }>();
    const cookies = [...browser.jar.values()].filter((value) => value !== 'registered');
    // Signed-in readers first, so that stored pages were requested by one of them.
    const theirs = await crawl(browser);
    const visitors = await crawl(site.browser());
    expect([...theirs.keys()].toSorted()).toEqual([...visitors.keys()].toSorted());
    expect(theirs.size).toBeGreaterThan(30);
    const personal = [email, 'Quintessa', 'Featherstonehaugh', tracking_id, ...cookies];
    let whole = 0;
    for (const [path, page] of visitors) {
      const own = theirs.get(path);
      expect(page.headers['set-cookie'], path).toBeUndefined();
      for (const secret of personal) expect(page.text.includes(secret) || own?.text.includes(secret), path).toBe(false);
      if (own?.headers['cache-control']?.startsWith('private')) whole++;
      else {
        expect(own?.text === page.text, path).toBe(true);
        expect(own?.headers['set-cookie'], path).toBeUndefined();
        expect(own?.headers.etag, path).toBe(page.headers.etag);
      }
    }
    // The article for registered readers is the only page that differs.
    expect(whole).toBe(1);
  });

  it('do not include any page that depends on the reader', async () => {
    const { browser } = await reader();
    for (const path of [
      '/dashboard/account',
      '/account/link-sent',
      '/account/enter-code',
      '/blaize/token-exchange',
      // Search, the page for readers without scripts and the privacy form don't depend on the reader.
      ...pathsOf('uncached').filter((each) => !['/search', '/subscribe', '/privacy-choices'].includes(each)),
    ]) {
      const page = await browser.get(path);
      expect(page.headers['cache-control'], path).toMatch(/no-store/);
      expect(page.headers['cdn-cache-control'], path).toBeUndefined();
      for (const variant of ['public', 'full'] as const)
        expect(site.sitePress.press.peek(path, variant), path).toBeUndefined();
    }
  });

  it('give a reader with an expired access cookie the full article and a new cookie, and visitors neither', async () => {
    const { browser } = await reader();
    const stranger = site.browser();
    for (let round = 0; round < 2; round++) {
      browser.jar.delete('access');
      const page = await browser.get('/article/story-2');
      expect([page.status, page.text.includes('ENDING-2')]).toEqual([200, true]);
      expect(page.headers['cache-control']).toMatch(/^private/);
      expect(page.headers['cdn-cache-control']).toBe('no-store');
      expect(page.cookies.map((line) => line.split('=', 1)[0])).toEqual(['access']);
      const next = await browser.get('/article/story-2');
      expect([next.text.includes('ENDING-2'), next.cookies]).toEqual([true, []]);
      const public_ = await stranger.get('/article/story-2');
      expect([public_.text.includes('ENDING-2'), public_.cookies]).toEqual([false, []]);
      expect(public_.headers['cache-control']).toMatch(/^public/);
    }
    // Not entitled: the public page, which caches store, and so without a cookie.
    browser.jar.delete('access');
    const paid = await browser.get('/article/story-3');
    expect([paid.text.includes('ENDING-3'), paid.cookies]).toEqual([false, []]);
    expect(paid.headers['cache-control']).toMatch(/^public/);
  });

  it('give the public article to a session that has ended or is invented', async () => {
    const { browser } = await reader();
    const kept = new Map(browser.jar);
    await browser.post('/blaize/logout', { where: 'EVERYWHERE' });
    kept.delete('access');
    for (const session of [kept.get('blaize_session') ?? '', 'x'.repeat(43), '']) {
      const other = site.browser();
      other.jar.set('blaize_session', session);
      const page = await other.get('/article/story-2');
      expect([page.status, page.text.includes('ENDING-2'), page.cookies]).toEqual([200, false, []]);
    }
  });
});
