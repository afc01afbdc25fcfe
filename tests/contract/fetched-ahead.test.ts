/**
 * A request of a page that its reader may never open (`Sec-Purpose: prefetch`) counts nothing, against the built site over HTTP
 * (docs/decisions/0036).
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FeatureDecisionsAnswer } from '../../src/lib/accounts/schema.ts';
import type { MostRead } from '../../src/lib/most-read/model.ts';
import { type AccountSite, type Browser, startAccountSite } from '../fixtures/account-site.ts';
import { wirePost } from '../fixtures/wordpress.ts';

let site: AccountSite;
/** The articles whose reading was counted. */
const counted: number[] = [];
const mostRead: MostRead = {
  async count(article) {
    counted.push(article);
    return 'counted';
  },
  top: () => [],
  list: () => [],
  now: () => Promise.reject(new Error('not asked here')),
};
beforeAll(async () => {
  site = await startAccountSite({
    services: { mostRead },
    write: (wordpress) => wordpress.put('articles', { ...wirePost({ id: 4, slug: 'story-4', category: [2] }), id: 4 }),
  });
});
afterAll(() => site?.stop());

const ahead = { headers: { 'sec-purpose': 'prefetch;prerender' } };

it('counting a prefetched page as read is refused with 409, and accepted once the page is opened', async () => {
  const browser = site.browser();
  const path = '/api/v1/articles/popular/increment/1?categoryId=2';
  const refused = await browser.post(path, undefined, ahead);
  expect([refused.status, refused.json()]).toEqual([409, { message: 'Failed to increment article popularity' }]);
  expect(counted).toEqual([]);
  const taken = await browser.post(path, undefined);
  expect([taken.status, taken.json(), counted]).toEqual([200, { ok: true }, [1]]);
});

/** The articles that a reader's meter still has. */
async function remaining(browser: Browser): Promise<number | undefined> {
  const answer = await browser.post('/zephr/feature-decisions', { featureIds: [], path: '/', dryRunMode: true });
  return answer.json<FeatureDecisionsAnswer>().accessDetails.meters.articles?.remainingCredits;
}

it.each([
  ['/zephr/feature-decisions', { featureIds: ['paywall'] }],
  ['/zephr/decision-engine', { sdkFeatureSlug: 'paywall' }],
  ['/api/zephr/decision-engine', { sdkFeatureSlug: 'paywall' }],
])('%s uses no article of the meter for a prefetched page', async (address, features) => {
  const browser = site.browser();
  await browser.signIn(site, `${address.replaceAll('/', '-')}@example.com`);
  const before = Number(await remaining(browser));
  expect(before).toBeGreaterThan(0);
  const asked = { path: '/article/story-4', ...features };
  expect((await browser.post(address, asked, ahead)).status).toBe(200);
  expect(await remaining(browser)).toBe(before);
  expect((await browser.post(address, asked)).status).toBe(200);
  expect(await remaining(browser)).toBe(before - 1);
});
