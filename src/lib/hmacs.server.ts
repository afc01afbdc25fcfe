/** Everything of the accounts that depends on the secret: what is kept is an HMAC, so that a copy of the database opens nothing. */
import { createHmac, hkdfSync, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { blockOf, networkOf } from './http/network.ts';

export interface Hmacs {
  /** Of a token that a browser or a mail carries. */
  token(purpose: 'session' | 'link' | 'social', token: string): string;
  /** Of a code, for one e-mail address and one sending. */
  code(subject: string, proof: string, code: string): string;
  /** Of an e-mail address in its normal form. */
  subject(email: string): string;
  /** Of a network address: IPv4, or the /64 of IPv6. */
  place(address: string): string;
  /** Of the /48 that an IPv6 address is in; `null` for others. */
  block(address: string): string | null;
  /** Of anything else, named by its use. */
  sign(use: string, text: string): string;
  /** A secret of its own for a library. */
  derive(use: string): string;
}

/** @param secret at least 32 characters of chance */
export function createHmacs(secret: string): Hmacs {
  const keys = new Map<string, Buffer>();
  const key = (use: string): Buffer => {
    let made = keys.get(use);
    if (!made) {
      made = Buffer.from(hkdfSync('sha256', secret, 'broadsheet accounts', use, 32));
      keys.set(use, made);
    }
    return made;
  };
  const hmac = (use: string, text: string): string => createHmac('sha256', key(use)).update(text).digest('base64url');
  return {
    token: (purpose, token) => hmac(purpose, token),
    code: (subject, proof, code) => hmac('code', `${subject}\n${proof}\n${code}`),
    subject: (email) => hmac('subject', email),
    place: (address) => hmac('place', networkOf(address)),
    block: (address) => {
      const block = blockOf(address);
      return block === null ? null : hmac('place', block);
    },
    sign: hmac,
    derive: (use) => key(use).toString('base64url'),
  };
}

/** A token of 256 bits. */
export const newToken = (): string => randomBytes(32).toString('base64url');

/** Six digits (spec section 9). */
export const newCode = (): string => String(randomInt(1_000_000)).padStart(6, '0');

/** Compares in a time that does not depend on where they differ. */
export function same(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.byteLength === right.byteLength && timingSafeEqual(left, right);
}
