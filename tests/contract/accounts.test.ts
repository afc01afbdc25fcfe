/**
 * Every account call of spec section 7 against the built site over HTTP, with the bodies of docs/services/zephr.md; those that sign a reader
 * in and out are in accounts-sign-in.test.ts. The recorded bodies are in tests/contract/fixtures/accounts.ts; the Zephr tenant of
 * accounts-zephr.test.ts answers with the same.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountMessages } from '../../src/lib/accounts/messages.ts';
import { startAccountSite } from '../fixtures/account-site.ts';
import { by, reader, site, someone, startSite, uuid } from '../world/account-readers.ts';

beforeAll(() => startSite());
afterAll(() => site.stop());

describe('an answer of the account API', () => {
  it('is JSON with the security headers, and is not cached', async () => {
    const answer = await site.browser().get('/blaize/account');
    expect(answer.status).toBe(401);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
    expect(answer.json()).toEqual({ message: 'Please sign in first.' });
  });

  it.each([
    ['GET', '/blaize/login', 'POST'],
    ['GET', '/blaize/logout', 'POST'],
    ['DELETE', '/blaize/profile', 'GET, HEAD, POST, PATCH, PUT'],
    ['POST', '/blaize/account', 'GET, HEAD'],
    ['GET', '/zephr/feature-decisions', 'POST'],
    ['PUT', '/blaize/token-exchange', 'GET, HEAD, POST'],
  ])('is 405 for %s %s', async (method, path, allow) => {
    const answer = await site.browser().ask(path, { method, ...(method !== 'GET' && { json: {} }) });
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe(allow);
  });

  it.each([
    ['/blaize/account', 401],
    ['/blaize/login', 405],
    ['/api/geo', 200],
  ])('for %s has the same status and type for HEAD as for GET, and no body', async (path, status) => {
    const got = await site.browser().get(path);
    const head = await site.browser().ask(path, { method: 'HEAD' });
    expect([head.status, head.headers['content-type'], head.text]).toEqual([status, got.headers['content-type'], '']);
    expect(got.status).toBe(status);
  });
});

describe('POST /zephr/media/user/info', () => {
  it('answers 404 for an unknown user, and 200 for a known one', async () => {
    const { email } = await reader();
    const browser = site.browser();
    const unknown = await browser.post('/zephr/media/user/info', by(someone()));
    expect(unknown.status).toBe(404);
    expect(unknown.json()).toEqual({ message: accountMessages.unknownUser });
    expect((await browser.post('/zephr/media/user/info', by(email.toUpperCase()))).status).toBe(200);
  });

  it('answers 400 without an address', async () => {
    const answer = await site.browser().post('/zephr/media/user/info', { identifiers: {} });
    expect(answer.status).toBe(400);
    expect(answer.json()).toEqual({ message: 'identifiers.email_address is missing or not valid.' });
  });
});

describe('/blaize/profile', () => {
  it('merges fields on POST and PATCH, and replaces all on PUT', async () => {
    const { browser } = await reader();
    const profile = {
      first_name: 'Ada',
      'phone-number': '12125550183',
      date_of_birth: '1990-02-03',
      address: '1 Main St',
    };
    const saved = await browser.post('/blaize/profile', profile);
    expect([saved.status, saved.json()]).toEqual([200, { message: 'User profile updated' }]);
    await browser.ask('/blaize/profile', {
      method: 'PATCH',
      json: { last_name: 'Whitlock', newsletter: true, age: 36 },
    });
    expect((await browser.get('/blaize/profile')).json()).toEqual({
      ...profile,
      last_name: 'Whitlock',
      newsletter: true,
      age: 36,
    });
    await browser.ask('/blaize/profile', { method: 'PUT', json: { first_name: 'Eve' } });
    expect((await browser.get('/blaize/profile')).json()).toEqual({ first_name: 'Eve' });
  });

  it.each([
    [{ address: { line1: 'x' } }],
    [{ address: ['x'] }],
    [[]],
    ['text'],
    [{ 'phone-number': '123' }],
    [{ date_of_birth: 'yesterday' }],
    [{ 'a b': 1 }],
  ])('answers 400 to the profile %j', async (body) => {
    const { browser } = await reader();
    expect((await browser.post('/blaize/profile', body)).status).toBe(400);
  });

  it('answers 401 without a session', async () => {
    const browser = site.browser();
    for (const method of ['POST', 'PATCH', 'PUT'])
      expect((await browser.ask('/blaize/profile', { method, json: {} })).status).toBe(401);
    expect((await browser.get('/blaize/profile')).status).toBe(401);
  });

  it('stores any JSON per application as an extended profile', async () => {
    const { browser } = await reader();
    expect((await browser.get('/blaize/profile/games')).status).toBe(404);
    const value = { streak: [1, 2, { best: null }] };
    const put = await browser.ask('/blaize/profile/games', { method: 'PUT', json: value });
    expect([put.status, put.json()]).toEqual([200, { message: 'User extended profile updated' }]);
    expect((await browser.get('/blaize/profile/games')).json()).toEqual(value);
    expect((await browser.ask('/blaize/profile/_restricted_x', { method: 'PUT', json: {} })).status).toBe(400);
    expect((await site.browser().get('/blaize/profile/games')).status).toBe(401);
  });
});

describe('access decisions', () => {
  const use = { usedInDecision: false, decrementedInDecision: false };
  /** Of a free article. */
  const accessDetails = (authenticated: boolean) => ({
    authenticated,
    accessDecisions: { 'article-access': true },
    credits: {},
    trialTrackingDetails: [],
    entitlements: authenticated ? { registered: use } : {},
    meters: { articles: { ...use, totalCredits: authenticated ? 10 : 5, remainingCredits: authenticated ? 10 : 5 } },
    trials: {},
    timeTrials: {},
    testGroups: {},
    activeProducts: [],
  });

  it('are the anonymous default without a session, and authenticated with one', async () => {
    const { browser } = await reader();
    for (const [asker, authenticated] of [
      [site.browser(), false],
      [browser, true],
    ] as const) {
      const answer = await asker.post('/zephr/feature-decisions', {
        featureIds: ['paywall'],
        path: '/article/story-1',
      });
      expect(answer.status).toBe(200);
      expect(answer.json()).toEqual({
        featureResults: {},
        resources: { uiComponents: {} },
        accessDetails: accessDetails(authenticated),
      });
    }
    expect((await browser.post('/zephr/feature-decisions', {})).status).toBe(400);
  });

  it.each(['/zephr/decision-engine', '/api/zephr/decision-engine'])(
    'from %s on a feature are NO without a session, and YES for a signed-in reader',
    async (path) => {
      const { browser } = await reader();
      const body = { path: '/', sdkFeatureSlug: 'member-wall', session: null };
      expect((await site.browser().post(path, body)).json()).toEqual({
        sdkFeatureSlug: 'member-wall',
        outputType: 'ENUM',
        outputValue: 'NO',
      });
      expect((await browser.post(`${path}?raw=true`, body)).json()).toBe('YES');
      expect((await browser.post(path, { path: '/' })).status).toBe(400);
    },
  );
});

describe('other account calls', () => {
  it('POST /zephr/recognise-me gives every reader the same answer and signs no reader in', async () => {
    const { email } = await reader();
    const browser = site.browser();
    const [known, unknown] = [
      await browser.post('/zephr/recognise-me', by(email)),
      await browser.post('/zephr/recognise-me', by(someone())),
    ];
    expect([known.status, known.text, known.cookies]).toEqual([unknown.status, unknown.text, unknown.cookies]);
    expect(known.status).toBe(200);
    expect((await browser.get('/blaize/account')).status).toBe(401);
  });

  it('POST /blaize/anonymous-session gives a tracking id, and the same one the next time', async () => {
    const browser = site.browser();
    const first = await browser.post('/blaize/anonymous-session', {});
    expect(first.status).toBe(201);
    expect(first.json()).toEqual({
      message: 'Anonymous session created successfully',
      tracking_id: expect.stringMatching(uuid),
    });
    expect((await browser.post('/blaize/anonymous-session', {})).json().tracking_id).toBe(first.json().tracking_id);
  });

  it('POST /api/zephr-create creates an account from an address alone: 200, then 409', async () => {
    const email = someone();
    const browser = site.browser();
    const made = await browser.post('/api/zephr-create', { email });
    expect([made.status, made.json()]).toEqual([200, { sessionId: expect.stringMatching(uuid) }]);
    expect((await browser.get('/blaize/account')).status).toBe(401);
    expect((await browser.post('/api/zephr-create', { email })).status).toBe(409);
    expect((await browser.post('/api/zephr-create', { email: 'nonsense' })).status).toBe(400);
  });

  it('POST /api/verification verifies an address, and GET /api/geo answers with city, country and IP address', async () => {
    const browser = site.browser('203.0.113.77');
    expect((await browser.post('/api/verification', { email: someone() })).json()).toEqual({
      verified: true,
      suggestedEmail: null,
      message: '',
    });
    expect((await browser.get('/api/geo')).json()).toEqual({ city: 'New York', country: 'US', ip: '203.0.113.77' });
  });

  it('/api/v1/me/repair, sessions and export, and /zephr/media/user/session, answer only a signed-in reader', async () => {
    const { browser, email } = await reader();
    await site.browser().signIn(site, email, 'login');
    expect((await browser.get('/api/v1/me/repair')).json()).toEqual({ repaired: true });
    const { sessions } = (await browser.get('/api/v1/me/sessions')).json<{ sessions: { current: boolean }[] }>();
    expect(sessions).toHaveLength(2);
    expect(sessions.filter(({ current }) => current)).toHaveLength(1);
    expect((await browser.get('/zephr/media/user/session')).json()).toMatchObject({
      ...by(email),
      authenticated: true,
    });
    const exported = await browser.get('/api/v1/me/export');
    expect(exported.headers['content-disposition']).toMatch(/^attachment; filename="[\w.-]+"$/);
    expect(exported.json()).toMatchObject({ account: { email_address: email } });
    for (const path of ['/api/v1/me/repair', '/api/v1/me/sessions', '/zephr/media/user/session', '/api/v1/me/export'])
      expect((await site.browser().get(path)).status, path).toBe(401);
  });

  it('GET /api/v1/me/repair restores lost access and visitor cookies', async () => {
    const { browser } = await reader();
    browser.jar.delete('access');
    browser.jar.delete('visitor');
    await browser.get('/api/v1/me/repair');
    expect([...browser.jar.keys()]).toEqual(expect.arrayContaining(['access', 'visitor']));
  });

  it('POST /blaize/forget-me deletes the reader, unless another address is given as confirmation', async () => {
    const { browser, email } = await reader();
    const other = site.browser();
    await other.signIn(site, email, 'login');
    // A reader who confirmed with another address meant another account.
    expect((await browser.post('/blaize/forget-me', { email: 'eve@example.com' })).status).toBe(409);
    expect((await browser.get('/blaize/account')).status).toBe(200);
    expect((await browser.post('/blaize/forget-me', { email: ` ${email.toUpperCase()}` })).status).toBe(200);
    expect(browser.jar.size).toBe(0);
    expect((await other.get('/blaize/account')).status).toBe(401);
    expect((await other.post('/zephr/media/user/info', by(email))).status).toBe(404);
    expect((await site.browser().post('/blaize/forget-me', {})).status).toBe(401);
  });
});

describe('an account call over its limit', () => {
  it('answers 429 with Retry-After and a message', async () => {
    const strict = await startAccountSite({
      limits: { exists: { address: { most: 2, seconds: 600 }, overall: { most: 1000, seconds: 600 } } },
    });
    try {
      const browser = strict.browser();
      const ask = () => browser.post('/zephr/media/user/info', by(someone()));
      expect([(await ask()).status, (await ask()).status]).toEqual([404, 404]);
      const over = await ask();
      expect(over.status).toBe(429);
      expect(Number(over.headers['retry-after'])).toBeGreaterThan(0);
      expect(Number(over.headers['retry-after'])).toBeLessThanOrEqual(600);
      expect(over.json()).toEqual({
        message: expect.stringMatching(/^Too many tries\. Please wait \d+ minutes, then try again\.$/),
        retryAfter: Number(over.headers['retry-after']),
      });
      expect((await strict.browser().post('/zephr/media/user/info', by(someone()))).status).toBe(404);
    } finally {
      await strict.stop();
    }
  });
});

describe('accounts', () => {
  it.each([
    ['that are switched off', null, 'Sign-in is unavailable right now. Try again in a few minutes.'],
    ['whose database does not answer', 'away', 'Something went wrong. Please try again.'],
  ] as const)('%s: their calls answer 503, and pages are still served', async (_, how, message) => {
    const fails = () => Promise.reject(new Error('The database does not answer.'));
    const off = await startAccountSite({
      accounts:
        how === null ? null : (real) => ({ ...real, exists: fails, session: fails, sendLink: fails, peekLink: fails }),
    });
    try {
      const browser = off.browser();
      browser.jar.set('blaize_session', 'x'.repeat(43));
      const answer = await browser.post('/zephr/media/user/info', by(someone()));
      expect(answer.status).toBe(503);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      expect(answer.json().message).toBe(message);
      expect((await browser.get('/blaize/account')).status).toBe(503);
      expect((await browser.get('/article/story-2')).status).toBe(200);
      expect((await browser.get('/socialLogin')).status).toBe(200);
      expect((await browser.get('/dashboard/account')).status).toBe(303);
      expect((await browser.get(`/blaize/token-exchange?token=${'x'.repeat(43)}`)).status).toBe(503);
      const form = await browser.submit('/account/sign-in', { email: someone(), return: '/about' });
      expect(form.headers.location).toBe('/socialLogin?problem=off&return=%2Fabout');
      const decisions = await browser.post('/zephr/feature-decisions', { featureIds: [] });
      expect(decisions.status).toBe(how === null ? 200 : 503);
    } finally {
      await off.stop();
    }
  });
});
