import { createHash, createPublicKey, createVerify, type JsonWebKey } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Google, startGoogle } from './google.ts';

const siteUrl = 'https://sun.test';
const redirectUri = `${siteUrl}/blaize/oauth/google/callback`;
const verifier = 'a-verifier-of-at-least-forty-three-characters-0123';
const challenge = createHash('sha256').update(verifier).digest('base64url');

let google: Google;
let now = Date.now();
beforeAll(async () => {
  google = await startGoogle({ siteUrl, now: () => now });
});
beforeEach(() => {
  now = Date.now();
});
afterAll(() => google.stop());

const at = (path: string) => `${google.access.issuer}${path}`;

function authorize(changes: Record<string, string | null> = {}) {
  const query: Record<string, string | null> = {
    client_id: google.access.clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid email profile',
    state: 'state-1',
    nonce: 'nonce-1',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...changes,
  };
  const url = new URL(at('/o/oauth2/v2/auth'));
  for (const [name, value] of Object.entries(query)) if (value !== null) url.searchParams.set(name, value);
  return fetch(url);
}

/** Fills in the consent page. @returns the address to which the browser is sent */
async function decide(page: Response, form: Record<string, string>): Promise<URL> {
  const ticket = /name="ticket" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
  const answer = await fetch(at('/consent'), {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ ticket, ...form }),
  });
  return new URL(answer.headers.get('location') ?? 'about:blank');
}
const yes = { account: 'ada.whitlock@example.com', decision: 'allow', share_email: 'on', email_verified: 'on' };
const codeFor = async (form: Record<string, string> = yes, changes = {}) =>
  (await decide(await authorize(changes), form)).searchParams.get('code') ?? '';

function exchange(code: string, changes: Record<string, string | null> = {}, init: RequestInit = {}) {
  const form: Record<string, string | null> = {
    grant_type: 'authorization_code',
    code,
    client_id: google.access.clientId,
    client_secret: google.access.clientSecret,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    ...changes,
  };
  const body = new URLSearchParams(Object.entries(form).filter((pair): pair is [string, string] => pair[1] !== null));
  return fetch(at('/token'), { method: 'POST', body, ...init });
}

interface Tokens {
  readonly access_token: string;
  readonly id_token: string;
}
const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

describe('a Google sign-in', () => {
  it('returns a signed ID token and the user’s info', async () => {
    const discovery = (await (await fetch(at('/.well-known/openid-configuration'))).json()) as Record<string, string>;
    expect(discovery).toMatchObject({ issuer: google.access.issuer, token_endpoint: at('/token') });
    const back = await decide(await authorize(), yes);
    expect(`${back.origin}${back.pathname}`).toBe(redirectUri);
    expect(Object.fromEntries(back.searchParams)).toMatchObject({ state: 'state-1', scope: 'openid email profile' });
    const answer = await exchange(back.searchParams.get('code') ?? '');
    const tokens = (await answer.json()) as Tokens;
    expect(tokens).toMatchObject({ token_type: 'Bearer', expires_in: 3599, scope: 'openid email profile' });

    const [header = '', payload = '', signature = ''] = tokens.id_token.split('.');
    const { keys } = (await (await fetch(discovery.jwks_uri ?? '')).json()) as {
      keys: (JsonWebKey & { kid: string })[];
    };
    const { alg, kid } = JSON.parse(Buffer.from(header, 'base64url').toString());
    const key = createPublicKey({ key: keys.find((one) => one.kid === kid) ?? {}, format: 'jwk' });
    expect(alg).toBe('RS256');
    expect(createVerify('RSA-SHA256').update(`${header}.${payload}`).verify(key, signature, 'base64url')).toBe(true);
    const person = {
      sub: expect.stringMatching(/^\d+$/),
      email: yes.account,
      email_verified: true,
      hd: 'example.com',
      name: 'Ada Whitlock',
    };
    expect(claimsOf(tokens.id_token)).toMatchObject({
      iss: google.access.issuer,
      aud: google.access.clientId,
      nonce: 'nonce-1',
      ...person,
      exp: Math.floor(now / 1000) + 3600,
    });
    const info = await fetch(discovery.userinfo_endpoint ?? '', {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    expect(await info.json()).toMatchObject(person);
    expect((await fetch(discovery.userinfo_endpoint ?? '', { headers: { authorization: 'Bearer x' } })).status).toBe(
      401,
    );
  });

  it('accepts the client’s credentials in a header, and any email address', async () => {
    const code = await codeFor({ ...yes, account: 'other', email: 'Zed.New@Example.com' });
    const { clientId, clientSecret } = google.access;
    const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
    const answer = await exchange(code, { client_id: null, client_secret: null }, { headers: { authorization } });
    const { id_token } = (await answer.json()) as Tokens;
    expect(claimsOf(id_token)).toMatchObject({ email: 'zed.new@example.com', given_name: 'Zed' });
  });

  it('can return an unverified email address, or none', async () => {
    const claims = async (form: Record<string, string>) =>
      claimsOf(((await (await exchange(await codeFor(form))).json()) as Tokens).id_token);
    const { email_verified: _, ...unverified } = yes;
    expect(await claims(unverified)).toMatchObject({ email: yes.account, email_verified: false });
    const { share_email: __, ...silent } = yes;
    expect(Object.keys(await claims(silent))).not.toContain('email');
  });

  it('names the domain of an organization’s account only', async () => {
    for (const account of ['dora.fenn@example.net', 'ada@gmail.com']) {
      const answer = await exchange(await codeFor({ ...yes, account }));
      const claims = claimsOf(((await answer.json()) as Tokens).id_token);
      expect(claims).toMatchObject({ email: account, email_verified: true });
      expect(Object.keys(claims)).not.toContain('hd');
    }
  });

  it('returns access_denied when the user declines', async () => {
    const back = await decide(await authorize(), { ...yes, decision: 'deny' });
    expect(Object.fromEntries(back.searchParams)).toEqual({ state: 'state-1', error: 'access_denied' });
  });
});

describe('the Google stand-in, like Google, refuses', () => {
  it.each([
    ['an unknown client_id', { client_id: 'x' }, 401, 'invalid_client'],
    ['a redirect_uri on another site', { redirect_uri: 'https://evil.test/callback' }, 400, 'redirect_uri_mismatch'],
    ['a redirect_uri with a trailing slash', { redirect_uri: `${redirectUri}/` }, 400, 'redirect_uri_mismatch'],
    [
      'a redirect_uri with another path',
      { redirect_uri: `${siteUrl}/blaize/oauth/google/other` },
      400,
      'redirect_uri_mismatch',
    ],
    ['no redirect_uri', { redirect_uri: null }, 400, 'redirect_uri_mismatch'],
    ['an unsupported response_type', { response_type: 'token' }, 400, 'unsupported_response_type'],
    ['no scope', { scope: null }, 400, 'invalid_request'],
    ['an unknown scope', { scope: 'openid drive' }, 400, 'invalid_scope'],
    [
      'an unknown scope in the form of a URL',
      { scope: 'openid https://www.googleapis.com/auth/userinfo.shoes' },
      400,
      'invalid_scope',
    ],
    ['an unknown code_challenge_method', { code_challenge_method: 'S512' }, 400, 'invalid_request'],
  ])('an authorization request with %s', async (_, changes, status, code) => {
    const answer = await authorize(changes as Record<string, string | null>);
    expect(answer.status).toBe(status);
    expect(await answer.text()).toContain(code);
  });

  it.each([
    [
      'a wrong client_secret',
      { client_secret: 'x' },
      401,
      { error: 'invalid_client', error_description: 'Unauthorized' },
    ],
    [
      'an unknown client_id',
      { client_id: 'x' },
      401,
      { error: 'invalid_client', error_description: 'The OAuth client was not found.' },
    ],
    ['an unsupported grant_type', { grant_type: 'password' }, 400, { error: 'unsupported_grant_type' }],
    ['no code', { code: null }, 400, { error: 'invalid_request' }],
    [
      'a malformed code',
      { code: '4/0Awrong' },
      400,
      { error: 'invalid_grant', error_description: 'Malformed auth code.' },
    ],
    [
      'another redirect_uri',
      { redirect_uri: `${siteUrl}/other` },
      400,
      { error: 'redirect_uri_mismatch', error_description: 'Bad Request' },
    ],
    [
      'no code_verifier',
      { code_verifier: null },
      400,
      { error: 'invalid_grant', error_description: 'Missing code verifier.' },
    ],
    [
      'a wrong code_verifier',
      { code_verifier: 'wrong' },
      400,
      { error: 'invalid_grant', error_description: 'Invalid code verifier.' },
    ],
  ])('a token request with %s', async (_, changes, status, body) => {
    const answer = await exchange(await codeFor(), changes as Record<string, string | null>);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject(body);
  });

  it('a code that was used before or is ten minutes old', async () => {
    const used = await codeFor();
    expect((await exchange(used)).status).toBe(200);
    const late = await codeFor();
    now += 10 * 60_000;
    for (const code of [used, late]) {
      const answer = await exchange(code);
      expect([answer.status, await answer.json()]).toEqual([
        400,
        { error: 'invalid_grant', error_description: 'Bad Request' },
      ]);
    }
  });

  it('a consent form that is submitted twice', async () => {
    const page = await authorize();
    const copy = page.clone();
    await decide(page, yes);
    expect((await decide(copy, yes)).href).toBe('about:blank');
  });
});

describe('simulated Google failures', () => {
  it('the token endpoint fails or hangs when asked to', async () => {
    expect((await exchange(await codeFor({ ...yes, exchange: 'fails' }))).status).toBe(500);
    const hanging = exchange(await codeFor({ ...yes, exchange: 'hangs' }), {}, { signal: AbortSignal.timeout(50) });
    await expect(hanging).rejects.toThrow(/abort/i);
  });
});
