/** Sign-in with Google and Facebook: sends the browser there, knows it again, and says how it ended (vendors.md 1.8). */

import { newToken, same } from '../hmacs.server.ts';
import { readCookies, setCookie } from '../http/cookies.ts';
import { returnPath } from '../http/return-path.ts';
import { type Parts, within } from './dependencies.server.ts';
import type { Accounts, Provider, SocialEnd } from './service.ts';
import type { SigningIn } from './sign-in.server.ts';
import type { Attempt, SocialProvider } from './social-providers.server.ts';

type Social = Pick<Accounts, 'providers' | 'beginSocial' | 'finishSocial'>;

/** Seconds that somebody may take at the provider. */
const attemptSeconds = 600;
const cookiePath = '/blaize/oauth';
/** Names the provider that withheld the address last time. */
const withheldCookie = 'blaize_oauth_withheld';

/** What the browser brings back: it is signed, and only the browser that went has it. */
interface Ticket {
  readonly provider: Provider;
  readonly state: string;
  readonly returnTo: string;
  /** Epoch milliseconds. */
  readonly expires: number;
}

const sayings = {
  denied: 'The sign-in was canceled.',
  stale: 'This sign-in has expired. Please try again.',
  failed: 'Something went wrong. Please try again.',
  silent: (name: string) =>
    `${name} did not tell us your email address. Please sign in with your email address instead.`,
};

/** @param secure whether the site is served over HTTPS */
export function createSocial(
  parts: Parts,
  available: readonly SocialProvider[],
  signingIn: SigningIn,
  secure: boolean,
): Social {
  const { keyed, siteUrl, now, proofs, database, outbox, audit, log } = parts;
  const providers = new Map(available.map((provider) => [provider.id, provider]));
  // A tab of its own each: two sign-ins that run at once do not end each other.
  const cookieName = (state: string): string => `blaize_oauth_${state.slice(0, 8)}`;
  const cookie = (state: string, value: string, maxAge: number): string =>
    setCookie(cookieName(state), value, { maxAge, httpOnly: true, secure, path: cookiePath });

  const withheld = (value: string, maxAge: number): string =>
    setCookie(withheldCookie, value, { maxAge, httpOnly: true, secure, path: cookiePath });

  const attempt = (provider: Provider, state: string, askAgain = false): Attempt => ({
    state,
    askAgain,
    verifier: keyed.sign('pkce', state),
    nonce: keyed.sign('nonce', state),
    redirectUri: `${siteUrl}${cookiePath}/${provider}/callback`,
  });

  function ticketOf(provider: Provider, state: string | null, header: string | null): Ticket | null {
    if (!state || !/^[\w-]{43}$/.test(state)) return null;
    for (const value of readCookies(header, cookieName(state))) {
      const [body = '', signature = ''] = value.split('.');
      if (!same(signature, keyed.sign('ticket', body))) continue;
      const ticket = JSON.parse(Buffer.from(body, 'base64url').toString()) as Ticket;
      if (ticket.provider === provider && same(ticket.state, state) && ticket.expires > now()) return ticket;
    }
    return null;
  }

  return {
    providers: [...providers.keys()],

    async beginSocial(id, target, header) {
      const provider = providers.get(id);
      if (!provider) throw new Error(`There is no sign-in with ${id}; set its credentials.`);
      const state = newToken();
      const askAgain = readCookies(header, withheldCookie).includes(id);
      const location = await provider.authorization(attempt(id, state, askAgain));
      const ticket: Ticket = {
        provider: id,
        state,
        returnTo: returnPath(target, siteUrl),
        expires: now() + attemptSeconds * 1000,
      };
      const body = Buffer.from(JSON.stringify(ticket)).toString('base64url');
      return {
        location: location.href,
        cookies: [cookie(state, `${body}.${keyed.sign('ticket', body)}`, attemptSeconds)],
      };
    },

    async finishSocial(id, url, header, caller) {
      const failure = (message: string, returnTo = '/', cookies: readonly string[] = []): SocialEnd => ({
        action: 'failure',
        message,
        returnTo,
        cookies,
      });
      const provider = providers.get(id);
      const state = url.searchParams.get('state');
      const ticket = ticketOf(id, state, header);
      if (!provider || !ticket || state === null) return failure(sayings.stale);
      const { returnTo } = ticket;
      // Before anything is written down: the trail must not be a way to fill the disk.
      const over = await within(parts, 'social', { address: caller.address });
      if (over) {
        const minutes = Math.ceil(over.retryAfter / 60);
        return failure(
          `Too many attempts. Please try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`,
          returnTo,
        );
      }

      const failed = async (why: 'denied' | 'failed', message: string): Promise<SocialEnd> => {
        await audit(database.db, { event: 'sign-in failed', caller, detail: `${id} ${why}` });
        return failure(message, returnTo);
      };
      const code = url.searchParams.get('code');
      if (!code) {
        return url.searchParams.get('error') === 'access_denied'
          ? failed('denied', sayings.denied)
          : failed('failed', sayings.failed);
      }

      let person: Awaited<ReturnType<SocialProvider['person']>>;
      try {
        person = await provider.person(code, attempt(id, state));
      } catch (error) {
        log.warn({ provider: id, why: (error as Error).message }, 'A social sign-in failed at the provider');
        return failed('failed', sayings.failed);
      }
      const proof = { provider: id, ...person };
      const done = [cookie(state, '', 0)];
      const withEmail = proof.email === null ? null : { ...proof, email: proof.email };
      const end = await database.transaction(async (tx): Promise<SocialEnd> => {
        // Somebody who is known needs no address.
        const signedIn = await signingIn.bySocial(tx, withEmail ?? { ...proof, email: '' }, {
          ...caller,
          cookies: header,
        });
        if (signedIn) {
          return { action: 'login', signedIn: { ...signedIn, cookies: [...signedIn.cookies, ...done] }, returnTo };
        }
        if (!withEmail) {
          await audit(tx, { event: 'sign-in failed', caller, detail: `${id} without an address` });
          return failure(sayings.silent(provider.name), returnTo, [withheld(id, attemptSeconds)]);
        }
        const stateKey = await proofs.newSocial(tx, withEmail);
        return { action: 'register', identifier: withEmail.email, stateKey, returnTo };
      });
      if (end.action === 'login') outbox.nudge();
      return end;
    },
  };
}
