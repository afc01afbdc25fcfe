/**
 * What must not be possible with an account: calling from another site, leading readers away, giving them a session, breaking out of a
 * header, or reading and changing another reader's data. On the built site over HTTP, with the real account service on SQLite.
 * Limits are in account-limits.test.ts, what stored pages never contain in stored-pages.test.ts.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Asked, type Browser, siteUrl, startAccountSite } from '../fixtures/account-site.ts';
import { by, reader, site, someone, startSite } from '../world/account-readers.ts';

beforeAll(() => startSite());
afterAll(() => site.stop());

const sessionOf = (browser: Browser): string => browser.jar.get('blaize_session') ?? '';

/** Every call that changes something, with a valid body. */
const calls: readonly (readonly [method: string, path: string, body: object])[] = [
  ['POST', '/blaize/login', { ...by('a@example.com'), validators: { code: '123456' } }],
  ['POST', '/blaize/register', { ...by('a@example.com'), validators: { code: '123456' } }],
  ['POST', '/blaize/token-exchange', { ...by('a@example.com'), action: 'register' }],
  ['POST', '/blaize/two-factor-authentication', { ...by('a@example.com'), action: 'register' }],
  ['POST', '/blaize/profile', { first_name: 'Mallory' }],
  ['PATCH', '/blaize/profile', { first_name: 'Mallory' }],
  ['PUT', '/blaize/profile', { first_name: 'Mallory' }],
  ['PUT', '/blaize/profile/games', { first_name: 'Mallory' }],
  ['POST', '/blaize/logout', { where: 'EVERYWHERE' }],
  ['POST', '/blaize/forget-me', {}],
  ['POST', '/blaize/oauth/state', { target_url: '/' }],
  ['POST', '/blaize/anonymous-session', {}],
  ['POST', '/zephr/media/user/info', by('a@example.com')],
  ['POST', '/zephr/media/user/otp-check', { email: 'a@example.com', code: '123456' }],
  ['POST', '/zephr/recognise-me', by('a@example.com')],
  ['POST', '/zephr/feature-decisions', { featureIds: [] }],
  ['POST', '/zephr/decision-engine', { sdkFeatureSlug: 'a' }],
  ['POST', '/api/zephr/decision-engine', { sdkFeatureSlug: 'a' }],
  ['POST', '/api/zephr-create', { email: 'a@example.com' }],
  ['POST', '/api/verification', { email: 'a@example.com' }],
];

const forms: readonly (readonly [path: string, form: Record<string, string>])[] = [
  ['/account/sign-in', { email: 'a@example.com' }],
  ['/account/resend', { method: 'link' }],
  ['/account/code', { code: '123456' }],
  ['/account/link', { token: 'x'.repeat(43) }],
  ['/account/social', { state_key: 'x' }],
  ['/account/sign-out', {}],
  ['/account/newsletter', { email: 'a@example.com' }],
  ['/account/profile', { first_name: 'Mallory' }],
];

/** Headers that another site can make a browser send. */
const elsewhere: Readonly<Record<string, Record<string, string | null>>> = {
  'another site': { origin: 'https://other.example', 'sec-fetch-site': 'cross-site' },
  'another site in a browser without Sec-Fetch-Site': { origin: 'https://other.example', 'sec-fetch-site': null },
  'a sandboxed frame': { origin: 'null', 'sec-fetch-site': 'cross-site' },
  'another subdomain': { origin: 'https://blog.paper.example', 'sec-fetch-site': 'same-site' },
  'the same host over plain HTTP': { origin: 'http://paper.example', 'sec-fetch-site': 'cross-site' },
  'a client that sends cookies but no Origin': { origin: null, 'sec-fetch-site': null },
};

const away = [
  'https://other.example/',
  '//other.example',
  '/\\other.example',
  '/\t/other.example',
  '/..//other.example',
  'https://paper.example@other.example/',
  'https://paper.example.other.example',
  'javascript:alert(1)',
  '/%0d%0aSet-Cookie:%20a=b',
  '/\r\nSet-Cookie: a=b',
];

/** Expects a path of this site, resolved as a browser does from one of the site's pages. */
function staysHere(answer: Answer, note: string): void {
  const location = String(answer.headers.location);
  expect(new URL(location, `${siteUrl}/account/x`).origin, note).toBe(siteUrl);
  expect(location.startsWith('/'), note).toBe(true);
  expect(
    answer.cookies.some((cookie) => cookie.startsWith('a=')),
    note,
  ).toBe(false);
}

describe('calls from other sites', () => {
  it.each(Object.entries(elsewhere))('from %s get 403 and change nothing', async (_, headers) => {
    const { browser } = await reader();
    await browser.post('/blaize/profile', { first_name: 'Ada' });
    const before = [...browser.jar];
    const mailed = site.mail.length;
    for (const [method, path, json] of calls) {
      const answer = await browser.ask(path, { method, json, headers });
      expect([answer.status, answer.cookies], `${method} ${path}`).toEqual([403, []]);
    }
    for (const [path, form] of forms) {
      const answer = await browser.submit(path, form, { headers });
      expect([answer.status, answer.cookies], path).toEqual([403, []]);
    }
    expect([...browser.jar]).toEqual(before);
    expect(site.mail).toHaveLength(mailed);
    expect((await browser.get('/blaize/profile')).json()).toEqual({ first_name: 'Ada' });
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    '',
  ])('with the content type %j get 415, because another site’s page can send it without a preflight', async (type) => {
    const { browser } = await reader();
    await browser.post('/blaize/profile', { first_name: 'Ada' });
    for (const [method, path, json] of calls) {
      // forget-me doesn't check this body, only its origin.
      if (path === '/blaize/forget-me') continue;
      const headers = { 'content-type': type };
      const answer = await browser.ask(path, { method, body: JSON.stringify(json), headers });
      expect(answer.status, `${method} ${path}`).toBe(415);
    }
    expect((await browser.get('/blaize/profile')).json()).toEqual({ first_name: 'Ada' });
  });

  it('are allowed from a program that sends no cookies and no Origin header', async () => {
    const asked: Asked = { headers: { origin: null, 'sec-fetch-site': null, cookie: null } };
    expect((await site.browser().post('/zephr/recognise-me', by('a@example.com'), asked)).status).toBe(200);
  });

  it('cannot get permission with forged Host or X-Forwarded-Host headers', async () => {
    const headers = { origin: 'https://other.example', 'x-forwarded-host': 'other.example', host: 'other.example' };
    expect((await site.browser().post('/blaize/logout', {}, { headers })).status).toBe(403);
    const preflight = await site.browser().ask('/blaize/login', { method: 'OPTIONS', headers });
    expect(preflight.headers).not.toHaveProperty('access-control-allow-origin');
  });
});

describe('redirects', () => {
  it.each(away)('never leave the site for %j', async (target) => {
    const email = someone();
    const browser = site.browser();
    for (const redirect of [{ redirect: target }, { delivery: { method: 'email', redirect: target } }]) {
      await browser.post('/blaize/token-exchange', { ...by(email), action: 'register', ...redirect });
      const page = await browser.get(`/blaize/token-exchange?token=${site.token(email)}`);
      expect(page.text.includes('other.example')).toBe(false);
    }
    staysHere(await site.browser().submit('/account/link', { token: site.token(email) }), 'link');

    const other = someone();
    staysHere(await browser.submit('/account/sign-in', { email: other, method: 'code', return: target }), 'sign-in');
    staysHere(await browser.submit('/account/code', { code: site.code(other) }), 'code');
    for (const [path, form] of forms) staysHere(await site.browser().submit(path, { ...form, return: target }), path);

    const { browser: signedIn } = await reader();
    staysHere(await signedIn.get(`/socialLogin?return=${encodeURIComponent(target)}`), 'guard');
    staysHere(await signedIn.submit('/account/profile', { first_name: 'A', return: target }), 'profile');

    const visitor = site.browser();
    const page = await visitor.get(`/socialLogin?return=${encodeURIComponent(target)}`);
    expect(page.text.includes('other.example')).toBe(false);
    await visitor.post('/blaize/oauth/state', { start_url: target, target_url: target });
    const address = `/blaize/oauth/google?return=${encodeURIComponent(target)}`;
    for (const way of [address, '/blaize/oauth/google']) {
      const begun = await visitor.get(way);
      const state = new URL(String(begun.headers.location)).searchParams.get('state');
      const end = await visitor.get(`/blaize/oauth/google/callback?error=access_denied&state=${state}`);
      expect(end.text.includes('other.example')).toBe(false);
      expect(end.status).toBe(200);
    }
  });
});

describe('sessions', () => {
  it('get a new ID at each sign-in, and the previous session ends', async () => {
    const { browser, email } = await reader();
    const first = sessionOf(browser);
    const planted = site.browser();
    planted.jar.set('blaize_session', first);
    await planted.signIn(site, email, 'login');
    expect(sessionOf(planted)).not.toBe(first);
    // A client with the old session is signed out.
    expect((await browser.get('/blaize/account')).status).toBe(401);

    const made = 'A'.repeat(43);
    const victim = site.browser();
    victim.jar.set('blaize_session', made);
    await victim.signIn(site, someone());
    expect(sessionOf(victim)).not.toBe(made);
    const attacker = site.browser();
    attacker.jar.set('blaize_session', made);
    expect((await attacker.get('/blaize/account')).status).toBe(401);
  });

  it('are only in cookies that are HttpOnly, Secure and SameSite=Lax', async () => {
    const email = someone();
    const browser = site.browser();
    await browser.post('/blaize/two-factor-authentication', { ...by(email), action: 'register' });
    const code = site.code(email);
    const made = await browser.post('/blaize/register', { ...by(email), validators: { code } });
    const named = new Map(made.cookies.map((line) => [line.split('=', 1)[0], line]));
    expect([...named.keys()].toSorted()).toEqual(['access', 'blaize_session', 'blaize_tracking_id', 'visitor']);
    for (const [name, line] of named) {
      expect(line, name).toMatch(/; Path=\/(?:;|$)/);
      expect(line, name).toMatch(/; SameSite=Lax(?:;|$)/);
      expect(line, name).toMatch(/; Secure(?:;|$)/);
      expect(line, name).not.toMatch(/Domain=/i);
      expect(/; HttpOnly(?:;|$)/.test(line), name).toBe(name !== 'visitor');
    }
    expect(named.get('visitor')).toMatch(/^visitor=registered;/);
    expect(Number(/Max-Age=(\d+)/.exec(named.get('access') ?? '')?.[1])).toBeLessThanOrEqual(15 * 60);
    for (const path of [
      '/blaize/account',
      '/api/v1/me/sessions',
      '/api/v1/me/export',
      '/dashboard/account',
      '/profile',
    ])
      expect((await browser.get(path)).text.includes(sessionOf(browser)), path).toBe(false);
    expect(made.text.includes(sessionOf(browser))).toBe(false);
  });

  it('depend on a sign-in cookie that is encrypted, host-bound, refused if altered and refused as any other', async () => {
    const browser = site.browser();
    const email = someone();
    const sent = await browser.submit('/account/sign-in', { email });
    expect(sent.cookies).toHaveLength(1);
    expect(sent.cookies[0]).toMatch(
      /^__Host-sign_in=[\w-]+; Path=\/; Max-Age=900; Expires=[^;]+ GMT; SameSite=Lax; HttpOnly; Secure$/,
    );
    const value = browser.jar.get('__Host-sign_in') ?? '';
    expect(Buffer.from(value, 'base64url').toString('latin1')).not.toContain('example.com');
    const problemOf = async (cookie: string) => {
      const other = site.browser();
      other.jar.set('__Host-sign_in', cookie);
      const { location } = (await other.submit('/account/code', { code: 'none' })).headers;
      return new URL(String(location), siteUrl).searchParams.get('problem');
    };
    expect(await problemOf(value)).not.toBe('expired');
    expect(await problemOf(`${value.slice(0, -4)}${value.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`)).toBe('expired');
    const another = site.browser();
    await another.post('/blaize/oauth/state', { target_url: '/' });
    expect(await problemOf(another.jar.get('__Host-social_start') ?? '')).toBe('expired');
    for (const name of ['blaize_session', 'access', 'gift']) another.jar.set(name, value);
    expect((await another.get('/blaize/account')).status).toBe(401);
    expect((await another.get('/article/story-2')).text).not.toContain('ENDING-2');
  });

  it('also remove the sign-in cookie when they end, so that the next reader sees no email address', async () => {
    for (const [path, body] of [
      ['/blaize/logout', { where: 'EVERYWHERE' }],
      ['/blaize/forget-me', {}],
    ] as const) {
      const { browser, email } = await reader();
      await browser.post('/blaize/token-exchange', { ...by(email), action: 'login' });
      expect(browser.jar.has('__Host-sign_in')).toBe(true);
      expect((await browser.post(path, body)).status).toBe(200);
      expect((await browser.get('/socialLogin')).text, path).not.toContain(email);
    }
  });

  it('are refused with 401 if the cookie is truncated, altered or invented', async () => {
    const { browser } = await reader();
    const session = sessionOf(browser);
    for (const value of [
      session.slice(0, -1),
      `${session}A`,
      session.toLowerCase(),
      '',
      'null',
      "' OR 1=1 --",
      'x'.repeat(4000),
    ]) {
      const other = site.browser();
      other.jar.set('blaize_session', value);
      expect((await other.get('/blaize/account')).status, value.slice(0, 50)).toBe(401);
    }
  });

  it('are not opened by a social sign-in that was started in another browser', async () => {
    const attacker = site.browser();
    const begun = await attacker.get('/blaize/oauth/google');
    const state = new URL(String(begun.headers.location)).searchParams.get('state');
    const victim = site.browser();
    const end = await victim.get(`/blaize/oauth/google/callback?code=stolen&state=${state}`);
    expect(end.text.includes('&quot;failure&quot;') || end.text.includes('&#34;failure&#34;')).toBe(true);
    expect(victim.jar.has('blaize_session')).toBe(false);
  });
});

describe('reader input in headers and pages', () => {
  it.each([
    'ada@example.com\r\nBcc: all@example.com',
    'ada@example.com\nSubject: x',
    'ada@example.com, eve@example.com',
    'ada@example.com%0d%0aBcc:x@example.com',
    '"Ada\r\n"@example.com',
    '<ada@example.com>',
    'ada@example.com\u0000',
    'ada@exam\u2028ple.com',
  ])('the email address %j is refused and gets no email', async (email) => {
    const browser = site.browser();
    const mailed = site.mail.length;
    for (const [path, body] of [
      ['/blaize/token-exchange', { ...by(email), action: 'register' }],
      ['/blaize/two-factor-authentication', { ...by(email), action: 'register' }],
      ['/api/zephr-create', { email }],
    ] as const)
      expect((await browser.post(path, body)).status, path).toBe(400);
    expect((await browser.submit('/account/sign-in', { email })).headers.location).toBe('/socialLogin?problem=email');
    expect(site.mail).toHaveLength(mailed);
  });

  it('an address or error with a script is printed as text', async () => {
    const browser = site.browser();
    const email = '"><script>alert(1)</script>@example.com';
    await browser.submit('/account/sign-in', { email });
    const page = await browser.get('/socialLogin?problem=email');
    expect(page.text.includes('<script>alert(1)')).toBe(false);
    expect(page.headers['content-security-policy']).not.toMatch(/script-src[^;]*unsafe-inline/);
    const end = await browser.get('/blaize/oauth/google/callback?error=%3Cscript%3Ealert(1)%3C/script%3E');
    expect(end.text.includes('<script>alert(1)')).toBe(false);
  });
});

describe('another reader’s account', () => {
  it('is not read or changed by its ID, email address or session in a body or query', async () => {
    const [ada, eve] = [await reader(), await reader()];
    await ada.browser.post('/blaize/profile', { first_name: 'Ada' });
    const theirs = (await ada.browser.get('/blaize/account')).json<{ tracking_id: string }>();
    const names = {
      ...by(ada.email),
      email_address: ada.email,
      tracking_id: theirs.tracking_id,
      userId: theirs.tracking_id,
    };
    expect((await eve.browser.post('/blaize/profile', names)).status).toBe(400);
    await eve.browser.post('/blaize/profile', {
      first_name: 'Eve',
      email_address: ada.email,
      tracking_id: theirs.tracking_id,
    });
    expect((await eve.browser.get('/blaize/account')).json()).toMatchObject(by(eve.email));
    expect((await ada.browser.get('/blaize/account')).json()).toMatchObject({
      ...theirs,
      profile: { first_name: 'Ada' },
    });

    const stranger = site.browser();
    stranger.jar.set('blaize_tracking_id', theirs.tracking_id);
    stranger.jar.set('visitor', 'founder');
    expect((await stranger.get(`/blaize/account?tracking_id=${theirs.tracking_id}`)).status).toBe(401);
    const decisions = await stranger.post('/zephr/feature-decisions', {
      featureIds: [],
      session: sessionOf(ada.browser),
    });
    expect(decisions.json()).toMatchObject({ accessDetails: { authenticated: false } });
    expect((await eve.browser.post('/blaize/logout', { where: 'EVERYWHERE', ...names })).status).toBe(200);
    expect((await ada.browser.get('/blaize/account')).status).toBe(200);
  });

  it('is not opened by a code or a link for another address, or by a code for another action', async () => {
    const ada = await reader();
    const ask = async (email: string) => {
      await site.browser().post('/blaize/two-factor-authentication', { ...by(email), action: 'register' });
      return site.code(email);
    };
    const [wanted, eve] = [someone(), someone()];
    const right = await ask(wanted);
    // By chance both may get the same code; then a further one is requested.
    let code = await ask(eve);
    while (code === right) code = await ask(eve);
    const register = (email: string) => site.browser().post('/blaize/register', { ...by(email), validators: { code } });
    expect((await register(wanted)).status).toBe(400);
    // A code for registering doesn't sign in.
    expect((await site.browser().post('/blaize/login', { ...by(eve), validators: { code } })).status).toBe(401);
    expect((await register(eve)).status).toBe(200);
    // A link opens the account of its own address, also where the sign-in of another one has begun.
    const browser = site.browser();
    await browser.submit('/account/sign-in', { email: ada.email });
    await site.browser().post('/blaize/token-exchange', { ...by(eve), action: 'login' });
    await browser.submit('/account/link', { token: site.token(eve), email: ada.email });
    expect((await browser.get('/blaize/account')).json()).toMatchObject(by(eve));
  });
});

describe('an email address with non-ASCII letters', () => {
  it('belongs to one reader, in any case and spelling', async () => {
    const browser = site.browser();
    await browser.submit('/account/sign-in', { email: 'Grace@m\u00fcnchen.example' });
    const mailed = 'grace@xn--mnchen-3ya.example';
    const token = site.token(mailed);
    expect((await browser.get(`/blaize/token-exchange?token=${token}`)).text).toContain('data-press="now"');
    await browser.submit('/account/link', { token });
    const account = await browser.get('/blaize/account');
    expect(account.json()).toMatchObject({ identifiers: { email_address: mailed } });
    const again = await site.browser().post('/zephr/media/user/info', by('GRACE@M\u00dcNCHEN.example'));
    expect(again.status).toBe(200);
  });
});

describe('the audience measurement script', () => {
  it('is on the sign-in page, but not on pages whose address holds a sign-in token', async () => {
    const watched = await startAccountSite({ settings: { MARFEEL_ACCOUNT: '1234' } });
    try {
      const browser = watched.browser();
      const email = someone();
      await browser.post('/blaize/token-exchange', { ...by(email), action: 'register' });
      const mark = 'id="third-parties"';
      expect((await browser.get('/socialLogin')).text).toContain(mark);
      for (const path of [
        `/blaize/token-exchange?token=${watched.token(email)}`,
        '/blaize/oauth/google/callback?code=a&state=b',
      ]) {
        const page = await browser.get(path);
        expect(page.headers['content-type'], path).toContain('text/html');
        expect(page.text, path).not.toContain(mark);
      }
    } finally {
      await watched.stop();
    }
  });
});
