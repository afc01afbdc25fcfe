/** Parses and serializes the cookies of the accounts. */
import type { z } from 'zod';
import type { Sealer } from '../crypto.server.ts';

export interface CookieOptions {
  /** Seconds. */
  readonly maxAge: number;
  readonly httpOnly: boolean;
  readonly secure: boolean;
  readonly path?: string;
  /** By default `Lax`. */
  readonly sameSite?: 'Lax' | 'Strict';
}

/** A whole `Set-Cookie` value. The value must not need escaping. */
export function setCookie(name: string, value: string, options: CookieOptions): string {
  const parts = [
    `${name}=${value}`,
    `Path=${options.path ?? '/'}`,
    `Max-Age=${options.maxAge}`,
    // Clients of the older protocol need this attribute (docs/services/zephr.md).
    `Expires=${new Date(options.maxAge > 0 ? Date.now() + options.maxAge * 1000 : 0).toUTCString()}`,
    `SameSite=${options.sameSite ?? 'Lax'}`,
  ];
  if (options.httpOnly) parts.push('HttpOnly');
  if (options.secure) parts.push('Secure');
  return parts.join('; ');
}

/**
 * Values of a cookie in a `Cookie` header, at most four: a browser may send several of one name, and any parent domain may have set
 * one.
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

// Encrypted, HttpOnly cookies that store the state of a form between two pages for a few minutes, so that no page's address
// contains a reader's email address.

/** The part of `Astro.locals` that these functions need. */
interface Locals {
  readonly config: { readonly siteUrl: string };
  readonly services: { readonly sealer: Sealer };
}

export interface SealedCookie<Value> {
  /** A whole `Set-Cookie` value. */
  set(value: Value): string;
  /** @param cookieHeader as the browser sent it */
  read(cookieHeader: string | null): Value | null;
  /** A whole `Set-Cookie` value that deletes it. */
  readonly clear: string;
}

/** Declares an encrypted cookie. @param seconds its lifetime */
export function sealedCookie<Schema extends z.ZodType>(name: string, schema: Schema, seconds: number) {
  return ({ config, services }: Locals): SealedCookie<z.output<Schema>> => {
    const secure = config.siteUrl.startsWith('https:');
    // The `__Host-` prefix prevents a sibling domain from setting the cookie.
    const full = secure ? `__Host-${name}` : name;
    const cookie = (value: string, maxAge: number) => setCookie(full, value, { maxAge, httpOnly: true, secure });
    return {
      set: (value) => cookie(services.sealer.seal(name, value, seconds), seconds),
      read(header) {
        const parsed = schema.safeParse(services.sealer.open(name, readCookies(header, full)[0]));
        return parsed.success ? parsed.data : null;
      },
      clear: cookie('', 0),
    };
  };
}
