/**
 * Every account call of spec section 7 against the built site over HTTP, with the bodies of docs/services/zephr.md. The recorded bodies are
 * in tests/contract/fixtures/accounts.ts; the Zephr tenant of accounts-zephr.test.ts answers with the same.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountMessages } from '../../src/lib/accounts/messages.ts';
import { type AccountSite, startAccountSite } from '../fixtures/account-site.ts';
import { bodies, formOf } from './fixtures/accounts.ts';

let site: AccountSite;
beforeAll(async () => {
  site = await startAccountSite();
});
afterAll(() => site.stop());

let count = 0;
const someone = (): string => `reader-${++count}@example.com`;
const by = (email: string) => ({ identifiers: { email_address: email } });
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A browser that is signed in. */
async function reader(email = someone()) {
  const browser = site.browser();
  expect((await browser.signIn(site, email)).status).toBe(303);
  return { browser, email };
}

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

describe('POST /blaize/token-exchange', () => {
  it.each(Object.entries(bodies.tokenExchange))('accepts the body format “%s”', async (_, body) => {
    const email = someone();
    const browser = site.browser();
    const answer = await browser.post('/blaize/token-exchange', body(email, 'register', '/article/story-1'));
    expect(answer.status).toBe(201);
    expect(answer.json()).toEqual({ message: 'Login link sent' });
    const used = await site.browser().submit('/account/link', { token: site.token(email) });
    expect(used.status).toBe(303);
    expect(used.headers.location).toBe('/article/story-1');
  });

  it('answers 404 to an unknown user’s login, 409 to a known user’s registration, and 400 without an action', async () => {
    const { email } = await reader();
    const browser = site.browser();
    const ask = async (body: object) => (await browser.post('/blaize/token-exchange', body)).status;
    expect(await ask({ ...by(someone()), action: 'login', redirect: '/' })).toBe(404);
    expect(await ask({ ...by(email), action: 'register', redirect: '/' })).toBe(409);
    expect(await ask(by(email))).toBe(400);
    expect(await ask({ ...by(email), action: 'login', method: 'sms' })).toBe(400);
    const { login } = { login: bodies.tokenExchange.delivery(email, 'login', '/') };
    expect(await ask({ ...login, delivery: { ...login.delivery, destination: someone() } })).toBe(400);
  });
});

describe('GET /blaize/token-exchange', () => {
  const linkFor = async (email: string) => {
    const browser = site.browser();
    await browser.post(
      '/blaize/token-exchange',
      bodies.tokenExchange['flat and delivery'](email, 'register', '/dashboard/account'),
    );
    return { browser, path: `/blaize/token-exchange?token=${site.token(email)}` };
  };

  it('uses nothing up, shows the address, and asks for a click', async () => {
    const email = someone();
    const { path } = await linkFor(email);
    const scanner = site.browser();
    for (let look = 0; look < 3; look++) {
      const page = await scanner.get(path);
      expect(page.status).toBe(200);
      expect(page.headers['cache-control']).toBe('no-store');
      expect(page.cookies).toEqual([]);
      expect(page.text.includes(email)).toBe(true);
      expect(page.text.includes('data-press=')).toBe(false);
      expect(/<form[^>]*method="post"[^>]*action="\/account\/link"/.test(page.text)).toBe(true);
    }
    expect((await scanner.ask(path, { method: 'HEAD' })).status).toBe(200);
    const used = await scanner.submit('/account/link', formOf((await scanner.get(path)).text));
    expect(used.headers.location).toBe('/dashboard/account');
    expect((await scanner.get('/blaize/account')).json()).toMatchObject(by(email));
  });

  it('lets the page press the button by itself in the browser that requested the link', async () => {
    const { browser, path } = await linkFor(someone());
    expect((await browser.get(path)).text.includes('data-press=')).toBe(true);
  });

  it('answers 400 without a token, 404 to an unknown one and 410 to a used one, each with a link to sign-in', async () => {
    const email = someone();
    const { path } = await linkFor(email);
    await site.browser().submit('/account/link', { token: site.token(email) });
    const browser = site.browser();
    for (const [address, status] of [
      ['/blaize/token-exchange', 400],
      ['/blaize/token-exchange?token=%3Cscript%3E', 400],
      [`/blaize/token-exchange?token=${'x'.repeat(43)}`, 404],
      [path, 410],
    ] as const) {
      const page = await browser.get(address);
      expect(page.status, address).toBe(status);
      expect(page.text.includes('href="/socialLogin?return=')).toBe(true);
    }
    // The button of a used link opens the page that explains this.
    const again = await browser.submit('/account/link', { token: site.token(email) });
    expect(again.headers.location).toBe(path);
    expect(again.cookies).toEqual([]);
  });
});

describe('POST /blaize/two-factor-authentication, /zephr/media/user/otp-check, /blaize/login and /blaize/register', () => {
  it.each(Object.entries(bodies.twoFactor))('accept the body format “%s”', async (_, body) => {
    const email = someone();
    const answer = await site.browser().post('/blaize/two-factor-authentication', body(email, 'register', '/'));
    expect(answer.status).toBe(201);
    expect(site.code(email)).toMatch(/^\d{6}$/);
  });

  it.each(Object.entries(bodies.code))('accept the code as %s', async (_, validators) => {
    const email = someone();
    const browser = site.browser();
    await browser.post('/blaize/two-factor-authentication', bodies.twoFactor.delivery(email, 'register', '/'));
    const code = site.code(email);
    expect((await browser.post('/zephr/media/user/otp-check', { code, email })).status).toBe(200);
    const made = await browser.post('/blaize/register', {
      ...by(email),
      validators: validators(code),
      attributes: { first_name: 'Ada', last_name: null },
    });
    expect(made.status).toBe(200);
    expect(made.json()).toEqual({
      cookie: expect.stringMatching(/^visitor=registered;(?!.*HttpOnly)/),
      message: 'Registration successful',
      tracking_id: expect.stringMatching(uuid),
    });
    const account = await browser.get('/blaize/account');
    expect(account.json()).toEqual({
      identifiers: { email_address: email },
      tracking_id: made.json().tracking_id,
      profile: { first_name: 'Ada', last_name: '' },
    });
  });

  it('answer a login with 200, a wrong code with 401, and an unknown user with 404', async () => {
    const { email } = await reader();
    const browser = site.browser();
    const action = 'login';
    expect(
      (await browser.post('/blaize/two-factor-authentication', { ...by(email), action, method: 'email' })).status,
    ).toBe(201);
    const code = site.code(email);
    const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
    const refused = await browser.post('/blaize/login', { ...by(email), validators: { code: wrong } });
    expect(refused.status).toBe(401);
    expect(refused.json()).toEqual({ message: 'Invalid code. Please check the code and try again.' });
    expect((await browser.post('/zephr/media/user/otp-check', { code: wrong, email })).status).toBe(400);
    const done = await browser.post('/blaize/login', {
      ...by(email),
      validators: { code: ` ${code.slice(0, 3)} ${code.slice(3)}` },
    });
    expect(done.status).toBe(200);
    expect(done.json()).toMatchObject({ message: 'Login successful' });
    // Once only.
    expect((await site.browser().post('/blaize/login', { ...by(email), validators: { code } })).status).toBe(401);
    expect(
      (await browser.post('/blaize/two-factor-authentication', { ...by(someone()), action, method: 'email' })).status,
    ).toBe(404);
    expect(
      (await browser.post('/blaize/two-factor-authentication', { ...by(email), action, method: 'sms' })).status,
    ).toBe(405);
  });

  it('answer 409 to a known user’s registration', async () => {
    const email = someone();
    const browser = site.browser();
    await browser.post('/blaize/two-factor-authentication', bodies.twoFactor.flat(email, 'register', '/'));
    const code = site.code(email);
    await reader(email);
    const answer = await browser.post('/blaize/register', { ...by(email), validators: { code } });
    expect(answer.status).toBe(409);
    expect(answer.json()).toEqual({ message: 'A user with this email already exists.' });
  });

  it.each([
    ['a body without validators', {}],
    ['a password instead of a code', { validators: { password: 'secret' }, ...by('a@example.com') }],
    ['a body without an email address', { validators: { code: '123456' } }],
    [
      'nested attributes',
      { validators: { code: '123456' }, ...by('a@example.com'), attributes: { address: { city: 'x' } } },
    ],
  ])('answer 400 to %s', async (_, body) => {
    for (const path of ['/blaize/login', '/blaize/register']) {
      expect((await site.browser().post(path, body)).status).toBe(400);
    }
  });

  it('answer 400 to a made-up state key', async () => {
    const body = { identifiers: {}, validators: { token_exchange: 'made-up' }, attributes: {} };
    for (const path of ['/blaize/login', '/blaize/register']) {
      expect((await site.browser().post(path, body)).status).toBe(400);
    }
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

describe('POST /blaize/logout', () => {
  it('ends this session, the other sessions, or all, and deletes the cookies', async () => {
    const { browser: first, email } = await reader();
    const second = site.browser();
    await second.signIn(site, email, 'login');
    const third = site.browser();
    await third.signIn(site, email, 'login');
    const status = async (browser: typeof first) => (await browser.get('/blaize/account')).status;

    const here = await third.post('/blaize/logout', { where: 'THIS_DEVICE' });
    expect([here.status, here.json()]).toEqual([200, { message: 'Session deleted' }]);
    expect(here.cookies.join('\n')).toMatch(/blaize_session=;/);
    expect(third.jar.size).toBe(0);
    expect(await Promise.all([first, second, third].map(status))).toEqual([200, 200, 401]);

    await first.post('/blaize/logout', { where: 'OTHER_DEVICES' });
    expect(await Promise.all([first, second].map(status))).toEqual([200, 401]);
    await second.signIn(site, email, 'login');
    await first.post('/blaize/logout', { where: 'EVERYWHERE' });
    expect(await Promise.all([first, second].map(status))).toEqual([401, 401]);
  });

  it('answers 200 to a signed-out reader, and 400 to an unknown scope', async () => {
    expect((await site.browser().post('/blaize/logout', { where: 'EVERYWHERE' })).status).toBe(200);
    expect((await site.browser().post('/blaize/logout', { where: 'NOWHERE' })).status).toBe(400);
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
    ['that are switched off', null],
    ['whose database does not answer', 'away'],
  ] as const)('%s: their calls answer 503, and pages are still served', async (_, how) => {
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
      expect(answer.json().message).toBe('Sign-in is unavailable right now. Try again in a few minutes.');
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
