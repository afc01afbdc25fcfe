/**
 * Sealed, HttpOnly cookies of a few minutes that hold the state of a form between two pages, so that no email address of a reader
 * stands in the address of a page.
 */
import type { z } from 'zod';
import type { Sealer } from '../sealed.server.ts';
import { readCookies } from './cookies.ts';

/** As much of `Astro.locals` as is needed here. */
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

/** Declares a sealed cookie. @param seconds how long it lasts */
export function sealedCookie<Schema extends z.ZodType>(name: string, schema: Schema, seconds: number) {
  return ({ config, services }: Locals): SealedCookie<z.output<Schema>> => {
    const secure = config.siteUrl.startsWith('https:');
    // The prefix keeps a sibling domain from planting one.
    const full = secure ? `__Host-${name}` : name;
    const cookie = (value: string, age: number) =>
      `${full}=${value}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
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
