/**
 * What the forms that work without JavaScript have in common (see forms.ts): the check of where they come from, reading them, and
 * an answer of 303 in every case, with cookies and without anything personal in the address.
 */
import type { APIContext, APIRoute } from 'astro';
import { readForm } from './body.server.ts';
import { type FormProblem, formPages } from './forms.ts';
import { callerOf } from './http.server.ts';
import { comesFromHere } from './origin.ts';
import { returnPath } from './return-path.ts';
import type { Accounts, Caller, Failure } from './service.ts';
import { type SignInState, type StateCookie, signIn } from './state-cookies.server.ts';
import { tooManyTries } from './waiting.ts';

/** Where a form leads. */
export interface Next {
  /** Path within the site. */
  readonly to: string;
  readonly cookies?: readonly string[];
}

export interface FormCall {
  readonly accounts: Accounts;
  readonly form: URLSearchParams;
  readonly caller: Caller;
  readonly context: APIContext;
  /** The half-done sign-in of this browser. */
  readonly state: SignInState | null;
  readonly stateCookie: StateCookie<SignInState>;
  /** The field `return`, made safe. */
  readonly returnTo: string;
}

/** A form's other end. */
export function formPost(handle: (call: FormCall) => Promise<Next>): APIRoute {
  return async (context) => {
    const { request, locals } = context;
    const { siteUrl } = locals.config;
    // A form is always sent by a browser, and every browser says where it stands.
    if (!comesFromHere(request.headers, siteUrl) || !request.headers.has('origin')) {
      return plain(403, `This form was sent from another site. Please open ${siteUrl} and try again.`);
    }
    const form = await readForm(request);
    if (!form) return plain(415, 'This address takes a form.');
    const returnTo = returnPath(form.get('return'), siteUrl);
    const { accounts } = locals.services;
    if (!accounts) return seeOther({ to: signInPage('off', returnTo) });
    const stateCookie = signIn(locals);
    const state = stateCookie.read(request.headers.get('cookie'));
    try {
      return seeOther(
        await handle({ accounts, form, caller: callerOf(context), context, state, stateCookie, returnTo }),
      );
    } catch (error) {
      locals.services.log.error({ err: error, url: context.url.pathname }, 'A form could not be worked on');
      return seeOther({ to: signInPage('off', returnTo) });
    }
  };
}

/** For GET: whoever opens the address of a form comes to the page with the form. */
export const insteadOpen =
  (page: string): APIRoute =>
  () =>
    seeOther({ to: page });

/** Address of the sign-in page. */
export const signInPage = (problem: FormProblem | null, returnTo: string): string =>
  withQuery(formPages.signIn, { problem, return: returnTo === '/' ? null : returnTo });

/** A path with parameters; those that are `null` are left out. */
export function withQuery(path: string, parameters: Readonly<Record<string, string | null>>): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null);
  const query = new URLSearchParams(given).toString();
  return query ? `${path}${path.includes('?') ? '&' : '?'}${query}` : path;
}

/** What a failure is called in an address, and what is said when that is not enough. */
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

function seeOther({ to, cookies = [] }: Next): Response {
  const headers = new Headers({ Location: to, 'Cache-Control': 'no-store' });
  for (const cookie of cookies) headers.append('Set-Cookie', cookie);
  return new Response(null, { status: 303, headers });
}

function plain(status: number, sentence: string): Response {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' };
  return new Response(`${sentence}\n`, { status, headers });
}
