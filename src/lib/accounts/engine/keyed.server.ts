/** Everything of the accounts that depends on the secret: what is kept is an HMAC, so that a copy of the database opens nothing. */
import { createHmac, hkdfSync, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';

export interface Keyed {
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
export function createKeyed(secret: string): Keyed {
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

/** The part of an address that belongs to one household: whoever has an IPv6 address has a /64 of them. */
export function networkOf(address: string): string {
  const plain = address.replace(/%.*$/, '');
  if (isIPv4(plain)) return plain;
  if (!isIPv6(plain)) return 'unknown';
  // The URL parser brings IPv6 into its one normal form, with hexadecimal ends.
  const [head = '', tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  while (tail !== undefined && groups.length + after.length < 8) groups.push('0');
  const whole = [...groups, ...after];
  // IPv4 in IPv6 (RFC 4291, section 2.5.5.2): one /64 holds all of them.
  if (whole.slice(0, 6).join(':') === '0:0:0:0:0:ffff') {
    const bytes = whole
      .slice(6)
      .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]);
    return bytes.join('.');
  }
  return `${whole.slice(0, 4).join(':')}::/64`;
}

/** What one connection may have at most: an IPv6 /48, which is 65,536 networks. `null` for what is no IPv6 address. */
export function blockOf(address: string): string | null {
  const network = networkOf(address);
  return network.endsWith('::/64') ? `${network.split(':').slice(0, 3).join(':')}::/48` : null;
}
