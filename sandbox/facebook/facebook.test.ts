import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Facebook, startFacebook } from './facebook.ts';

const siteUrl = 'https://sun.test';
const redirectUri = `${siteUrl}/blaize/oauth/facebook/callback`;

let facebook: Facebook;
let now = Date.now();
beforeAll(async () => {
  facebook = await startFacebook({ siteUrl, now: () => now });
});
beforeEach(() => {
  now = Date.now();
});
afterAll(() => facebook.stop());

const withQuery = (address: string, query: Record<string, string | null>) => {
  const url = new URL(address);
  for (const [name, value] of Object.entries(query)) if (value !== null) url.searchParams.set(name, value);
  return url;
};

const dialog = (changes: Record<string, string | null> = {}) =>
  fetch(
    withQuery(`${facebook.access.wwwUrl}/v23.0/dialog/oauth`, {
      client_id: facebook.access.clientId,
      redirect_uri: redirectUri,
      state: 's',
      scope: 'email,public_profile',
      ...changes,
    }),
  );

async function decide(page: Response, form: Record<string, string>): Promise<URL> {
  const ticket = /name="ticket" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
  const answer = await fetch(`${facebook.access.wwwUrl}/consent`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ ticket, ...form }),
  });
  return new URL(answer.headers.get('location') ?? 'about:blank');
}
const yes = { account: 'benjamin.day@example.com', decision: 'allow', share_email: 'on' };
const codeFor = async (form: Record<string, string> = yes, changes = {}) =>
  (await decide(await dialog(changes), form)).searchParams.get('code') ?? '';

function exchange(code: string, changes: Record<string, string | null> = {}, init?: RequestInit) {
  const { graphUrl, clientId, clientSecret } = facebook.access;
  const query = { client_id: clientId, client_secret: clientSecret, redirect_uri: redirectUri, code, ...changes };
  return fetch(withQuery(`${graphUrl}/v23.0/oauth/access_token`, query), init);
}
const tokenFor = async (form: Record<string, string> = yes, changes = {}) =>
  ((await (await exchange(await codeFor(form, changes))).json()) as { access_token: string }).access_token;

const me = (query: Record<string, string | null>) => fetch(withQuery(`${facebook.access.graphUrl}/v23.0/me`, query));

describe('a Facebook login', () => {
  it('gives access to the fields that are requested from /me', async () => {
    const back = await decide(await dialog(), yes);
    expect([back.searchParams.get('state'), back.hash]).toEqual(['s', '#_=_']);
    const answer = await exchange(back.searchParams.get('code') ?? '');
    const token = (await answer.json()) as { access_token: string };
    expect(token).toMatchObject({ token_type: 'bearer', expires_in: 5_183_944 });
    expect(await (await me({ access_token: token.access_token })).json()).toEqual({
      id: expect.stringMatching(/^\d{17}$/),
      name: 'Benjamin Day',
    });
    const appsecret_proof = createHmac('sha256', facebook.access.clientSecret).update(token.access_token).digest('hex');
    const fields = 'id,email,first_name,picture.type(large)';
    expect(await (await me({ access_token: token.access_token, fields, appsecret_proof })).json()).toEqual({
      id: expect.any(String),
      email: 'benjamin.day@example.com',
      first_name: 'Benjamin',
      picture: { data: expect.any(Object) },
    });
    const bearer = await fetch(`${facebook.access.graphUrl}/v23.0/me`, {
      headers: { authorization: `Bearer ${token.access_token}` },
    });
    expect(bearer.status).toBe(200);
  });

  it('omits the email address when the user withholds it or the site didn’t ask for it', async () => {
    const { share_email: _, ...named } = yes;
    const silent = { ...named, account: 'silent@example.com' };
    for (const token of [await tokenFor(silent), await tokenFor(yes, { scope: 'public_profile' })]) {
      const person = await (await me({ access_token: token, fields: 'id,name,email' })).json();
      expect(Object.keys(person as object)).toEqual(['id', 'name']);
    }
  });

  it('offers a declined permission again only with auth_type=rerequest', async () => {
    const shy = { account: 'shy@example.com', decision: 'allow' };
    await tokenFor(shy);
    const email = async (changes: object) => {
      const token = await tokenFor({ ...shy, share_email: 'on' }, changes);
      return ((await (await me({ access_token: token, fields: 'email' })).json()) as { email?: string }).email;
    };
    expect(await email({})).toBeUndefined();
    expect(await email({ auth_type: 'rerequest' })).toBe('shy@example.com');
    expect(await email({})).toBe('shy@example.com');
  });

  it('returns access_denied when the user declines', async () => {
    const back = await decide(await dialog(), { ...yes, decision: 'deny' });
    expect(Object.fromEntries(back.searchParams)).toEqual({
      error: 'access_denied',
      error_code: '200',
      error_description: 'Permissions error',
      error_reason: 'user_denied',
      state: 's',
    });
  });
});

describe('the Facebook stand-in, like Facebook, refuses', () => {
  it('a dialog with a wrong app ID, redirect URI, scope or auth_type', async () => {
    expect(await (await dialog({ client_id: '1' })).text()).toContain('Invalid App ID');
    for (const redirect_uri of ['https://evil.test/', `${siteUrl}/`, `${redirectUri}/`, `${redirectUri}?a=1`])
      expect(await (await dialog({ redirect_uri })).text(), redirect_uri).toContain('URL Blocked');
    expect(await (await dialog({ scope: 'email,user_birthday' })).text()).toContain('Invalid Scopes: user_birthday');
    expect(await (await dialog({ auth_type: 'again' })).text()).toContain('Invalid parameter');
    const old = await fetch(`${facebook.access.graphUrl}/v9.0/me`);
    expect([old.status, await old.json()]).toMatchObject([400, { error: { code: 2500 } }]);
  });

  it.each([
    ['another client_id', { client_id: '1' }, { code: 101 }],
    ['a wrong client_secret', { client_secret: 'x' }, { code: 1, message: 'Error validating client secret.' }],
    ['no redirect_uri', { redirect_uri: null }, { code: 191, message: 'Missing redirect_uri parameter.' }],
    ['another redirect_uri', { redirect_uri: `${siteUrl}/other` }, { code: 100, error_subcode: 36_008 }],
    ['a malformed code', { code: 'AQwrong' }, { code: 100, message: 'Invalid verification code format.' }],
  ])('a code exchange with %s', async (_, changes, error) => {
    const answer = await exchange(await codeFor(), changes as Record<string, string | null>);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: { type: 'OAuthException', fbtrace_id: expect.any(String), ...error },
    });
  });

  it('a code that was used before or is ten minutes old', async () => {
    const used = await codeFor();
    await exchange(used);
    expect(await (await exchange(used)).json()).toMatchObject({ error: { code: 100, error_subcode: 36_009 } });
    const late = await codeFor();
    now += 10 * 60_000;
    expect(await (await exchange(late)).json()).toMatchObject({ error: { code: 100, error_subcode: 36_007 } });
  });

  it('a code exchange without the PKCE verifier', async () => {
    const code = await codeFor(yes, { code_challenge: 'x', code_challenge_method: 'S256' });
    expect(await (await exchange(code)).json()).toMatchObject({
      error: { message: 'Invalid code_verifier parameter.' },
    });
  });

  it('a /me call with a wrong token, field or app secret proof', async () => {
    const token = await tokenFor();
    const error = async (query: Record<string, string>) =>
      ((await (await me(query)).json()) as { error: object }).error;
    expect(await error({})).toMatchObject({ code: 2500 });
    expect(await error({ access_token: 'x' })).toMatchObject({ code: 190 });
    expect(await error({ access_token: token, fields: 'shoe_size' })).toMatchObject({ code: 100 });
    expect(await error({ access_token: token, appsecret_proof: 'x' })).toMatchObject({ type: 'GraphMethodException' });
  });
});

it('the Facebook stand-in fails or hangs on the code exchange when asked to', async () => {
  expect((await exchange(await codeFor({ ...yes, exchange: 'fails' }))).status).toBe(500);
  const hanging = exchange(await codeFor({ ...yes, exchange: 'hangs' }), {}, { signal: AbortSignal.timeout(50) });
  await expect(hanging).rejects.toThrow(/abort/i);
});
