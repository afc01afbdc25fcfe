/** The account calls that sign a reader in and out, against the built site over HTTP. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { by, reader, site, someone, startSite, uuid } from '../world/account-readers.ts';
import { bodies, formOf } from './fixtures/accounts.ts';

beforeAll(() => startSite());
afterAll(() => site.stop());

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
