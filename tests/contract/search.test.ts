/** Too many searches, on the built site: from one network, and from all readers together. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silent } from '../../src/lib/logging.ts';
import { type Search, SearchBusy } from '../../src/lib/search/model.ts';
import { createSearch } from '../../src/lib/search/search.server.ts';
import { type AccountSite, startAccountSite } from '../fixtures/account-site.ts';

const own = createSearch({ hosted: null, log: silent });
let busy = false;
const search: Search = {
  ...own,
  find: (...asked) => (busy ? Promise.reject(new SearchBusy()) : own.find(...asked)),
};

let site: AccountSite;
beforeAll(async () => {
  site = await startAccountSite({ services: { search }, limits: { search: { address: { most: 3, seconds: 60 } } } });
});
afterAll(() => site?.stop());

const call = '/api/v1/articles/search?q=story';
const page = '/search?q=story';

describe('a search', () => {
  it('from a network over its limit gets 429, in the API and on the page; other networks still get results', async () => {
    const [reader, another] = [site.browser('203.0.113.7'), site.browser('203.0.113.8')];
    const began = Date.now();
    for (const path of [call, page, call]) expect((await reader.get(path)).status).toBe(200);
    const refused = await reader.get(call);
    /** A minute, less the time since the first request. */
    const isWait = (text: unknown): boolean =>
      /^\d+$/.test(String(text)) && Number(text) <= 60 && Number(text) >= 60 - (Date.now() - began) / 1000;
    expect([refused.status, isWait(refused.headers['retry-after'])]).toEqual([429, true]);
    const asked = /^Too many tries\. Please wait (?:a minute|\d\d? seconds), then try again\.$/;
    expect(refused.json()).toEqual({
      message: expect.stringMatching(asked),
      retryAfter: Number(refused.headers['retry-after']),
    });
    const shown = await reader.get(page);
    expect([shown.status, isWait(shown.headers['retry-after'])]).toEqual([429, true]);
    expect(shown.text).toMatch(asked);
    // Requests without a query aren't counted.
    for (const path of ['/search', '/search?q=', `${page}&from=2026-02-30`]) await reader.get(path);
    expect((await reader.get('/search')).status).toBe(200);
    expect((await another.get(call)).status).toBe(200);
  });

  it('that cannot run in time gets 503 with Retry-After', async () => {
    busy = true;
    try {
      const browser = site.browser();
      const answer = await browser.get(call);
      expect([answer.status, answer.headers['retry-after']]).toEqual([503, '5']);
      expect(answer.json().message).toBe('Search is unavailable right now. Try again in a moment.');
      const said = await browser.get(`${page}&page=3`);
      expect([said.status, said.headers['retry-after']]).toEqual([503, '5']);
      expect(said.text).toContain('Search is unavailable right now. Try again in a moment.');
      expect(said.text).not.toContain('No results found');
    } finally {
      busy = false;
    }
  });
});
