/**
 * Routes of the account forms that work without JavaScript (model.ts), responses of the account calls, and page guards. A posted form
 * ends in a 303, with cookies and without personal data in the address.
 */
import type { APIContext, APIRoute, AstroGlobal } from 'astro';
import { z } from 'zod';
import { type Answer, refuse, tooManyRequests, tooManyTries } from '../http/answer.ts';
import { type SealedCookie, sealedCookie } from '../http/cookies.server.ts';
import { type Next, postedForm, seeOther, textResponse, withQuery } from '../http/form.server.ts';
import { returnPath } from '../http/origin.ts';
import { accountRoute, callerOf } from '../http/routes.server.ts';
import { choiceOf, saveChoice } from '../newsletters/model.ts';
import { emailRefusal } from './dependencies.server.ts';
import { accountMessages, type FormProblem, problemText, wireMessages } from './messages.ts';
import { formPages, providers } from './model.ts';
import { deliveryBody, deliveryOf, type SignedInAnswer } from './schema.ts';
import type { Accounts, Caller, Failure, Provider, Session, SignedIn } from './service.ts';
import { visitorCookie } from './visitor.ts';

export interface FormCall {
  readonly accounts: Accounts;
  readonly form: URLSearchParams;
  readonly caller: Caller;
  readonly context: APIContext;
  /** The sign-in that this browser has started. */
  readonly state: SignInState | null;
  readonly stateCookie: SealedCookie<SignInState>;
  /** The field `return`, validated. */
  readonly returnTo: string;
}

/** The route that an account form posts to. */
export function accountForm(handle: (call: FormCall) => Promise<Next>): APIRoute {
  return async (context) => {
    const { request, locals } = context;
    let returnTo = '/';
    const answer = await postedForm(context, async (form): Promise<Next> => {
      returnTo = returnPath(form.get('return'), locals.config.siteUrl);
      const { accounts } = locals.services;
      if (!accounts) return { to: signInPage('off', returnTo) };
      const stateCookie = signInCookie(locals);
      const state = stateCookie.read(request.headers.get('cookie'));
      return handle({ accounts, form, caller: callerOf(context), context, state, stateCookie, returnTo });
    });
    if (answer instanceof Response) return answer;
    return answer.status === 503
      ? seeOther({ to: signInPage('off', returnTo) })
      : textResponse(answer.status, answer.problem);
  };
}

/** As {@link accountForm}, with the reader's session; `null` when the reader is not signed in. */
export const readerForm = (
  handle: (call: FormCall & { readonly session: Session | null }) => Promise<Next>,
): APIRoute =>
  accountForm(async (call) => {
    const { session, cookies } = await call.accounts.session(call.caller.cookies ?? null);
    const next = await handle({ ...call, session });
    // The form's own cookies come last, so that they win.
    return { ...next, cookies: [...cookies, ...(next.cookies ?? [])] };
  });

/**
 * As {@link readerForm}, for signed-in readers; others sign in first.
 *
 * @param page where they return to; `null`: the form's `return`
 */
export const signedInForm = (
  page: string | null,
  handle: (call: FormCall & { readonly session: Session }) => Promise<Next>,
): APIRoute =>
  readerForm(async (call) => {
    const { session } = call;
    return session ? handle({ ...call, session }) : { to: signInPage(null, page ?? call.returnTo) };
  });

/** Address of the sign-in page. */
export const signInPage = (problem: FormProblem | null, returnTo: string): string =>
  withQuery(formPages.signIn, { problem, return: returnTo === '/' ? null : returnTo });

/** The name of a failure for the address, and its message if the name is not enough. */
export function problemOf(failure: Failure): { readonly problem: FormProblem; readonly words?: string } {
  switch (failure.kind) {
    case 'limited':
      return { problem: 'limited', words: tooManyTries(failure.retryAfter) };
    case 'invalid-email':
      return {
        problem: 'email',
        words: failure.suggestion ? accountMessages.suggestion(failure.suggestion) : failure.message,
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

/**
 * Saves the newsletters that the return path of a sign-in names. A failure must not cost the reader the session, because the link or code
 * is used up.
 *
 * @returns where to go next: without the choice, to the page that shows what is saved
 */
export async function saveSignUp({ context }: FormCall, session: Session, returnTo: string): Promise<string> {
  const { newsletters, log } = context.locals.services;
  try {
    await saveChoice(newsletters, session, choiceOf(returnTo));
    return returnTo;
  } catch (error) {
    log.error({ err: error }, 'The newsletters of a sign-up could not be saved');
    return withQuery('/dashboard/newsletters', { problem: 'failed' });
  }
}

/** The same limit as in the account calls (schema.ts). */
const longestEmail = 320;

export type Method = 'link' | 'code';

/** A request to sign in by mail. */
export interface SignInRequest {
  readonly email: string;
  readonly method: Method;
  /** Path to return to. */
  readonly returnTo: string;
  /** State in which the page is shown. */
  readonly state?: 'resent' | 'newsletter';
  /** Where an invalid address leads; `problem` is appended. */
  readonly back: string;
}

/** Checks the address, mails a link or a code, and redirects to the page that confirms it. */
export async function requestSignIn(call: FormCall, request: SignInRequest): Promise<Next> {
  const { accounts, caller, stateCookie } = call;
  const { email, method, returnTo } = request;
  const again = (failure: Failure): Next => {
    const { problem, words } = problemOf(failure);
    // Cut, because a browser drops a cookie that is too long, and a proxy may drop the response.
    const started: SignInState = {
      email: email.slice(0, longestEmail),
      purpose: 'login',
      returnTo,
      ...(words && { problem: words }),
    };
    return { to: withQuery(request.back, { problem }), cookies: [stateCookie.set(started)] };
  };

  // Counted before the email check, which may call another service. An invalid address is neither counted nor checked.
  const known = await accounts.exists(email, caller);
  if (!known.ok && known.failure.kind !== 'invalid-email') return again(known.failure);
  if (!known.ok || !known.value) {
    const refused = await checkAddress(call, email);
    if (refused) return again(refused);
  }
  if (!known.ok) return again(known.failure);
  const purpose = known.value ? 'login' : 'register';
  const delivery = { email, purpose, redirect: returnTo, caller, isVerified: true } as const;
  const sent = await (method === 'code' ? accounts.sendCode(delivery) : accounts.sendLink(delivery));
  if (!sent.ok) return again(sent.failure);
  return {
    to: withQuery(method === 'code' ? formPages.enterCode : formPages.linkSent, { state: request.state ?? null }),
    cookies: [stateCookie.set({ email, purpose, returnTo })],
  };
}

/**
 * The same check as `/api/verification` (spec section 5): accounts are made only for addresses that pass. The check must not keep the
 * owner of an account from signing in.
 */
async function checkAddress({ context }: FormCall, email: string): Promise<Failure | null> {
  if (email === '') return { kind: 'invalid-email', message: accountMessages.emailMissing, suggestion: null };
  return emailRefusal(context.locals.services.emailVerification, email);
}

/** What the pages of a started sign-in show: from the encrypted cookie and from the URL. */
export interface StartedSignIn<State extends string> {
  /** `null` if it is unknown or has expired. */
  readonly email: string | null;
  readonly returnTo: string;
  /** A complete sentence. */
  readonly problem: string | undefined;
  readonly state: State | undefined;
}

/**
 * Also prevents caching of the page.
 *
 * @param states the states that the page knows
 * @param options `fromReferrer`: without a `return` parameter, return to the referring page. Sign-in links on cached pages have no such
 *   parameter, so that crawlers don't find a separate URL for each story
 */
export function startedSignIn<const State extends string>(
  { request, locals, url, response }: Pick<AstroGlobal, 'request' | 'locals' | 'url' | 'response'>,
  states: readonly State[] = [],
  { fromReferrer = false } = {},
): StartedSignIn<State> {
  response.headers.set('Cache-Control', 'private, no-store');
  const stored = signInCookie(locals).read(request.headers.get('cookie'));
  const requested = url.searchParams.get('return');
  const referrer = fromReferrer ? returnPath(request.headers.get('referer'), locals.config.siteUrl) : '/';
  const otherwise = referrer === '/' ? (stored?.returnTo ?? '/') : referrer;
  const general = problemText(url.searchParams.get('problem'));
  return {
    email: stored?.email ?? null,
    returnTo: requested === null ? otherwise : returnPath(requested, locals.config.siteUrl),
    // Only if the address names a problem: one from an earlier request may be solved.
    problem: general && (stored?.problem ?? general),
    state: states.find((state) => state === url.searchParams.get('state')),
  };
}

const signInState = z.object({
  email: z.string(),
  /** Whether to sign in to an account or to create one. */
  purpose: z.enum(['login', 'register']),
  /** Path to come back to. */
  returnTo: z.string(),
  /** The error message, if `?problem=` alone doesn't determine it. */
  problem: z.string().optional(),
});
export type SignInState = z.infer<typeof signInState>;

/** Holds the sign-in that was started by a form. */
export const signInCookie = sealedCookie('sign_in', signInState, 15 * 60);

/** Holds the page to return to after a social sign-in. */
export const socialReturnCookie = sealedCookie('social_start', z.string(), 10 * 60);

/** Holds the id of an article to save once its reader has signed in. */
export const saveLaterCookie = sealedCookie('save_later', z.int().positive(), 60 * 60);

/**
 * A failure as status and sentence (spec section 8).
 *
 * @param wrongCode status for a wrong code: 401 at `/blaize/login` (docs/services/zephr.md, "bad credentials"), else 400
 */
export function answerFailure(failure: Failure, wrongCode: 400 | 401 = 400): Answer {
  switch (failure.kind) {
    case 'unknown-user':
      return refuse(404, accountMessages.unknownUser);
    case 'exists':
      return refuse(409, accountMessages.exists);
    case 'invalid-code':
      return refuse(wrongCode, accountMessages.invalidCode);
    case 'link-unknown':
      return refuse(404, accountMessages.linkUnknown);
    case 'link-expired':
      return refuse(401, accountMessages.linkExpired);
    case 'link-used':
      return refuse(410, accountMessages.linkUsed);
    case 'invalid-email':
      return refuse(400, failure.message, failure.suggestion === null ? {} : { suggestedEmail: failure.suggestion });
    case 'invalid':
      return refuse(400, failure.message);
    case 'limited':
      return tooManyRequests(failure.retryAfter);
  }
}

/** 200 of a sign-in (docs/services/zephr.md). */
export function signedInAnswer({ cookies, session }: SignedIn, message: string): Answer {
  const body: SignedInAnswer = { cookie: hintCookie(cookies), message, tracking_id: session.trackingId };
  return { status: 200, body, cookies };
}

/**
 * The readable hint cookie, the only one that is repeated in a response's body. Clients of this protocol assign it to
 * `document.cookie`; the session cookie is HttpOnly and never in a body.
 */
export function hintCookie(cookies: readonly string[]): string {
  const isHint = (cookie: string) => cookie.startsWith(`${visitorCookie}=`) && !/;\s*httponly\s*(?:;|$)/i.test(cookie);
  return cookies.find(isHint) ?? '';
}

/** POST /blaize/token-exchange: mails a link (spec section 7; docs/services/zephr.md). */
const mailLinkRoute: APIRoute = accountRoute(
  { body: deliveryBody },
  async ({ accounts, body, caller, siteUrl, context }) => {
    const delivery = deliveryOf(body, siteUrl, caller);
    if (!delivery.ok) return refuse(400, delivery.message);
    const { email, purpose, redirect, method } = delivery.value;
    if (method !== 'email') return refuse(400, accountMessages.linksByEmail);
    const outcome = await accounts.sendLink(delivery.value);
    if (!outcome.ok) return answerFailure(outcome.failure);
    // With this cookie, opening the link in this browser needs no second click.
    const state = { email, purpose: purpose === 'login' ? purpose : 'register', returnTo: redirect } as const;
    return {
      status: 201,
      body: { message: wireMessages.linkSent },
      cookies: [signInCookie(context.locals).set(state)],
    };
  },
);

/** @param context also `Astro`, which has all that is read of it */
export const mailLink = (
  context: Pick<APIContext, 'request' | 'locals' | 'url' | 'clientAddress'>,
): Promise<Response> => Promise.resolve(mailLinkRoute(context as APIContext));

/** The part of `Astro` that the page guards (spec section 6) use. A page with a guard is personal and never cached. */
type Page = Pick<AstroGlobal, 'request' | 'locals' | 'url' | 'response'>;

/** Lets signed-in users through; redirects all others. @param to the target; by default the sign-in page, which returns here */
export async function requireReader(page: Page, to?: string): Promise<Session | Response> {
  const { session, cookies, unavailable } = await readReader(page);
  // While the database is unavailable, the sign-in page says so, and trying again returns here.
  if (!session)
    return seeOther({ to: to ?? signInPage(unavailable ? 'off' : null, page.url.pathname + page.url.search), cookies });
  makePrivate(page, cookies);
  page.locals.personal = true;
  return session;
}

/** Lets anonymous readers through; redirects signed-in users to the path in the parameter `return`. */
export async function requireAnonymous(page: Page): Promise<Response | null> {
  const { session, cookies } = await readReader(page);
  if (session) {
    return seeOther({ to: returnPath(page.url.searchParams.get('return'), page.locals.config.siteUrl), cookies });
  }
  makePrivate(page, cookies);
  return null;
}

/** Lets every reader through. @returns `null` for an anonymous reader */
export async function optionalReader(page: Page): Promise<Session | null> {
  const { session, cookies } = await readReader(page);
  makePrivate(page, cookies);
  return session;
}

/** The caller's session. If accounts are off or their database is unavailable, there is none. */
async function readReader({ request, locals, url }: Page) {
  try {
    const header = request.headers.get('cookie');
    const found = await locals.services.sessions?.session(header);
    return { ...(found ?? { session: null, cookies: [] }), unavailable: false };
  } catch (error) {
    locals.services.log.error({ err: error, url: url.pathname }, 'The session of a page could not be read');
    return { session: null, cookies: [], unavailable: true };
  }
}

/** Keeps a personal page out of caches, and sets the reader's new cookies. */
function makePrivate({ response }: Page, cookies: readonly string[]): void {
  response.headers.set('Cache-Control', 'private, no-store');
  for (const cookie of cookies) response.headers.append('Set-Cookie', cookie);
}

/** The ways to sign in on this site: the same for every reader, so that pages can be cached. */
export interface SignInOffer {
  /** Whether accounts are on. */
  readonly on: boolean;
  readonly providers: readonly Provider[];
}

export const signInOffer = ({ services }: Pick<App.Locals, 'services'>): SignInOffer => ({
  on: services.features.accounts.on,
  // A Zephr tenant doesn't say which it has.
  providers: services.accounts?.providers ?? (services.sessions ? providers : []),
});
