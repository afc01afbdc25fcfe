/**
 * Routes of the account forms that work without JavaScript (see forms.ts). Every post ends in a 303, with cookies and without anything
 * personal in the address.
 */
import type { APIContext, APIRoute } from 'astro';
import { type Next, readOwnForm, seeOther, withQuery } from '../http/form.server.ts';
import { tooManyTries } from '../http/rate-limit.ts';
import { returnPath } from '../http/return-path.ts';
import { callerOf } from '../http/routes.server.ts';
import type { SealedCookie } from '../http/sealed-cookie.server.ts';
import { type FormProblem, formPages } from './forms.ts';
import type { Accounts, Caller, Failure } from './service.ts';
import { type SignInState, signIn } from './state-cookies.server.ts';

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
    const form = await readOwnForm(context);
    if (form instanceof Response) return form;
    const returnTo = returnPath(form.get('return'), locals.config.siteUrl);
    const { accounts } = locals.services;
    if (!accounts) return seeOther({ to: signInPage('off', returnTo) });
    const stateCookie = signIn(locals);
    const state = stateCookie.read(request.headers.get('cookie'));
    try {
      return seeOther(
        await handle({ accounts, form, caller: callerOf(context), context, state, stateCookie, returnTo }),
      );
    } catch (error) {
      locals.services.log.error({ err: error, url: context.url.pathname }, 'An account form failed');
      return seeOther({ to: signInPage('off', returnTo) });
    }
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
