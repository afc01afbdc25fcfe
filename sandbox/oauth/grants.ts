/** The state of a provider: pending consents, authorization codes and access tokens. */
import { createHash, randomBytes } from 'node:crypto';
import type { Person } from './people.ts';

/** What the site requested when it redirected the browser. */
export interface AuthorizationRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly state: string | null;
  readonly scopes: readonly string[];
  readonly nonce: string | null;
  /** Facebook's `auth_type=rerequest`: asks again for permissions that were declined before. */
  readonly rerequest: boolean;
  /** PKCE (RFC 7636). */
  readonly codeChallenge: { readonly value: string; readonly method: 'S256' | 'plain' } | null;
}

/** What the person has chosen. */
export interface ConsentAnswer {
  readonly person: Person;
  readonly shareEmail: boolean;
  readonly emailVerified: boolean;
  /** How the token endpoint responds to the code. */
  readonly exchange: 'answers' | 'hangs' | 'fails';
}

export interface Grant {
  readonly request: AuthorizationRequest;
  readonly choice: ConsentAnswer;
}

export type Redemption =
  | { readonly kind: 'granted'; readonly grant: Grant; readonly accessToken: string }
  | { readonly kind: 'unknown' | 'used' | 'expired' | 'wrong-client' | 'wrong-redirect' }
  | { readonly kind: 'no-verifier' | 'wrong-verifier' };

export interface Grants {
  /** Stores a request until the person decides. @returns its ticket, which the consent page posts */
  begin(request: AuthorizationRequest): string;
  pending(ticket: string): AuthorizationRequest | undefined;
  /** @returns the code, valid once and for ten minutes */
  grant(ticket: string, choice: ConsentAnswer): string | undefined;
  decline(ticket: string): AuthorizationRequest | undefined;
  /** The grant of a code, without redeeming the code. */
  peek(code: string): Grant | undefined;
  redeem(code: string, by: { clientId: string; redirectUri: string | null; verifier: string | null }): Redemption;
  /** The grant that an access token belongs to; a token is valid for an hour. */
  grantOf(accessToken: string): Grant | undefined;
}

const codeLifetime = 10 * 60_000;
const tokenLifetime = 60 * 60_000;

/**
 * @param prefix of codes and tokens, like the provider's
 * @param now epoch milliseconds
 */
export function openGrants(prefix: { code: string; token: string }, now: () => number = Date.now): Grants {
  const tickets = new Map<string, AuthorizationRequest>();
  const codes = new Map<string, Grant & { readonly expires: number; used: boolean }>();
  const tokens = new Map<string, Grant & { readonly expires: number }>();
  const random = (bytes: number) => randomBytes(bytes).toString('base64url');

  function takeTicket(ticket: string): AuthorizationRequest | undefined {
    const request = tickets.get(ticket);
    tickets.delete(ticket);
    return request;
  }

  return {
    begin(request) {
      const ticket = random(18);
      tickets.set(ticket, request);
      return ticket;
    },
    pending: (ticket) => tickets.get(ticket),
    decline: takeTicket,
    grant(ticket, choice) {
      const request = takeTicket(ticket);
      if (!request) return undefined;
      const code = `${prefix.code}${random(36)}`;
      codes.set(code, { request, choice, expires: now() + codeLifetime, used: false });
      return code;
    },
    peek: (code) => codes.get(code),
    redeem(code, { clientId, redirectUri, verifier }) {
      const stored = codes.get(code);
      if (!stored) return { kind: 'unknown' };
      const { request } = stored;
      if (request.clientId !== clientId) return { kind: 'wrong-client' };
      if (stored.used) return { kind: 'used' };
      if (stored.expires <= now()) return { kind: 'expired' };
      if (request.redirectUri !== redirectUri) return { kind: 'wrong-redirect' };
      if (request.codeChallenge && !verifier) return { kind: 'no-verifier' };
      if (request.codeChallenge && verifier) {
        const { value, method } = request.codeChallenge;
        const computed = method === 'S256' ? createHash('sha256').update(verifier).digest('base64url') : verifier;
        if (computed !== value) return { kind: 'wrong-verifier' };
      }
      stored.used = true;
      const accessToken = `${prefix.token}${random(48)}`;
      tokens.set(accessToken, { request, choice: stored.choice, expires: now() + tokenLifetime });
      return { kind: 'granted', grant: stored, accessToken };
    },
    grantOf(accessToken) {
      const stored = tokens.get(accessToken);
      return stored && stored.expires > now() ? stored : undefined;
    },
  };
}
