/**
 * Sign-in with Google and Facebook: sends the browser there, recognizes it when it returns, and reports the result
 * (docs/services/zephr.md).
 */
import { createSealer, isToken, newToken, type Sealer } from '../crypto.server.ts';
import { tooManyTries } from '../http/answer.ts';
import { readCookies, setCookie } from '../http/cookies.server.ts';
import { returnPath } from '../http/origin.ts';
import { countAgainst, type Dependencies, recordAudit } from './dependencies.server.ts';
import { accountMessages } from './messages.ts';
import { addSocialKey, type SocialProof } from './proofs.server.ts';
import type { Accounts, Caller, Provider, SocialEnd } from './service.ts';
import { signInBySocial } from './sign-in.server.ts';
import type { Attempt, SocialProvider } from './social-providers.server.ts';

type Social = Pick<Accounts, 'providers' | 'beginSocial' | 'finishSocial'>;

/** Seconds that a reader may take at the provider. */
const attemptSeconds = 600;
const cookiePath = '/blaize/oauth';
/** Names the provider from which the reader last withheld the address. */
const withheldCookie = 'blaize_oauth_withheld';
/** Each attempt has its own cookie: sign-ins in two tabs don't disturb each other. */
const ticketCookie = (state: string): string => `blaize_oauth_${state.slice(0, 8)}`;

/** What the browser brings back is the path to return to, sealed for one sign-in at one provider. */
const sealedFor = (provider: Provider, state: string): string => `social sign-in ${provider} ${state}`;

/** @param secret the accounts' secret */
export function createSocial(deps: Dependencies, available: readonly SocialProvider[], secret: string): Social {
  const sealer = createSealer({ secrets: [secret], now: deps.now });
  const providers = new Map(available.map((provider) => [provider.id, provider]));
  const cookie = (name: string, value: string, maxAge = attemptSeconds): string =>
    setCookie(name, value, { maxAge, httpOnly: true, secure: deps.secure, path: cookiePath });

  return {
    providers: [...providers.keys()],

    async beginSocial(id, target, header) {
      const provider = providers.get(id);
      if (!provider) throw new Error(`There is no sign-in with ${id}; set its credentials.`);
      const state = newToken();
      const askAgain = readCookies(header, withheldCookie).includes(id);
      const location = await provider.authorization(attempt(deps, id, state, askAgain));
      const ticket = sealer.seal(sealedFor(id, state), returnPath(target, deps.siteUrl), attemptSeconds);
      return { location: location.href, cookies: [cookie(ticketCookie(state), ticket)] };
    },

    async finishSocial(id, url, header, caller) {
      const provider = providers.get(id);
      const state = url.searchParams.get('state') ?? '';
      const returnTo = openTicket(sealer, id, state, header);
      if (!provider || returnTo === null) return failure(accountMessages.staleSocial, '/');
      // Counted before anything is written, so that the audit trail can't be used to fill the disk.
      const over = await countAgainst(deps, 'social', { address: caller.address });
      if (over) return failure(tooManyTries(over.retryAfter), returnTo);
      const proof = await proofOf(deps, provider, state, url.searchParams);
      if (typeof proof === 'string') {
        await recordAudit(deps, deps.database.db, { event: 'sign-in failed', caller, detail: `${id} ${proof}` });
        return failure(proof === 'denied' ? accountMessages.canceled : accountMessages.failed, returnTo);
      }
      const end = await endOf(deps, proof, { ...caller, cookies: header }, returnTo);
      if (end === null) {
        return failure(accountMessages.noSocialEmail(provider.name), returnTo, [cookie(withheldCookie, id)]);
      }
      if (end.action !== 'login') return end;
      deps.outbox.nudge();
      const cookies = [...end.signedIn.cookies, cookie(ticketCookie(state), '', 0)];
      return { ...end, signedIn: { ...end.signedIn, cookies } };
    },
  };
}

const failure = (message: string, returnTo: string, cookies: readonly string[] = []): SocialEnd => ({
  action: 'failure',
  message,
  returnTo,
  cookies,
});

const attempt = ({ hmacs, siteUrl }: Dependencies, provider: Provider, state: string, askAgain = false): Attempt => ({
  state,
  askAgain,
  verifier: hmacs.sign('pkce', state),
  nonce: hmacs.sign('nonce', state),
  redirectUri: `${siteUrl}${cookiePath}/${provider}/callback`,
});

/** The path to return to, if this browser began the sign-in; `null` when its ticket is missing, expired or forged. */
function openTicket(sealer: Sealer, provider: Provider, state: string, header: string | null): string | null {
  if (!isToken(state)) return null;
  const opened = readCookies(header, ticketCookie(state)).map((value) =>
    sealer.open(sealedFor(provider, state), value),
  );
  return opened.find((path) => typeof path === 'string') ?? null;
}

/** @returns the user as the provider describes them, with an empty email if it sent none; or why it failed */
async function proofOf(
  deps: Dependencies,
  provider: SocialProvider,
  state: string,
  answer: URLSearchParams,
): Promise<SocialProof | 'denied' | 'failed'> {
  if (!answer.get('code')) return answer.get('error') === 'access_denied' ? 'denied' : 'failed';
  try {
    const person = await provider.person(answer, attempt(deps, provider.id, state));
    return { ...person, provider: provider.id, email: person.email ?? '' };
  } catch (error) {
    deps.log.warn({ provider: provider.id, why: (error as Error).message }, 'A social sign-in failed at the provider');
    return 'failed';
  }
}

/** @returns `null` if the reader is new and the provider sent no email address */
function endOf(deps: Dependencies, proof: SocialProof, caller: Caller, returnTo: string): Promise<SocialEnd | null> {
  return deps.database.transaction(async (tx) => {
    const signedIn = await signInBySocial(deps, tx, proof, caller);
    if (signedIn) return { action: 'login', signedIn, returnTo };
    if (proof.email === '') {
      await recordAudit(deps, tx, { event: 'sign-in failed', caller, detail: `${proof.provider} without an address` });
      return null;
    }
    return { action: 'register', identifier: proof.email, stateKey: await addSocialKey(deps, tx, proof), returnTo };
  });
}
