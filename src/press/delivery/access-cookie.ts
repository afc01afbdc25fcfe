/**
 * The access cookie says which variant of an article a browser may get, and doesn't identify the reader. The service that knows the
 * reader signs it, and the HTTP server verifies it on every request for a page with an access level.
 *
 * Its form: `v1.<key id>.<expiry, Unix seconds>.<level>.<HMAC-SHA256 of all before the last dot, base64url>`.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createBoundedMap } from '../../lib/bounded-map.ts';
import type { RestrictedLevel } from '../../lib/content/model.ts';

/** A signing key. */
export interface AccessKey {
  /** Letters, digits, `_` and `-`, at most 16; never used again for another secret. */
  readonly id: string;
  /** At least 32 random characters. */
  readonly secret: string;
}

export interface AccessCookieOptions {
  /** Name of the cookie. */
  readonly name: string;
  /** The first signs, all verify: put a new key first, and remove the old one when its last cookie has expired. */
  readonly keys: readonly AccessKey[];
  /** Epoch milliseconds; for tests. */
  readonly now?: () => number;
}

export interface AccessCookie {
  readonly name: string;
  /** A cookie's value. @param expires Unix seconds */
  sign(level: RestrictedLevel, expires: number): string;
  /** The level of a cookie's value; `null` when it is forged, expired or malformed. */
  verify(value: string): RestrictedLevel | null;
  /** The level of a whole `Cookie` header. */
  levelFor(header: string | undefined): RestrictedLevel | null;
}

const form = /^v1\.([\w-]{1,16})\.([1-9]\d{0,11})\.(?:(registered|subscriber)\.)?[\w-]{43}$/;
/** Longer than any value of this form. */
const longest = 128;
/** A request may contain several cookies of one name; further ones are ignored. */
const mostAccessCookies = 4;
const mostPasses = 8;
/** Values whose signature was found valid. */
const mostVerified = 2000;

/** @throws Error with a sentence for the operator when a key is invalid */
export function createAccessCookie(options: AccessCookieOptions): AccessCookie {
  const { name, keys } = options;
  for (const key of keys) {
    if (!/^[\w-]{1,16}$/.test(key.id)) throw new Error(`"${key.id}" is not a key id: use 1 to 16 letters and digits.`);
    if (key.secret.length < 32) throw new Error(`The secret of key "${key.id}" is shorter than 32 characters.`);
  }
  if (new Set(keys.map((key) => key.id)).size < keys.length) throw new Error('Two keys have the same id.');
  if (!/^[\w-]+$/.test(name)) throw new Error(`"${name}" is not a cookie name.`);
  const signer = createSigner(options);
  const opening = `${name}=`;
  const verify = (value: string): RestrictedLevel | null => signer.verify(value, '')?.level ?? null;
  return {
    name,
    sign: (level, expires) => signer.sign(`${Math.floor(expires)}.${level}`, ''),
    verify,
    levelFor: (header) => (header === undefined ? null : firstValid(header, opening, mostAccessCookies, verify)),
  };
}

/**
 * A pass: a cookie that opens the full variant of one page. It is bound to the page's key, so that it opens no other, and doesn't
 * identify a reader. Its form is that of the access cookie without a level; the page's key is signed with it.
 */
export interface PassCookie {
  readonly name: string;
  /** A cookie's value. @param page key of the page (cache-key.ts); @param expires Unix seconds */
  sign(page: string, expires: number): string;
  /** Whether a whole `Cookie` header holds a pass for this page. */
  opens(header: string | undefined, page: string): boolean;
}

/** The prefix ensures that a pass is never valid as an access cookie, which is signed with the same keys. */
const passPrefix = (page: string): string => `pass\n${page}\n`;

/** @param options keys that `createAccessCookie` has checked */
export function createPassCookie(options: AccessCookieOptions): PassCookie {
  const signer = createSigner(options);
  const opening = `${options.name}=`;
  return {
    name: options.name,
    sign: (page, expires) => signer.sign(String(Math.floor(expires)), passPrefix(page)),
    opens(header, page) {
      // Most requests have no pass.
      if (!header?.includes(opening)) return false;
      return firstValid(header, opening, mostPasses, (value) => signer.verify(value, passPrefix(page))) !== null;
    },
  };
}

/** What a signed value says. */
interface Signed {
  readonly prefix: string;
  readonly level: RestrictedLevel | undefined;
  /** Epoch milliseconds. */
  readonly until: number;
}

/**
 * Signs and verifies values of the form `v1.<key id>.<text>.<HMAC>`. The prefix is signed together with the text, but isn't part of the
 * value: a value is valid for one prefix only.
 */
function createSigner({ keys, now = Date.now }: AccessCookieOptions) {
  const [first] = keys;
  if (!first) throw new Error('The access cookie needs at least one key.');
  const secrets = new Map(keys.map(({ id, secret }) => [id, secret]));
  const verified = createBoundedMap<Signed>(mostVerified);
  const hmac = (secret: string, text: string): string => createHmac('sha256', secret).update(text).digest('base64url');

  function signedIn(value: string, prefix: string): Signed | null {
    if (value.length > longest) return null;
    const [whole, id = '', expires, level] = form.exec(value) ?? [];
    const secret = secrets.get(id);
    if (whole === undefined || secret === undefined) return null;
    const dot = value.lastIndexOf('.');
    // Compared as text: 43 base64url characters hold two more bits than 32 bytes, so decoding would accept several spellings.
    const expected = Buffer.from(hmac(secret, prefix + value.slice(0, dot)));
    if (!timingSafeEqual(Buffer.from(value.slice(dot + 1)), expected)) return null;
    return { prefix, level: level as RestrictedLevel | undefined, until: Number(expires) * 1000 };
  }

  return {
    sign(claims: string, prefix: string): string {
      const text = `v1.${first.id}.${claims}`;
      return `${text}.${hmac(first.secret, prefix + text)}`;
    },
    /** What a value says; `null` when it is forged, expired or malformed, or was signed with another prefix. */
    verify(value: string, prefix: string): Signed | null {
      let known = verified.get(value);
      if (known?.prefix !== prefix) {
        const signed = signedIn(value, prefix);
        if (!signed) return null;
        known = signed;
        verified.set(value, known);
      }
      return known.until > now() ? known : null;
    },
  };
}

/**
 * The first of a cookie's values that `verify` accepts. It doesn't split the header, because it runs for every request for a page with
 * a paywall.
 */
function firstValid<T>(header: string, opening: string, most: number, verify: (value: string) => T | null): T | null {
  let at = header.indexOf(opening);
  for (let candidates = 0; at !== -1 && candidates < most; at = header.indexOf(opening, at + 1)) {
    if (at !== 0 && header[at - 1] !== ' ' && header[at - 1] !== ';') continue;
    const end = header.indexOf(';', at);
    const result = verify(header.slice(at + opening.length, end === -1 ? undefined : end).trimEnd());
    if (result !== null) return result;
    candidates++;
  }
  return null;
}
