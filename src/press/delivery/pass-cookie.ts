/**
 * A pass: a cookie that opens the full variant of one page, whoever shows it. It is bound to the page's key, so that it opens no
 * other, and says nothing about who has it.
 *
 * Its form: `v1.<key id>.<expiry, Unix seconds>.<HMAC-SHA256 of the page's key and all before the last dot, base64url>`.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createBoundedMap } from '../cache/bounded-map.ts';
import type { AccessCookieOptions } from './access-cookie.ts';

export interface PassCookie {
  readonly name: string;
  /** A cookie's value. @param page key of the page (key.ts); @param expires Unix seconds */
  sign(page: string, expires: number): string;
  /** Whether a whole `Cookie` header holds a pass for this page. */
  opens(header: string | undefined, page: string): boolean;
}

const form = /^v1\.([\w-]{1,16})\.([1-9]\d{0,11})\.([\w-]{43})$/;
const longest = 128;
/** One request carries this many cookies of the name at most; the rest is not looked at. */
const mostCandidates = 8;

/** @param options keys that `createAccessCookie` has found fit */
export function createPassCookie({ name, keys, now = Date.now }: AccessCookieOptions): PassCookie {
  const secrets = new Map(keys.map(({ id, secret }) => [id, secret]));
  const [first] = keys;
  const opening = `${name}=`;
  const verified = createBoundedMap<{ readonly page: string; readonly until: number }>(2000);

  /** The word before keeps a pass from ever being an access cookie, which is signed with the same keys. */
  const hmac = (secret: string, page: string, text: string): string =>
    createHmac('sha256', secret).update(`pass\n${page}\n${text}`).digest('base64url');

  function verify(value: string, page: string): boolean {
    if (value.length > longest) return false;
    // A value is right for one page at most.
    let known = verified.get(value);
    if (known?.page !== page) {
      const parts = form.exec(value);
      const secret = secrets.get(parts?.[1] ?? '');
      if (!parts || secret === undefined) return false;
      const expected = Buffer.from(hmac(secret, page, value.slice(0, value.lastIndexOf('.'))));
      const given = Buffer.from(parts[3] ?? '');
      if (given.byteLength !== expected.byteLength || !timingSafeEqual(given, expected)) return false;
      known = { page, until: Number(parts[2]) * 1000 };
      verified.set(value, known);
    }
    return known.until > now();
  }

  return {
    name,
    sign(page, expires) {
      if (!first) throw new Error('A pass needs at least one key.');
      const text = `v1.${first.id}.${Math.floor(expires)}`;
      return `${text}.${hmac(first.secret, page, text)}`;
    },
    opens(header, page) {
      // Nearly nobody has one.
      if (header === undefined) return false;
      let at = header.indexOf(opening);
      for (let candidates = 0; at !== -1 && candidates < mostCandidates; at = header.indexOf(opening, at + 1)) {
        if (at !== 0 && header[at - 1] !== ' ' && header[at - 1] !== ';') continue;
        const end = header.indexOf(';', at);
        if (verify(header.slice(at + opening.length, end === -1 ? undefined : end).trimEnd(), page)) return true;
        candidates++;
      }
      return false;
    },
  };
}
