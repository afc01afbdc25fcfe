/** Signed ID tokens (RS256), and the claims in them. The key is created at its first use and lasts as long as the process. */
import { createHash, createSign, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import type { Grant } from '../oauth/grants.ts';

export interface Token {
  readonly issuer: string;
  readonly audience: string;
  readonly grant: Grant;
  readonly accessToken: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

export interface Signer {
  sign(token: Token): Promise<string>;
  /** A member of a JWKS. */
  publicKey(): Promise<Record<string, unknown>>;
  /** The claims that the person has agreed to share. */
  claims(grant: Grant): Record<string, string | boolean>;
}

const keyId = 'sandbox-1';
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Mailboxes without an organization: of Gmail, and of a mail service that isn't Google's. */
const personal = new Set(['gmail.com', 'googlemail.com', 'example.net']);

/** Google names the domain only for accounts of a Workspace organization; here, all other addresses are such accounts. */
function hostedDomain(email: string): { hd?: string } {
  const domain = email.slice(email.lastIndexOf('@') + 1);
  return personal.has(domain) ? {} : { hd: domain };
}

export function makeSigner(): Signer {
  let making: Promise<{ publicKey: KeyObject; privateKey: KeyObject }> | undefined;
  const keys = () => {
    making ??= promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
    return making;
  };

  const signer: Signer = {
    async sign({ issuer, audience, grant, accessToken, now }) {
      const { privateKey } = await keys();
      const issuedAt = Math.floor(now / 1000);
      const leftHalf = createHash('sha256').update(accessToken).digest().subarray(0, 16);
      const payload = {
        iss: issuer,
        azp: audience,
        aud: audience,
        ...signer.claims(grant),
        at_hash: leftHalf.toString('base64url'),
        ...(grant.request.nonce !== null && { nonce: grant.request.nonce }),
        iat: issuedAt,
        exp: issuedAt + 3600,
      };
      const signed = `${encode({ alg: 'RS256', kid: keyId, typ: 'JWT' })}.${encode(payload)}`;
      return `${signed}.${createSign('RSA-SHA256').update(signed).sign(privateKey, 'base64url')}`;
    },
    async publicKey() {
      const { publicKey } = await keys();
      return { ...publicKey.export({ format: 'jwk' }), kid: keyId, alg: 'RS256', use: 'sig' };
    },
    claims({ request, choice: { person, shareEmail, emailVerified } }) {
      const isRequested = (scope: string) =>
        request.scopes.includes(scope) || request.scopes.includes(`https://www.googleapis.com/auth/userinfo.${scope}`);
      return {
        sub: person.id,
        ...(isRequested('email') && shareEmail && { email: person.email, email_verified: emailVerified }),
        ...hostedDomain(person.email),
        ...(isRequested('profile') && {
          name: person.name,
          given_name: person.givenName,
          family_name: person.familyName,
        }),
      };
    },
  };
  return signer;
}
