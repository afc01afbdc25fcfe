/** Cryptography of the accounts: HMACs, random tokens and codes, and encrypted values that a browser stores. */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  randomInt,
  timingSafeEqual,
} from 'node:crypto';
import { blockOf, networkOf } from './http/network.ts';

/** HMACs under the accounts' secret. The database contains only these, so that a copy of it gives no access. */
export interface Hmacs {
  /** HMAC of a token in a cookie or a mail. */
  token(purpose: 'session' | 'link' | 'social', token: string): string;
  /** Of a code, for one email address and one mail. */
  code(subject: string, proof: string, code: string): string;
  /** HMAC of a normalized email address. */
  subject(email: string): string;
  /** Of a network address: IPv4, or the /64 of IPv6. */
  place(address: string): string;
  /** HMAC of the /48 of an IPv6 address; `null` for others. */
  block(address: string): string | null;
  /** Of anything else, named by its use. */
  sign(use: string, text: string): string;
}

/** @param secret at least 32 random characters */
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
    token: hmac,
    code: (subject, proof, code) => hmac('code', `${subject}\n${proof}\n${code}`),
    subject: (email) => hmac('subject', email),
    place: (address) => hmac('place', networkOf(address)),
    block: (address) => {
      const block = blockOf(address);
      return block === null ? null : hmac('place', block);
    },
    sign: hmac,
  };
}

/** A token of 256 bits. */
export const newToken = (): string => randomBytes(32).toString('base64url');

/** Whether a text has the form of a token, or of another 256 bits. */
export const isToken = (text: string): boolean => /^[\w-]{43}$/.test(text);

/** Six digits (spec section 9). */
export const newCode = (): string => String(randomInt(1_000_000)).padStart(6, '0');

/** Compares in a time that does not depend on where they differ. */
export function equalInConstantTime(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.byteLength === right.byteLength && timingSafeEqual(left, right);
}

/**
 * Encrypts values for a cookie or the database: AES-256-GCM under keys derived from the site's own. A value can be decrypted only for
 * its purpose and within its lifetime.
 */
export interface Sealer {
  /** @param purpose a fixed word; @param seconds how long it can be opened */
  seal(purpose: string, value: unknown, seconds: number): string;
  /** The value; `null` if it is forged, for another purpose, too old or missing. */
  open(purpose: string, text: string | undefined): unknown;
}

export interface SealerOptions {
  /** The first secret encrypts; all of them decrypt. */
  readonly secrets: readonly string[];
  /** Longest text that is decrypted, in characters (default 4096, longer than any cookie). */
  readonly longest?: number;
  /** Epoch milliseconds; for tests. */
  readonly now?: () => number;
}

const ivBytes = 12;
const tagBytes = 16;
export function createSealer({ secrets, longest = 4096, now = Date.now }: SealerOptions): Sealer {
  const keys = secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', 'broadsheet sealed cookies', 32)));
  const [first] = keys;
  if (!first) throw new Error('Sealing needs at least one secret.');

  return {
    seal(purpose, value, seconds) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', first, iv).setAAD(Buffer.from(purpose));
      const text = JSON.stringify([Math.floor(now() / 1000) + seconds, value]);
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, body, cipher.getAuthTag()]).toString('base64url');
    },
    open(purpose, text) {
      if (!text || text.length > longest || !/^[\w-]+$/.test(text)) return null;
      const bytes = Buffer.from(text, 'base64url');
      // Alternative encodings of the same bytes are rejected.
      if (bytes.byteLength <= ivBytes + tagBytes || bytes.toString('base64url') !== text) return null;
      for (const key of keys) {
        try {
          const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
            .setAAD(Buffer.from(purpose))
            .setAuthTag(bytes.subarray(-tagBytes));
          const body = Buffer.concat([decipher.update(bytes.subarray(ivBytes, -tagBytes)), decipher.final()]);
          const [until, value] = JSON.parse(body.toString('utf8')) as [number, unknown];
          return until * 1000 > now() ? value : null;
        } catch {
          // Encrypted with another key, or forged.
        }
      }
      return null;
    },
  };
}
