/** The sealed cookies of a sign-in that has begun. */
import { z } from 'zod';
import { sealedCookie } from '../http/sealed-cookie.server.ts';

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
export const signIn = sealedCookie('sign_in', signInState, 15 * 60);

/** Where a social sign-in is to end. */
export const socialStart = sealedCookie('social_start', z.string(), 10 * 60);

/** The number of an article to save once its reader has signed in. */
export const saveLater = sealedCookie('save_later', z.int().positive(), 60 * 60);
