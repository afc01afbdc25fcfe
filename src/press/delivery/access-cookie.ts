/**
 * The access cookie: says which variant of an article a browser may have, and nothing about who is reading. Signed by
 * whoever knows the reader, checked here on every request for a page with an access level.
 *
 * Its form: `v1.<key id>.<expiry, Unix seconds>.<level>.<HMAC-SHA256 of all before the last dot, base64url>`.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createBoundedMap } from '../cache/bounded-map.ts';
import type { AccessLevel } from '../store/stored-page.ts';

/** A signing key. */
export interface AccessKey {
  /** Letters, digits, `_` and `-`, at most 16; never used again for another secret. */
  readonly id: string;
  /** At least 32 characters of chance. */
  readonly secret: string;
}

export interface AccessCookieOptions {
  /** Name of the cookie. */
  readonly name: string;
  /** The first signs, all verify: put a new key first, and take the old one away when its last cookie has expired. */
  readonly keys: readonly AccessKey[];
  /** Epoch milliseconds; for tests. */
  readonly now?: () => number;
}

export interface AccessCookie {
  readonly name: string;
  /** A cookie's value. @param expires Unix seconds */
  sign(level: AccessLevel, expires: number): string;
  /** The level of a cookie's value; `null` when it is forged, expired or none at all. */
  verify(value: string): AccessLevel | null;
  /** The level of a whole `Cookie` header. */
  levelFor(header: string | undefined): AccessLevel | null;
}

const form = /^v1\.([\w-]{1,16})\.([1-9]\d{0,11})\.(registered|subscriber)\.([\w-]{43})$/;
/** Longer than any value of this form. */
const longest = 128;
/** One request carries this many cookies of the name at most; the rest is not looked at. */
const mostCandidates = 4;

/** @throws Error with a sentence for the operator when a key is unfit */
export function createAccessCookie(options: AccessCookieOptions): AccessCookie {
  const { name, keys, now = Date.now } = options;
  const [first] = keys;
  if (!first) throw new Error('The access cookie needs at least one key.');
  for (const key of keys) {
    if (!/^[\w-]{1,16}$/.test(key.id))
      throw new Error(`"${key.id}" is no id of a key: give 1 to 16 letters and digits.`);
    if (key.secret.length < 32) throw new Error(`The secret of key "${key.id}" is shorter than 32 characters.`);
  }
  if (new Set(keys.map((key) => key.id)).size < keys.length) throw new Error('Two keys have the same id.');
  if (!/^[\w-]+$/.test(name)) throw new Error(`"${name}" is no name of a cookie.`);
  const secrets = new Map(keys.map((key) => [key.id, key.secret]));
  const verified = createBoundedMap<{ readonly level: AccessLevel; readonly until: number }>(2000);
  const opening = `${name}=`;

  const hmac = (secret: string, text: string): Buffer => createHmac('sha256', secret).update(text).digest();

  function verify(value: string): AccessLevel | null {
    if (value.length > longest) return null;
    let known = verified.get(value);
    if (!known) {
      const parts = form.exec(value);
      const secret = secrets.get(parts?.[1] ?? '');
      if (!parts || secret === undefined) return null;
      const given = Buffer.from(parts[4] ?? '', 'base64url');
      const expected = hmac(secret, value.slice(0, value.lastIndexOf('.')));
      // 43 characters hold two bits more than 32 bytes: only the one spelling counts.
      if (given.toString('base64url') !== parts[4]) return null;
      if (given.byteLength !== expected.byteLength || !timingSafeEqual(given, expected)) return null;
      known = { level: parts[3] as AccessLevel, until: Number(parts[2]) * 1000 };
      verified.set(value, known);
    }
    return known.until > now() ? known.level : null;
  }

  function levelFor(header: string | undefined): AccessLevel | null {
    if (header === undefined) return null;
    let candidates = 0;
    let at = header.indexOf(opening);
    while (at !== -1 && candidates < mostCandidates) {
      if (at === 0 || header[at - 1] === ' ' || header[at - 1] === ';') {
        const end = header.indexOf(';', at);
        const level = verify(header.slice(at + opening.length, end === -1 ? undefined : end).trimEnd());
        if (level) return level;
        candidates++;
      }
      at = header.indexOf(opening, at + 1);
    }
    return null;
  }

  return {
    name,
    sign(level, expires) {
      const text = `v1.${first.id}.${Math.floor(expires)}.${level}`;
      return `${text}.${hmac(first.secret, text).toString('base64url')}`;
    },
    verify,
    levelFor,
  };
}
