/** The account calls that a page makes before a reader touches it. They have a module of their own because every page loads it. */
import { readStored } from '../browser-storage.ts';
import { ask, type Reply } from '../http/ask.ts';
import type {
  FeatureDecisionsAnswer,
  FeatureDecisionsBody,
  IdentifiersBody,
  LogoutBody,
  MessageAnswer,
  RepairAnswer,
} from './schema.ts';
import { claimRepair } from './storage.ts';
import { sessionName } from './visitor.ts';

/** What the user may read: the only call of a page load. */
export const featureDecisions = (
  question: Pick<FeatureDecisionsBody, 'featureIds' | 'path'>,
): Promise<Reply<FeatureDecisionsAnswer>> =>
  // The page looks as its hint says until the answer, so a slow one is better than none.
  ask('/zephr/feature-decisions', { body: question, timeoutMs: 30_000 });

/** Ties this browser to the user that a newsletter's link names. The answer doesn't say whether there is one. */
export const recognizeMe = (email: string): Promise<Reply<MessageAnswer | null>> =>
  ask('/zephr/recognise-me', { body: { identifiers: { email_address: email } } satisfies IdentifiersBody });

/** Completes an interrupted payment or sign-up; the response isn't used (spec section 4). */
export const repair = (): Promise<Reply<RepairAnswer>> => ask('/api/v1/me/repair', { keepalive: true });

/** Signs out, everywhere by default (spec section 6). */
export const logout = (where: LogoutBody['where'] = 'EVERYWHERE'): Promise<Reply<MessageAnswer | null>> =>
  ask('/blaize/logout', { body: { where } satisfies LogoutBody });

/** Query parameter of a newsletter's links with the user's email address. */
const recognized = 'recognized_email';

/**
 * Recognizes the user that a newsletter's link names (spec section 7), and removes the address from the address bar at once: it is
 * personal data, and the link may be shared.
 *
 * @returns whether there was an address
 */
export async function recognizeFromAddress(): Promise<boolean> {
  const url = new URL(location.href);
  const email = url.searchParams.get(recognized);
  if (email === null) return false;
  url.searchParams.delete(recognized);
  history.replaceState(history.state, '', url);
  if (!email.includes('@')) return false;
  await recognizeMe(email);
  return true;
}

/** Makes the repair call for a signed-in user (spec section 4), twice a day at most. */
export function repairOnce(): void {
  if (claimRepair()) void repair();
}

/** Runs an action while no other tab runs it, so that one tab reads the session for all. The others wait for {@link lockMs} at most. */
export async function oneTabAtATime<T>(action: () => Promise<T>): Promise<T> {
  // Old browsers and insecure contexts have no locks.
  if (!navigator.locks) return action();
  const requested = performance.now();
  const { result } = await navigator.locks.request(sessionName, async () => {
    if (performance.now() - requested > freeLockMs) await sharedSession();
    const result = action();
    await Promise.race([result, new Promise((resolve) => setTimeout(resolve, lockMs))]);
    return { result };
  });
  return result;
}

/** Longest time until another tab may run its action, milliseconds. */
const lockMs = 8000;

/** Milliseconds within which a free lock is granted. */
const freeLockMs = 5;
/** Longest time until another tab's write is seen here, milliseconds. */
const soonMs = 150;

/** Waits for the value that the previous lock holder stored: browsers may propagate storage later than locks. */
const sharedSession = (): Promise<void> =>
  new Promise((resolve) => {
    const check = (): void => {
      if (readStored(sessionName) !== null) resolve();
    };
    addEventListener('storage', check, { signal: AbortSignal.timeout(soonMs) });
    setTimeout(resolve, soonMs);
    check();
  });
