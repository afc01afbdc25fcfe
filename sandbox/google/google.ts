/**
 * Google's OpenID Connect on the wire (developers.google.com/identity/openid-connect/openid-connect): discovery, the
 * authorization page, the token endpoint with PKCE, signed ID tokens, and userinfo. Bodies of errors are Google's.
 */
import { consentPage, messagePage, readConsent } from '../oauth/consent.ts';
import { type AuthorizationRequest, type Grants, openGrants, type Redemption } from '../oauth/grants.ts';
import { type Answer, type Call, html, json, listenWeb, type Route, redirect } from '../web.ts';
import { makeSigner } from './id-token.ts';

export interface GoogleAccess {
  /** Issuer; the discovery document is below it. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface Google {
  readonly access: GoogleAccess;
  stop(): Promise<void>;
}

export interface GoogleOptions {
  /** Origin of the site; other redirect addresses are refused as not registered. */
  readonly siteUrl: string;
  readonly now?: () => number;
}

const client = { id: 'broadsheet-sandbox.apps.googleusercontent.com', secret: 'GOCSPX-sandbox-of-broadsheet' };
const brand = { name: 'Google', color: '#1a66d6', verifies: true };
const scopes = ['openid', 'email', 'profile'];
/** The long names of the same scopes, which Google accepts as well. */
const longScopes = ['email', 'profile'].map((name) => `https://www.googleapis.com/auth/userinfo.${name}`);

interface State {
  readonly grants: Grants;
  readonly signer: ReturnType<typeof makeSigner>;
  /** Known once the server listens. */
  issuer: string;
  /** The one address that is registered for the client; Google compares it character by character. */
  readonly redirectUri: string;
  readonly now: () => number;
}

export async function startGoogle({ siteUrl, now = Date.now }: GoogleOptions): Promise<Google> {
  const signer = makeSigner();
  const state: State = {
    grants: openGrants({ code: '4/0A', token: 'ya29.a0' }, now),
    signer,
    issuer: '',
    redirectUri: `${new URL(siteUrl).origin}/blaize/oauth/google/callback`,
    now,
  };
  const about = messagePage(
    brand,
    'No request',
    `This page opens when a reader continues with ${brand.name} on ${siteUrl}.`,
  );
  const routes: Route[] = [
    { method: 'GET', path: /^\/$/, handle: () => html(about) },
    { method: 'GET', path: /^\/\.well-known\/openid-configuration$/, handle: () => json(discovery(state.issuer)) },
    { method: 'GET', path: /^\/o\/oauth2\/v2\/auth$/, handle: (call) => authorize(state, call) },
    { method: 'POST', path: /^\/consent$/, handle: (call) => consent(state, call) },
    { method: 'POST', path: /^\/token$/, handle: (call) => token(state, call) },
    { method: 'GET', path: /^\/oauth2\/v3\/certs$/, handle: async () => json({ keys: [await signer.publicKey()] }) },
    { method: 'GET', path: /^\/v1\/userinfo$/, handle: (call) => userinfo(state, call) },
    { method: 'POST', path: /^\/v1\/userinfo$/, handle: (call) => userinfo(state, call) },
  ];
  const server = await listenWeb(routes, { port: 0, name: "the sandbox's Google" });
  state.issuer = server.url;
  return { access: { issuer: server.url, clientId: client.id, clientSecret: client.secret }, stop: server.close };
}

const errorPage = (status: number, code: string, detail: string): Answer =>
  html(messagePage(brand, `Error ${status}: ${code}`, detail), status);

function authorize(state: State, { url }: Call): Answer {
  const query = url.searchParams;
  const redirectUri = query.get('redirect_uri') ?? '';
  if (query.get('client_id') !== client.id) return errorPage(401, 'invalid_client', 'The OAuth client was not found.');
  if (redirectUri !== state.redirectUri) {
    return errorPage(400, 'redirect_uri_mismatch', `The redirect URI ${redirectUri || '(none)'} is not registered.`);
  }
  if (query.get('response_type') !== 'code') {
    return errorPage(400, 'unsupported_response_type', `Invalid response_type: ${query.get('response_type')}`);
  }
  const requested = (query.get('scope') ?? '').split(/\s+/).filter((scope) => scope !== '');
  if (requested.length === 0) return errorPage(400, 'invalid_request', 'Missing required parameter: scope');
  const invalid = requested.filter((scope) => !scopes.includes(scope) && !longScopes.includes(scope));
  if (invalid.length > 0)
    return errorPage(400, 'invalid_scope', `Some requested scopes were invalid: ${invalid.join(' ')}`);
  const method = query.get('code_challenge_method') ?? 'plain';
  const value = query.get('code_challenge');
  if (value !== null && method !== 'S256' && method !== 'plain') {
    return errorPage(400, 'invalid_request', `Invalid code_challenge_method: ${method}`);
  }
  const request: AuthorizationRequest = {
    clientId: client.id,
    redirectUri,
    state: query.get('state'),
    scopes: requested,
    nonce: query.get('nonce'),
    rerequest: false,
    codeChallenge: value === null ? null : { value, method: method as 'S256' | 'plain' },
  };
  return html(consentPage(brand, state.grants.begin(request), request, query.get('login_hint')));
}

async function consent(state: State, { body }: Call): Promise<Answer> {
  const form = new URLSearchParams(await body());
  const ticket = form.get('ticket') ?? '';
  const request = state.grants.pending(ticket);
  if (!request) return errorPage(400, 'invalid_request', 'This page has been used or is too old; sign in again.');
  const consented = readConsent(brand, form);
  if (typeof consented === 'string') return errorPage(400, 'invalid_request', consented);
  const returnUrl = new URL(request.redirectUri);
  if (request.state !== null) returnUrl.searchParams.set('state', request.state);
  const code = consented.allow ? state.grants.grant(ticket, consented.choice) : null;
  if (code) {
    const answer = { code, scope: request.scopes.join(' '), authuser: '0', prompt: 'consent' };
    for (const [name, value] of Object.entries(answer)) returnUrl.searchParams.set(name, value);
  } else {
    state.grants.decline(ticket);
    returnUrl.searchParams.set('error', 'access_denied');
  }
  return redirect(returnUrl.href);
}

async function token(state: State, { request, body }: Call): Promise<Answer | null> {
  const form = new URLSearchParams(await body());
  const basic = /^Basic (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const [id, secret] = basic
    ? Buffer.from(basic, 'base64').toString('utf8').split(':').map(decodeURIComponent)
    : [form.get('client_id'), form.get('client_secret')];
  if (id !== client.id) return oauthError(401, 'invalid_client', 'The OAuth client was not found.');
  if (secret !== client.secret) return oauthError(401, 'invalid_client', 'Unauthorized');
  const type = form.get('grant_type');
  if (type !== 'authorization_code')
    return oauthError(400, 'unsupported_grant_type', `Invalid grant_type: ${type ?? ''}`);
  const code = form.get('code');
  if (!code) return oauthError(400, 'invalid_request', 'Missing required parameter: code');
  const exchange = state.grants.peek(code)?.choice.exchange;
  if (exchange === 'hangs') return null;
  if (exchange === 'fails') return oauthError(500, 'internal_failure', 'Backend Error');
  const redeemed = state.grants.redeem(code, {
    clientId: id,
    redirectUri: form.get('redirect_uri'),
    verifier: form.get('code_verifier'),
  });
  if (redeemed.kind !== 'granted') return codeError(redeemed.kind);
  const { grant, accessToken } = redeemed;
  return json({
    access_token: accessToken,
    expires_in: 3599,
    scope: grant.request.scopes.join(' '),
    token_type: 'Bearer',
    ...(grant.request.scopes.includes('openid') && {
      id_token: await state.signer.sign({
        issuer: state.issuer,
        audience: client.id,
        grant,
        accessToken,
        now: state.now(),
      }),
    }),
  });
}

function userinfo(state: State, { request, url }: Call): Answer {
  const bearer =
    /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? url.searchParams.get('access_token');
  const grant = state.grants.grantOf(bearer ?? '');
  if (grant) return json(state.signer.claims(grant));
  return json({ error: 'invalid_request', error_description: 'Invalid Credentials' }, 401, {
    'www-authenticate': 'Bearer realm="https://accounts.google.com/", error="invalid_token"',
  });
}

const oauthError = (status: number, error: string, description: string): Answer =>
  json({ error, error_description: description }, status);

function codeError(kind: Exclude<Redemption['kind'], 'granted'>): Answer {
  if (kind === 'wrong-redirect') return oauthError(400, 'redirect_uri_mismatch', 'Bad Request');
  if (kind === 'no-verifier') return oauthError(400, 'invalid_grant', 'Missing code verifier.');
  if (kind === 'wrong-verifier') return oauthError(400, 'invalid_grant', 'Invalid code verifier.');
  if (kind === 'unknown') return oauthError(400, 'invalid_grant', 'Malformed auth code.');
  return oauthError(400, 'invalid_grant', 'Bad Request');
}

const discovery = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/o/oauth2/v2/auth`,
  token_endpoint: `${issuer}/token`,
  userinfo_endpoint: `${issuer}/v1/userinfo`,
  jwks_uri: `${issuer}/oauth2/v3/certs`,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
  scopes_supported: scopes,
  token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
  claims_supported: [
    'aud',
    'email',
    'email_verified',
    'exp',
    'family_name',
    'given_name',
    'iat',
    'iss',
    'name',
    'picture',
    'sub',
  ],
  code_challenge_methods_supported: ['plain', 'S256'],
  grant_types_supported: ['authorization_code'],
});
