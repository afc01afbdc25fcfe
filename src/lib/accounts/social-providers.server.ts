/** Google (OpenID Connect with discovery and PKCE) and Facebook (manual login flow, Graph API), spoken to through openid-client. */
import { createHmac } from 'node:crypto';
import * as oidc from 'openid-client';
import { z } from 'zod';
import { normalEmail } from './model.ts';
import type { SocialProof } from './proofs.server.ts';
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

/** Values that tie a sign-in to the browser's return; all are derived from one random number. */
export interface Attempt {
  readonly state: string;
  /** The reader withheld the address the last time: the provider asks for it again. */
  readonly askAgain: boolean;
  readonly verifier: string;
  readonly nonce: string;
  readonly redirectUri: string;
}

/** The user as the provider describes them; the address is normalized, and `null` if the provider gave none. */
export type Person = Omit<SocialProof, 'provider' | 'email'> & { readonly email: string | null };

export interface SocialProvider {
  readonly id: Provider;
  readonly name: string;
  authorization(attempt: Attempt): Promise<URL>;
  /**
   * @param answer query that the provider sent the browser back with
   * @throws Error if the provider doesn't answer in time or answers incorrectly
   */
  person(answer: URLSearchParams, attempt: Attempt): Promise<Person>;
}

/** Milliseconds for one request to a provider. */
const defaultTimeoutMs = 8000;

const name = z.string().max(200).nullish().catch(null);
const subject = z.string().min(1).max(255);
const email = z
  .string()
  .nullish()
  .transform((text) => (text ? normalEmail(text) : null));
const googleClaims = z.object({
  sub: subject,
  email,
  email_verified: z.boolean().optional(),
  /** Domain of the person's organization, if Google hosts its accounts. */
  hd: z.string().nullish(),
  given_name: name,
  family_name: name,
});
const facebookPerson = z.object({ id: subject, email, first_name: name, last_name: name });

/**
 * Whether Google answers for the address: it hosts the mailbox. `email_verified` alone says only that the person owned the address when
 * they created the Google account; it may have another owner since (developers.google.com/identity/gsi/web/guides/verify-google-id-token).
 */
const isHostedByGoogle = ({ email, hd }: z.output<typeof googleClaims>): boolean =>
  Boolean(hd) || (email !== null && /@(?:gmail|googlemail)\.com$/.test(email));

/**
 * The URL to which the browser returned, for the library to check; a proxy in front of the site may have changed the origin.
 */
const callbackUrl = (answer: URLSearchParams, { redirectUri }: Attempt): URL => new URL(`${redirectUri}?${answer}`);

/** Plain HTTP is allowed if the settings say so. */
const requestRules = (url: string) => (url.startsWith('http:') ? [oidc.allowInsecureRequests] : []);

/** @param now epoch milliseconds */
export function google(settings: GoogleSettings, now: () => number, timeoutMs = defaultTimeoutMs): SocialProvider {
  const { url, clientId, clientSecret } = settings;
  let known: { readonly at: number; readonly config: oidc.Configuration } | null = null;

  async function discovered(): Promise<oidc.Configuration> {
    if (!known || now() - known.at > 60 * 60 * 1000) {
      const clock = { [oidc.clockSkew]: Math.round((now() - Date.now()) / 1000) };
      const config = await oidc.discovery(new URL(url), clientId, clock, oidc.ClientSecretPost(clientSecret), {
        execute: requestRules(url),
        timeout: timeoutMs / 1000,
      });
      known = { at: now(), config };
    }
    return known.config;
  }

  return {
    id: 'google',
    name: 'Google',
    async authorization({ state, verifier, nonce, redirectUri }) {
      return oidc.buildAuthorizationUrl(await discovered(), {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        state,
        nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        prompt: 'select_account',
      });
    },
    async person(answer, attempt) {
      const tokens = await oidc.authorizationCodeGrant(await discovered(), callbackUrl(answer, attempt), {
        expectedState: attempt.state,
        expectedNonce: attempt.nonce,
        pkceCodeVerifier: attempt.verifier,
        idTokenExpected: true,
      });
      const claims = googleClaims.parse(tokens.claims());
      return {
        subject: claims.sub,
        email: claims.email,
        verified: claims.email_verified === true && isHostedByGoogle(claims),
        firstName: claims.given_name ?? null,
        lastName: claims.family_name ?? null,
      };
    },
  };
}

/** Version of Facebook's Graph API in use. */
export const graphVersion = 'v24.0';

export function facebook(settings: FacebookSettings, timeoutMs = defaultTimeoutMs): SocialProvider {
  const { url, graphUrl, clientId, clientSecret } = settings;
  const graph = `${graphUrl}/${graphVersion}`;
  const config = new oidc.Configuration(
    {
      issuer: url,
      authorization_endpoint: `${url}/${graphVersion}/dialog/oauth`,
      token_endpoint: `${graph}/oauth/access_token`,
    },
    clientId,
    undefined,
    oidc.ClientSecretPost(clientSecret),
  );
  config.timeout = timeoutMs / 1000;
  for (const rule of requestRules(graphUrl)) rule(config);

  return {
    id: 'facebook',
    name: 'Facebook',
    async authorization({ state, askAgain, redirectUri }) {
      const parameters = { redirect_uri: redirectUri, scope: 'email,public_profile', state };
      // Without `rerequest` the dialog never shows a permission again that was declined once.
      return oidc.buildAuthorizationUrl(config, askAgain ? { ...parameters, auth_type: 'rerequest' } : parameters);
    },
    async person(answer, attempt) {
      const tokens = await oidc.authorizationCodeGrant(config, callbackUrl(answer, attempt), {
        expectedState: attempt.state,
      });
      const me = new URL(`${graph}/me`);
      me.searchParams.set('fields', 'id,email,first_name,last_name');
      me.searchParams.set(
        'appsecret_proof',
        createHmac('sha256', clientSecret).update(tokens.access_token).digest('hex'),
      );
      const response = await oidc.fetchProtectedResource(config, tokens.access_token, me, 'GET');
      if (!response.ok) throw new Error(`${graph}/me answered ${response.status}`);
      const person = facebookPerson.parse(await response.json());
      // Facebook doesn't say whether it has verified the address, so the address never counts as verified.
      return {
        subject: person.id,
        email: person.email,
        verified: false,
        firstName: person.first_name ?? null,
        lastName: person.last_name ?? null,
      };
    },
  };
}
