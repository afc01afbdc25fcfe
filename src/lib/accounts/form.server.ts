/**
 * Routes of the account forms that work without JavaScript (see forms.ts). Every post ends in a 303, with cookies and without anything
 * personal in the address.
 */
import type { APIContext, APIRoute, AstroGlobal } from 'astro';
import { z } from 'zod';
import { type Next, plainText, postedForm, seeOther, withQuery } from '../http/form.server.ts';
import { tooManyTries } from '../http/rate-limit.ts';
import { returnPath } from '../http/return-path.ts';
import { callerOf } from '../http/routes.server.ts';
import type { SealedCookie } from '../http/sealed-cookie.server.ts';
import { sealedCookie } from '../http/sealed-cookie.server.ts';
import { formPages } from './forms.ts';
import { type FormProblem, problemText } from './messages.ts';
import type { Accounts, Caller, Failure, Outcome } from './service.ts';

export interface FormCall {
  readonly accounts: Accounts;
  readonly form: URLSearchParams;
  readonly caller: Caller;
  readonly context: APIContext;
  /** The sign-in that this browser has begun. */
  readonly state: SignInState | null;
  readonly stateCookie: SealedCookie<SignInState>;
  /** The field `return`, made safe. */
  readonly returnTo: string;
}

/** The route that an account form posts to. */
export function accountForm(handle: (call: FormCall) => Promise<Next>): APIRoute {
  return async (context) => {
    const { request, locals } = context;
    let returnTo = '/';
    const answer = await postedForm(context, {}, async (form): Promise<Next> => {
      returnTo = returnPath(form.get('return'), locals.config.siteUrl);
      const { accounts } = locals.services;
      if (!accounts) return { to: signInPage('off', returnTo) };
      const stateCookie = signIn(locals);
      const state = stateCookie.read(request.headers.get('cookie'));
      return handle({ accounts, form, caller: callerOf(context), context, state, stateCookie, returnTo });
    });
    if (answer instanceof Response) return answer;
    return answer.status === 503
      ? seeOther({ to: signInPage('off', returnTo) })
      : plainText(answer.status, answer.problem);
  };
}

/** Address of the sign-in page. */
export const signInPage = (problem: FormProblem | null, returnTo: string): string =>
  withQuery(formPages.signIn, { problem, return: returnTo === '/' ? null : returnTo });

/** The name of a failure in an address, and its sentence where the name is not enough. */
export function problemOf(failure: Failure): { readonly problem: FormProblem; readonly words?: string } {
  switch (failure.kind) {
    case 'limited':
      return { problem: 'limited', words: tooManyTries(failure.retryAfter) };
    case 'invalid-email':
      return {
        problem: 'email',
        words: failure.suggestion ? `Did you mean ${failure.suggestion}?` : failure.message,
      };
    case 'invalid-code':
      return { problem: 'code' };
    case 'link-unknown':
    case 'link-expired':
    case 'link-used':
      return { problem: 'expired' };
    default:
      return { problem: 'failed' };
  }
}

/** Mailing a link or a code to the address in a form: what the sign-in form, the newsletter's and "resend" share. */

/** As the calls take it (wire.ts). */
const longestEmail = 320;

export type Method = 'link' | 'code';

export interface Wish {
  readonly email: string;
  readonly method: Method;
  /** Path to come back to. */
  readonly returnTo: string;
  /** State that the page is shown in. */
  readonly state?: 'resent' | 'newsletter';
  /** Where a problem with the address leads; `problem` is put behind it. */
  readonly back: string;
}

/** Checks the address, mails, and leads to the page that says so. */
export async function mailAndShow(call: FormCall, wish: Wish): Promise<Next> {
  const { accounts, caller, stateCookie } = call;
  const { email, method, returnTo } = wish;
  const again = (failure: Failure): Next => {
    const { problem, words } = problemOf(failure);
    // Cut, for a browser drops a cookie that is too long, and a proxy may drop the answer.
    const kept: SignInState = {
      email: email.slice(0, longestEmail),
      purpose: 'login',
      returnTo,
      ...(words && { problem: words }),
    };
    return { to: withQuery(wish.back, { problem }), cookies: [stateCookie.set(kept)] };
  };

  // First what is counted: the check may cost a look-up elsewhere. What is no address is not counted, and not looked up.
  const known = await accounts.exists(email, caller);
  if (!known.ok && known.failure.kind !== 'invalid-email') return again(known.failure);
  const checked = await checkAddress(call, email);
  if (!checked.ok) return again(checked.failure);
  if (!known.ok) return again(known.failure);
  const purpose = known.value ? 'login' : 'register';
  const delivery = { email, purpose, redirect: returnTo, caller } as const;
  const sent = await (method === 'code' ? accounts.sendCode(delivery) : accounts.sendLink(delivery));
  if (!sent.ok) return again(sent.failure);
  return {
    to: withQuery(method === 'code' ? formPages.enterCode : formPages.linkSent, { state: wish.state ?? null }),
    cookies: [stateCookie.set({ email, purpose, returnTo })],
  };
}

/** As `/api/verification` does (spec section 5): only an address that passes is written to. */
async function checkAddress({ context }: FormCall, email: string): Promise<Outcome<null>> {
  if (email === '') return { ok: false, failure: emailFailure('Please enter your email address.', null) };
  const { verified, suggestedEmail, message } = await context.locals.services.emailVerification.verify(email);
  if (verified) return { ok: true, value: null };
  return { ok: false, failure: emailFailure(message, suggestedEmail) };
}

const emailFailure = (message: string, suggestion: string | null): Failure => ({
  kind: 'invalid-email',
  message,
  suggestion,
});

/** What the pages of a half-done sign-in are shown with: from the sealed cookie, and a word in the address. */

export interface HalfDone<State extends string> {
  /** `null` when it is not known (any more). */
  readonly email: string | null;
  readonly returnTo: string;
  /** A whole sentence. */
  readonly problem: string | undefined;
  readonly state: State | undefined;
}

/**
 * Also keeps the page out of every cache.
 *
 * @param states the states that the page knows
 * @param options `fromReferrer`: where the address names no page to come back to, the one that led here is it. Links to sign in on stored
 *   pages name none, so that crawlers don't meet an address for each story
 */
export function halfDone<const State extends string>(
  { request, locals, url, response }: Pick<AstroGlobal, 'request' | 'locals' | 'url' | 'response'>,
  states: readonly State[] = [],
  { fromReferrer = false } = {},
): HalfDone<State> {
  response.headers.set('Cache-Control', 'private, no-store');
  const kept = signIn(locals).read(request.headers.get('cookie'));
  const named = url.searchParams.get('return');
  const came = fromReferrer ? returnPath(request.headers.get('referer'), locals.config.siteUrl) : '/';
  const before = came === '/' ? (kept?.returnTo ?? '/') : came;
  const general = problemText(url.searchParams.get('problem'));
  return {
    email: kept?.email ?? null,
    returnTo: named === null ? before : returnPath(named, locals.config.siteUrl),
    // Only beside a problem in the address: what was wrong before is not wrong for ever.
    problem: general && (kept?.problem ?? general),
    state: states.find((state) => state === url.searchParams.get('state')),
  };
}

/** The sealed cookies of a sign-in that has begun. */

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
