/** Mailing a link or a code to whoever a form names: what the sign-in form, the newsletter's and "resend" share. */

import { type Next, withQuery } from '../http/form.server.ts';
import { type FormCall, problemOf } from './form.server.ts';
import { formPages } from './forms.ts';
import type { Failure, Outcome } from './service.ts';
import type { SignInState } from './state-cookies.server.ts';

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
