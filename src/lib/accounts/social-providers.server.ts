/**
 * Google (OpenID Connect with discovery and PKCE) and Facebook (manual login flow, Graph API) on the wire. better-auth builds the
 * requests; the answers are read here, each within a time limit and without following redirects.
 */
import { createHmac } from 'node:crypto';
import { authorizationCodeRequest, createAuthorizationURL } from 'better-auth/oauth2';
import { z } from 'zod';
import { normalEmail } from './model.ts';
import type { Provider } from './service.ts';

export interface GoogleSettings {
  /** Issuer; its discovery document is below it. */
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface FacebookSettings {
  /** Base of the login dialog. */
  readonly url: string;
  /** Base of the Graph API. */
  readonly graphUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** What ties a sign-in to its return; all of it comes from one random number. */
export interface Attempt {
  readonly state: string;
  /** The reader withheld the address the last time: it is asked for again. */
  readonly askAgain: boolean;
  readonly verifier: string;
  readonly nonce: string;
  readonly redirectUri: string;
}

/** Who somebody is, as the provider says it. */
export interface Person {
  readonly subject: string;
  /** In its normal form; `null` when none was told. */
  readonly email: string | null;
  readonly verified: boolean;
  readonly firstName: string | null;
  readonly lastName: string | null;
}

export interface SocialProvider {
  readonly id: Provider;
  readonly name: string;
  authorization(attempt: Attempt): Promise<URL>;
  /** @throws Error when the provider does not answer in time, or not as it should */
  person(code: string, attempt: Attempt): Promise<Person>;
}

/** Milliseconds for all requests of one sign-in. */
export const socialPatienceMs = 8000;

async function ask<T>(schema: z.ZodType<T>, url: string | URL, init: RequestInit): Promise<T> {
  const response = await fetch(url, { ...init, redirect: 'error' });
  const text = await response.text();
  const { origin, pathname } = new URL(url);
  // The body may hold what is secret; its status says enough.
  if (!response.ok) throw new Error(`${origin}${pathname} answered ${response.status}`);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Error(`${origin}${pathname} answered no JSON`);
  }
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new Error(
    `${origin}${pathname}: ${parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`)}`,
  );
}

const name = z.string().max(200).optional().catch(undefined);
const emailOf = (text: string | undefined): string | null => (text === undefined ? null : normalEmail(text));

const discovery = z.object({
  issuer: z.string(),
  authorization_endpoint: z.url(),
  token_endpoint: z.url(),
});
const googleTokens = z.object({ id_token: z.string() });
const googleClaims = z.object({
  iss: z.string(),
  aud: z.string(),
  exp: z.number(),
  nonce: z.string(),
  sub: z.string().min(1).max(255),
  email: z.string().optional(),
  email_verified: z.boolean().optional(),
  given_name: name,
  family_name: name,
});

/** @param now epoch milliseconds */
export function google(
  settings: GoogleSettings,
  now: () => number,
  patienceMs: number = socialPatienceMs,
): SocialProvider {
  let known: { readonly at: number; readonly document: z.infer<typeof discovery> } | null = null;
  const options = { clientId: settings.clientId, clientSecret: settings.clientSecret };

  async function discovered(signal: AbortSignal): Promise<z.infer<typeof discovery>> {
    if (known && now() - known.at < 60 * 60 * 1000) return known.document;
    const document = await ask(discovery, `${settings.url}/.well-known/openid-configuration`, { signal });
    if (document.issuer.replace(/\/$/, '') !== settings.url) throw new Error(`${settings.url} is not its own issuer`);
    known = { at: now(), document };
    return document;
  }

  return {
    id: 'google',
    name: 'Google',
    async authorization({ state, verifier, nonce, redirectUri }) {
      const { authorization_endpoint } = await discovered(AbortSignal.timeout(patienceMs));
      return createAuthorizationURL({
        id: 'google',
        options,
        authorizationEndpoint: authorization_endpoint,
        scopes: ['openid', 'email', 'profile'],
        state,
        codeVerifier: verifier,
        nonce,
        redirectURI: redirectUri,
        prompt: 'select_account',
      });
    },
    async person(code, { verifier, nonce, redirectUri }) {
      const signal = AbortSignal.timeout(patienceMs);
      const { issuer, token_endpoint } = await discovered(signal);
      const request = await authorizationCodeRequest({
        code,
        codeVerifier: verifier,
        redirectURI: redirectUri,
        options,
        tokenEndpoint: token_endpoint,
      });
      const { id_token } = await ask(googleTokens, token_endpoint, {
        method: 'POST',
        headers: request.headers as Record<string, string>,
        body: request.body,
        signal,
      });
      // It came over our own connection to the issuer, which vouches for it as its signature would (OpenID Connect Core,
      // section 3.1.3.7, rule 6).
      const claims = googleClaims.parse(JSON.parse(Buffer.from(id_token.split('.')[1] ?? '', 'base64url').toString()));
      const bare = (url: string): string => url.replace(/^https:\/\//, '').replace(/\/$/, '');
      if (bare(claims.iss) !== bare(issuer)) throw new Error('The ID token is from another issuer');
      if (claims.aud !== settings.clientId) throw new Error('The ID token is for another client');
      if (claims.exp * 1000 <= now()) throw new Error('The ID token has expired');
      if (claims.nonce !== nonce) throw new Error('The ID token is from another sign-in');
      return {
        subject: claims.sub,
        email: emailOf(claims.email),
        verified: claims.email_verified === true,
        firstName: claims.given_name ?? null,
        lastName: claims.family_name ?? null,
      };
    },
  };
}

const facebookToken = z.object({ access_token: z.string().min(1) });
const facebookPerson = z.object({
  id: z.string().min(1).max(255),
  email: z.string().optional(),
  first_name: name,
  last_name: name,
});
/** Version of Facebook's Graph API that is spoken. */
export const graphVersion = 'v24.0';

export function facebook(settings: FacebookSettings, patienceMs: number = socialPatienceMs): SocialProvider {
  const options = { clientId: settings.clientId, clientSecret: settings.clientSecret };
  return {
    id: 'facebook',
    name: 'Facebook',
    authorization: ({ state, askAgain, redirectUri }) =>
      createAuthorizationURL({
        id: 'facebook',
        options,
        authorizationEndpoint: `${settings.url}/${graphVersion}/dialog/oauth`,
        scopes: ['email', 'public_profile'],
        scopeJoiner: ',',
        state,
        redirectURI: redirectUri,
        // Without this the dialog never shows a permission again that was declined once.
        additionalParams: askAgain ? { auth_type: 'rerequest' } : undefined,
      }),
    async person(code, { redirectUri }) {
      const signal = AbortSignal.timeout(patienceMs);
      const tokenEndpoint = `${settings.graphUrl}/${graphVersion}/oauth/access_token`;
      const request = await authorizationCodeRequest({ code, redirectURI: redirectUri, options, tokenEndpoint });
      const { access_token } = await ask(facebookToken, tokenEndpoint, {
        method: 'POST',
        headers: request.headers as Record<string, string>,
        body: request.body,
        signal,
      });
      const me = new URL(`${settings.graphUrl}/${graphVersion}/me`);
      me.searchParams.set('fields', 'id,email,first_name,last_name');
      me.searchParams.set(
        'appsecret_proof',
        createHmac('sha256', settings.clientSecret).update(access_token).digest('hex'),
      );
      const person = await ask(facebookPerson, me, { headers: { authorization: `Bearer ${access_token}` }, signal });
      // Facebook does not say whether it has checked the address: it never counts as checked.
      return {
        subject: person.id,
        email: emailOf(person.email),
        verified: false,
        firstName: person.first_name ?? null,
        lastName: person.last_name ?? null,
      };
    },
  };
}
