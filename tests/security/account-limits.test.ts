/** What a reader may send to the account calls: limits of rate and size, and malformed bodies. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startAccountSite } from '../fixtures/account-site.ts';
import { by, reader, site, someone, startSite } from '../world/account-readers.ts';

const mostChecks = 3;
beforeAll(() => startSite({ limits: { verify: { store: 'shared', address: { most: mostChecks, seconds: 600 } } } }));
afterAll(() => site.stop());

describe('oversized and malformed bodies', () => {
  const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
  it.each([
    ['over the size limit', `{"a":"${'x'.repeat(20_000)}"}`, 413],
    ['nested 17 levels deep', nested(17), 400],
    ['nested 7,000 levels deep', `{"a":${'['.repeat(7000)}${']'.repeat(7000)}}`, 400],
    ['16,000 open brackets', '['.repeat(16_000), 400],
    ['invalid JSON', '{a:1}', 400],
    ['control characters', '\u0000\uffff', 400],
    ['900 keys', JSON.stringify(Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`k${at}`, at]))), 400],
  ])('a profile body is refused: %s', async (_, body, status) => {
    const { browser } = await reader();
    const headers = { 'content-type': 'application/json' };
    expect((await browser.ask('/blaize/profile', { method: 'POST', body, headers })).status).toBe(status);
    const app = await browser.ask('/blaize/profile/games', { method: 'PUT', body: body.repeat(5), headers });
    expect(app.status).toBeGreaterThanOrEqual(400);
    expect((await browser.get('/blaize/profile')).json()).toEqual({});
  });

  it('do not change prototypes through keys such as __proto__', async () => {
    const { browser } = await reader();
    const headers = { 'content-type': 'application/json' };
    for (const body of ['{"__proto__":"x"}', '{"constructor":"x"}', '{"__proto__":{"isFounder":true}}'])
      await browser.ask('/blaize/profile', { method: 'POST', body, headers });
    expect((await browser.get('/blaize/profile')).json()).toEqual({});
    expect(({} as Record<string, unknown>).isFounder).toBeUndefined();
    await browser.ask('/blaize/profile/games', { method: 'PUT', body: '{"__proto__":{"isFounder":true}}', headers });
    expect(({} as Record<string, unknown>).isFounder).toBeUndefined();
  });

  it('an email address of 2,000 letters makes no cookie over 4,096 characters', async () => {
    const answer = await site.browser().submit('/account/sign-in', {
      email: 'é'.repeat(2000),
      return: `/${'a'.repeat(1000)}`,
    });
    expect(answer.headers.location).toMatch(/^\/socialLogin\?.*problem=email/);
    for (const line of answer.cookies) expect(line.length).toBeLessThan(4096);
  });

  it('a body that is not JSON does not delete the account', async () => {
    const { browser } = await reader();
    const asked = { method: 'POST', body: 'a=b', headers: { 'content-type': 'text/plain' } };
    expect((await browser.ask('/blaize/forget-me', asked)).status).toBe(415);
    expect((await browser.get('/blaize/account')).status).toBe(200);
  });

  it('a sign-in form of over 20,000 characters gets 415', async () => {
    const answer = await site.browser().submit('/account/sign-in', { email: `${'x'.repeat(20_000)}@example.com` });
    expect(answer.status).toBe(415);
  });
});

describe('rate limits', () => {
  it('count by the address that the proxy saw, whatever X-Forwarded-For the client sends', async () => {
    const most = 3;
    const strict = await startAccountSite({
      limits: { exists: { address: { most, seconds: 600 }, overall: { most: 1000, seconds: 600 } } },
    });
    try {
      const browser = strict.browser('203.0.113.200');
      const statuses: number[] = [];
      for (let ask = 0; ask < 6; ask++) {
        const headers = { 'x-forwarded-for': `10.0.0.${ask}, 203.0.113.200`, forwarded: `for=10.0.0.${ask}` };
        statuses.push((await browser.post('/zephr/media/user/info', by(someone()), { headers })).status);
      }
      expect(statuses).toEqual([404, 404, 404, 429, 429, 429]);
      // The form asks the same thing, and counts toward the same limit.
      const form = await browser.submit('/account/sign-in', { email: someone() });
      expect(form.headers.location).toBe('/socialLogin?problem=limited');
      expect((await strict.browser().post('/zephr/media/user/info', by(someone()))).status).toBe(404);
    } finally {
      await strict.stop();
    }
  });

  it('apply to email verification', async () => {
    const browser = site.browser();
    const statuses = new Set<number>();
    for (let ask = 0; ask <= mostChecks; ask++)
      statuses.add((await browser.post('/api/verification', { email: someone() })).status);
    expect([...statuses]).toEqual([200, 429]);
  });

  it('treat all addresses of one IPv6 /64 network as one client in email verification', async () => {
    const statuses = new Set<number>();
    for (let ask = 0; ask <= mostChecks; ask++) {
      const browser = site.browser(`2001:db8:7:1::${ask.toString(16)}`);
      statuses.add((await browser.post('/api/verification', { email: someone() })).status);
    }
    expect([...statuses]).toEqual([200, 429]);
  });

  it('apply before a form looks up an email address', async () => {
    const verify = vi.fn(async () => ({ verified: false, suggestedEmail: null, message: 'No such mailbox.' }));
    const most = 3;
    const strict = await startAccountSite({
      services: { emailVerification: { verify } },
      limits: { exists: { address: { most, seconds: 600 }, overall: { most: 1000, seconds: 600 } } },
    });
    try {
      const browser = strict.browser();
      for (let ask = 0; ask < 10; ask++) {
        await browser.submit('/account/sign-in', { email: someone() });
        await browser.submit('/account/newsletter', { email: someone() });
      }
      expect(verify).toHaveBeenCalledTimes(most);
    } finally {
      await strict.stop();
    }
  });
});
