/**
 * What a half-done sign-in keeps in the browser: sealed, HttpOnly cookies of a few minutes, so that no address of a reader stands
 * in an address of a page.
 */
import { z } from 'zod';
import type { Sealer } from '../sealed.server.ts';

/** As much of `Astro.locals` as is needed here. */
interface Place {
  readonly config: { readonly siteUrl: string };
  readonly services: { readonly sealer: Sealer };
}

/** One sealed cookie. */
export interface StateCookie<Value> {
  /** A whole `Set-Cookie` value. */
  set(value: Value): string;
  /** @param cookieHeader as the browser sent it */
  read(cookieHeader: string | null): Value | null;
  readonly clear: string;
}

function stateCookie<Schema extends z.ZodType>(name: string, schema: Schema, seconds: number) {
  return ({ config, services }: Place): StateCookie<z.output<Schema>> => {
    const secure = config.siteUrl.startsWith('https:');
    // The prefix keeps a sibling domain from planting one.
    const full = secure ? `__Host-${name}` : name;
    const cookie = (value: string, age: number) =>
      `${full}=${value}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
    return {
      set: (value) => cookie(services.sealer.seal(name, value, seconds), seconds),
      read(header) {
        const found = (header ?? '').split(/;\s*/).find((part) => part.startsWith(`${full}=`));
        const parsed = schema.safeParse(services.sealer.open(name, found?.slice(full.length + 1)));
        return parsed.success ? parsed.data : null;
      },
      clear: cookie('', 0),
    };
  };
}

const signInState = z.object({
  email: z.string(),
  /** Whether there is an account to sign in to, or one to be made. */
  purpose: z.enum(['login', 'register']),
  /** Path to come back to. */
  returnTo: z.string(),
  /** A sentence about what went wrong, where `?problem=` alone does not say it. */
  problem: z.string().optional(),
});
export type SignInState = z.infer<typeof signInState>;

/** Who is signing in by a form, and where they came from. */
export const signIn = stateCookie('sign_in', signInState, 15 * 60);

/** Where a social sign-in is to end. */
export const socialStart = stateCookie('social_start', z.string(), 10 * 60);

/** The number of an article that somebody wanted to save who has to sign in first. */
export const saveLater = stateCookie('save_later', z.int().positive(), 60 * 60);
