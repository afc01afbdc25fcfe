/** Answers of the account routes: a failure as status and sentence (spec section 8), and a successful sign-in. */

import type { APIContext, APIRoute } from 'astro';
import { type Answer, refuse } from '../http/answer.ts';
import { tooManyRequests } from '../http/rate-limit.ts';
import { accountRoute } from '../http/routes.server.ts';
import { signIn } from './form.server.ts';
import { accountMessages, wireMessages } from './messages.ts';
import type { SignedInAnswer } from './schema.ts';
import { deliveryBody, deliveryOf } from './schema.ts';
import type { Failure, SignedIn } from './service.ts';
import { visitorCookie } from './visitor.ts';

/**
 * @param wrongCode status for a code that is not right: 401 at `/blaize/login` (vendors.md 1.1, "bad credentials"), else 400
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

/** 200 of a sign-in (vendors.md 1.1). */
export function signedInAnswer({ cookies, session }: SignedIn, message: string): Answer {
  const body: SignedInAnswer = { cookie: hintCookie(cookies), message, tracking_id: session.trackingId };
  return { status: 200, body, cookies };
}

/**
 * The readable hint, the one cookie that an answer's body repeats. Clients of this protocol assign it to `document.cookie`; the
 * session cookie is HttpOnly and never in a body.
 */
export function hintCookie(cookies: readonly string[]): string {
  const isHint = (cookie: string) => cookie.startsWith(`${visitorCookie}=`) && !/;\s*httponly\s*(?:;|$)/i.test(cookie);
  return cookies.find(isHint) ?? '';
}

/** POST /blaize/token-exchange: mails a link (spec section 7; vendors.md 1.3). */
const mailLinkRoute: APIRoute = accountRoute(
  { body: deliveryBody },
  async ({ accounts, body, caller, siteUrl, context }) => {
    const delivery = deliveryOf(body, siteUrl, caller);
    if (!delivery.ok) return refuse(400, delivery.message);
    const { email, purpose, redirect, method } = delivery.value;
    if (method !== 'email') return refuse(400, 'Links are sent by email only.');
    const outcome = await accounts.sendLink(delivery.value);
    if (!outcome.ok) return answerFailure(outcome.failure);
    // So that the link, opened in this browser, needs no second click.
    const state = { email, purpose: purpose === 'login' ? purpose : 'register', returnTo: redirect } as const;
    return { status: 201, body: { message: wireMessages.linkSent }, cookies: [signIn(context.locals).set(state)] };
  },
);

/** @param context also `Astro`, which has all that is read of it */
export const mailLink = (
  context: Pick<APIContext, 'request' | 'locals' | 'url' | 'clientAddress'>,
): Promise<Response> => Promise.resolve(mailLinkRoute(context as APIContext));
