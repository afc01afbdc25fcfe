/** Cookies of the accounts, to and from their text. */

export interface CookieOptions {
  /** Seconds. */
  readonly maxAge: number;
  readonly httpOnly: boolean;
  readonly secure: boolean;
  readonly path?: string;
}

/** A whole `Set-Cookie` value. The value must need no escaping. */
export function setCookie(name: string, value: string, options: CookieOptions): string {
  const parts = [
    `${name}=${value}`,
    `Path=${options.path ?? '/'}`,
    `Max-Age=${options.maxAge}`,
    // What clients of the older protocol look for (vendors.md 1.0).
    `Expires=${new Date(Date.now() + options.maxAge * 1000).toUTCString()}`,
    'SameSite=Lax',
  ];
  if (options.httpOnly) parts.push('HttpOnly');
  if (options.secure) parts.push('Secure');
  return parts.join('; ');
}

/**
 * Values of a cookie in a `Cookie` header, at most four: a browser may send several of one name, and any site above may have
 * planted one.
 */
export function readCookies(header: string | null | undefined, name: string): readonly string[] {
  if (!header) return [];
  const found: string[] = [];
  for (const part of header.split(';')) {
    const at = part.indexOf('=');
    if (at === -1 || part.slice(0, at).trim() !== name) continue;
    found.push(part.slice(at + 1).trim());
    if (found.length === 4) break;
  }
  return found;
}
