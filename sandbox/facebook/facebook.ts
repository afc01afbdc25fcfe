/**
 * Facebook Login on the wire (developers.facebook.com/docs/facebook-login/guides/advanced/manual-flow): the login dialog, and,
 * from the Graph API, the exchange of a code and `/me`. Errors have Facebook's format and codes.
 */
import { createHmac } from 'node:crypto';
import { consentPage, messagePage, readConsent } from '../oauth/consent.ts';
import { type AuthorizationRequest, type Grants, openGrants, type Redemption } from '../oauth/grants.ts';
import { type Answer, type Call, html, json, listenWeb, type Route, redirect } from '../web.ts';

export interface FacebookAccess {
  /** Base of the login dialog, in place of `https://www.facebook.com`. */
  readonly wwwUrl: string;
  /** Base of the Graph API, in place of `https://graph.facebook.com`. */
  readonly graphUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface Facebook {
  readonly access: FacebookAccess;
  stop(): Promise<void>;
}

export interface FacebookOptions {
  /** Origin of the site; other redirect addresses are refused as not registered. */
  readonly siteUrl: string;
  readonly now?: () => number;
}

const app = { id: '183320268809001', secret: 'facebook-sandbox-of-broadsheet' };
/** An app's access token has this form (developers.facebook.com/docs/facebook-login/guides/access-tokens). */
const appToken = `${app.id}|${app.secret}`;
const brand = { name: 'Facebook', color: '#1461cc', verifies: false };
/** Permissions that an app has without a review. */
const permissions = ['public_profile', 'email'];
/** Versions of the Graph API in service; each lasts about two years. */
const versions = ['v22.0', 'v23.0', 'v24.0', 'v25.0'];
const authTypes = ['rerequest', 'reauthenticate', 'reauthorize'];

interface State {
  readonly grants: Grants;
  /** The one address that is registered for the app, in strict mode. */
  readonly redirectUri: string;
  /** People who have declined to share their address; the dialog asks for it again only with `auth_type=rerequest`. */
  readonly declined: Set<string>;
  readonly siteUrl: string;
}

export async function startFacebook({ siteUrl, now = Date.now }: FacebookOptions): Promise<Facebook> {
  const state: State = {
    grants: openGrants({ code: 'AQ', token: 'EAA' }, now),
    redirectUri: `${new URL(siteUrl).origin}/blaize/oauth/facebook/callback`,
    declined: new Set(),
    siteUrl,
  };
  const version = `/(?:${versions.map((name) => name.replace('.', '\\.')).join('|')})`;
  const about = messagePage(
    brand,
    'No request',
    `This page opens when a reader continues with ${brand.name} on ${siteUrl}.`,
  );
  const routes: Route[] = [
    { method: 'GET', path: /^\/$/, handle: () => html(about) },
    { method: 'GET', path: new RegExp(`^${version}/dialog/oauth/?$`), handle: (call) => dialog(state, call) },
    { method: 'POST', path: /^\/consent$/, handle: (call) => consent(state, call) },
    { method: 'GET', path: new RegExp(`^${version}/oauth/access_token$`), handle: (call) => token(state, call) },
    { method: 'POST', path: new RegExp(`^${version}/oauth/access_token$`), handle: (call) => token(state, call) },
    { method: 'GET', path: new RegExp(`^${version}/me$`), handle: (call) => me(state, call) },
    { method: 'GET', path: new RegExp(`^${version}/${app.id}$`), handle: application },
    {
      method: 'GET',
      path: /^\/.*(?:access_token|me|dialog\/oauth)$/,
      handle: ({ url }) => graphError(2500, `Unknown path components: ${url.pathname}`),
    },
  ];
  const server = await listenWeb(routes, { port: 0, name: "the sandbox's Facebook" });
  return {
    access: { wwwUrl: server.url, graphUrl: server.url, clientId: app.id, clientSecret: app.secret },
    stop: server.close,
  };
}

function dialog(state: State, { url }: Call): Answer {
  const query = url.searchParams;
  const redirectUri = query.get('redirect_uri') ?? '';
  if (query.get('client_id') !== app.id) {
    return html(messagePage(brand, 'Invalid App ID', 'The provided app ID does not look like a valid app ID.'), 400);
  }
  if (redirectUri !== state.redirectUri) {
    const detail =
      'This redirect failed because the redirect URI is not whitelisted in the app’s Client OAuth Settings.';
    return html(messagePage(brand, 'URL Blocked', detail), 400);
  }
  const scopes = (query.get('scope') ?? '').split(/[\s,]+/).filter((scope) => scope !== '');
  const invalid = scopes.filter((scope) => !permissions.includes(scope));
  if (invalid.length > 0) {
    const detail = `Invalid Scopes: ${invalid.join(', ')}. This message is only shown to developers.`;
    return html(messagePage(brand, 'Invalid Scopes', detail), 400);
  }
  const authType = query.get('auth_type');
  if (authType !== null && !authTypes.includes(authType)) {
    return html(messagePage(brand, 'Invalid parameter', `The parameter auth_type is invalid: ${authType}`), 400);
  }
  const value = query.get('code_challenge');
  const request: AuthorizationRequest = {
    clientId: app.id,
    redirectUri,
    state: query.get('state'),
    scopes: [...new Set(['public_profile', ...scopes])],
    nonce: query.get('nonce'),
    rerequest: authType === 'rerequest',
    codeChallenge:
      value === null ? null : { value, method: query.get('code_challenge_method') === 'S256' ? 'S256' : 'plain' },
  };
  return html(consentPage(brand, state.grants.begin(request), request, null));
}

async function consent(state: State, { body }: Call): Promise<Answer> {
  const form = new URLSearchParams(await body());
  const ticket = form.get('ticket') ?? '';
  const request = state.grants.pending(ticket);
  const consented = request ? readConsent(brand, form) : 'This page has been used or is too old; log in again.';
  if (!request || typeof consented === 'string')
    return html(messagePage(brand, 'Something went wrong', String(consented)), 400);
  const returnUrl = new URL(request.redirectUri);
  const { id } = consented.choice.person;
  const shareEmail = consented.choice.shareEmail && (request.rerequest || !state.declined.has(id));
  if (consented.allow && shareEmail) state.declined.delete(id);
  else if (consented.allow) state.declined.add(id);
  const code = consented.allow ? state.grants.grant(ticket, { ...consented.choice, shareEmail }) : null;
  if (!code) state.grants.decline(ticket);
  const answer: Record<string, string> = code
    ? { code }
    : {
        error: 'access_denied',
        error_code: '200',
        error_description: 'Permissions error',
        error_reason: 'user_denied',
      };
  for (const [name, part] of Object.entries(answer)) returnUrl.searchParams.set(name, part);
  if (request.state !== null) returnUrl.searchParams.set('state', request.state);
  // Facebook adds this fragment to the address.
  returnUrl.hash = '_=_';
  return redirect(returnUrl.href);
}

async function token(state: State, { url, method, body }: Call): Promise<Answer | null> {
  const form =
    method === 'POST'
      ? new URLSearchParams([...url.searchParams, ...new URLSearchParams(await body())])
      : url.searchParams;
  const clientId = form.get('client_id');
  if (clientId !== app.id) {
    return graphError(101, 'Error validating application. Cannot get application info due to a system error.');
  }
  if (form.get('client_secret') !== app.secret) return graphError(1, 'Error validating client secret.');
  if (form.get('grant_type') === 'client_credentials') return json({ access_token: appToken, token_type: 'bearer' });
  if (!form.get('redirect_uri')) return graphError(191, 'Missing redirect_uri parameter.');
  const code = form.get('code') ?? '';
  const exchange = state.grants.peek(code)?.choice.exchange;
  if (exchange === 'hangs') return null;
  if (exchange === 'fails')
    return graphError(2, 'An unexpected error has occurred. Please retry your request later.', 500);
  const redeemed = state.grants.redeem(code, {
    clientId,
    redirectUri: form.get('redirect_uri'),
    verifier: form.get('code_verifier'),
  });
  if (redeemed.kind !== 'granted') return codeError(redeemed.kind);
  return json({ access_token: redeemed.accessToken, token_type: 'bearer', expires_in: 5_183_944 });
}

function me(state: State, { request, url }: Call): Answer {
  const accessToken =
    url.searchParams.get('access_token') ??
    /^(?:Bearer|OAuth) (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ??
    '';
  if (!accessToken) {
    return graphError(2500, 'An active access token must be used to query information about the current user.');
  }
  const grant = state.grants.grantOf(accessToken);
  if (!grant) return graphError(190, 'Invalid OAuth access token - Cannot parse access token');
  const proof = url.searchParams.get('appsecret_proof');
  if (proof !== null && proof !== createHmac('sha256', app.secret).update(accessToken).digest('hex')) {
    return graphError(100, 'Invalid appsecret_proof provided in the API argument', 400, 'GraphMethodException');
  }
  const { person, shareEmail } = grant.choice;
  const known: Record<string, unknown> = {
    id: person.id.slice(-17),
    name: person.name,
    first_name: person.givenName,
    last_name: person.familyName,
    // Without the permission or an address, the field is absent.
    ...(grant.request.scopes.includes('email') && shareEmail && { email: person.email }),
    picture: { data: { height: 50, is_silhouette: true, url: `${state.siteUrl}/favicon.svg`, width: 50 } },
  };
  const fields = (url.searchParams.get('fields') ?? 'id,name')
    .split(',')
    .map((field) => field.replace(/[.({].*/, '').trim());
  const unknown = fields.find((field) => !(field in known) && field !== 'email');
  if (unknown) return graphError(100, `(#100) Tried accessing nonexisting field (${unknown})`);
  return json(
    Object.fromEntries(['id', ...fields].filter((field) => field in known).map((field) => [field, known[field]])),
  );
}

/** The app's object, for the app's access token. */
function application({ request }: Call): Answer {
  const given = /^(?:Bearer|OAuth) (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (given !== appToken) return graphError(190, 'Invalid OAuth access token - Cannot parse access token');
  return json({ id: app.id, name: 'Broadsheet' });
}

const graphError = (code: number, message: string, status = 400, type = 'OAuthException', subcode?: number): Answer =>
  json(
    {
      error: { message, type, code, ...(subcode && { error_subcode: subcode }), fbtrace_id: 'AsandboxSandboxSandbox1' },
    },
    status,
    { 'www-authenticate': `OAuth "Facebook Platform" "invalid_request" "${message}"` },
  );

function codeError(kind: Exclude<Redemption['kind'], 'granted'>): Answer {
  const refuse = (message: string, subcode?: number) => graphError(100, message, 400, 'OAuthException', subcode);
  if (kind === 'used') return refuse('This authorization code has been used.', 36_009);
  if (kind === 'expired') return refuse('This authorization code has expired.', 36_007);
  if (kind === 'wrong-redirect') {
    return refuse(
      'Error validating verification code. Please make sure your redirect_uri is identical to the one you used in the OAuth dialog request',
      36_008,
    );
  }
  if (kind === 'no-verifier' || kind === 'wrong-verifier') return refuse('Invalid code_verifier parameter.');
  return refuse('Invalid verification code format.');
}
