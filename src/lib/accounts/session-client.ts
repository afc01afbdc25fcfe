/** The account calls that a page makes before a touch; apart from the others, so that a page loads no more than these. */
import { type Answer, ask } from '../http/ask.ts';
import type { VisitorKind } from './products.ts';
import type {
  FeatureDecisionsAnswer,
  FeatureDecisionsBody,
  IdentifiersBody,
  LogoutBody,
  MessageAnswer,
  RepairAnswer,
} from './schema.ts';
import type { AccessFacts } from './session.ts';
import { sessionName } from './visitor.ts';

/** What the reader may see: the one question of a page load. */
export const featureDecisions = (
  question: Pick<FeatureDecisionsBody, 'featureIds' | 'path'>,
): Promise<Answer<FeatureDecisionsAnswer>> =>
  // Other tabs wait for this answer.
  ask('/zephr/feature-decisions', { body: question, patience: 8000 });

/** Ties this browser to a reader whom a newsletter's link names. The answer does not say whether there is one. */
export const recogniseMe = (email: string): Promise<Answer<MessageAnswer | null>> =>
  ask('/zephr/recognise-me', { body: { identifiers: { email_address: email } } satisfies IdentifiersBody });

/** Completes a payment or a sign-up that was interrupted; the answer is not used (spec section 4). */
export const repair = (): Promise<Answer<RepairAnswer>> => ask('/api/v1/me/repair', { keepalive: true });

/** Signs out, everywhere unless told otherwise (spec section 6). */
export const logout = (where: LogoutBody['where'] = 'EVERYWHERE'): Promise<Answer<MessageAnswer | null>> =>
  ask('/blaize/logout', { body: { where } satisfies LogoutBody });

/** What a page does for a reader without being asked: the repair call, and a newsletter's hint who is coming. */

/** Query parameter of a newsletter's links with the reader's email address. */
const recognised = 'recognized_email';

/** When the repair call was made last is kept under this name. */
const repairedName = 'broadsheet-repaired';
/** The call is not made again in this browser for so long, in milliseconds. */
const repairedFor = 12 * 60 * 60 * 1000;

/**
 * Passes on who a newsletter's link says is coming (spec section 7), and takes the address out of the address bar at
 * once: it is personal, and a reader may pass the link on.
 *
 * @returns whether there was anybody to recognise
 */
export async function recogniseFromAddress(): Promise<boolean> {
  const url = new URL(location.href);
  const email = url.searchParams.get(recognised);
  if (email === null) return false;
  url.searchParams.delete(recognised);
  history.replaceState(history.state, '', url);
  if (!email.includes('@')) return false;
  await recogniseMe(email);
  return true;
}

/** Makes the repair call for a reader who is signed in (spec section 4), once in a while; the answer is not looked at. */
export function repairOnce(): void {
  try {
    const age = Date.now() - Number(localStorage.getItem(repairedName));
    if (age >= 0 && age < repairedFor) return;
    localStorage.setItem(repairedName, String(Date.now()));
  } catch {
    // Without storage it is once for each page.
  }
  void repair();
}

/** Another reader is signed in, or none. */
export function forgetRepair(): void {
  try {
    localStorage.removeItem(repairedName);
  } catch {
    // Could not be written either.
  }
}

/**
 * A browser's tabs ask who is reading once between them: the answer lies in local storage for a short while, and one tab asks
 * at a time. Each part may be missing or blocked; the tabs then ask for themselves.
 */

/** How long an answer counts, in milliseconds. */
export const sharedFor = 60_000;

interface Kept {
  /** Epoch milliseconds. */
  readonly at: number;
  /** The hint under which it was asked; another hint is another reader. */
  readonly visitor: VisitorKind;
  readonly facts: AccessFacts;
}

/** The answer that lies ready for this hint, or `null`. */
export function takeShared(visitor: VisitorKind): AccessFacts | null {
  try {
    const kept = JSON.parse(localStorage.getItem(sessionName) ?? 'null') as Partial<Kept> | null;
    const age = Date.now() - Number(kept?.at);
    return kept?.visitor === visitor && age >= 0 && age < sharedFor ? (kept.facts ?? null) : null;
  } catch {
    return null;
  }
}

export function putShared(visitor: VisitorKind, facts: AccessFacts): void {
  try {
    localStorage.setItem(sessionName, JSON.stringify({ at: Date.now(), visitor, facts } satisfies Kept));
  } catch {
    // Full or blocked: the next page asks again.
  }
}

/** @returns whether there was an answer, however old: whether a reader was signed in here when it was last looked */
export function dropShared(): boolean {
  try {
    const there = localStorage.getItem(sessionName) !== null;
    localStorage.removeItem(sessionName);
    return there;
  } catch {
    // What cannot be removed could not be written either.
    return false;
  }
}

/** Does something while no other tab does it. */
export async function oneTabAtATime<T>(action: () => Promise<T>): Promise<T> {
  // There are no locks in old browsers and outside of secure contexts.
  if (typeof navigator === 'undefined' || !navigator.locks) return action();
  const asked = performance.now();
  return navigator.locks.request(sessionName, async () => {
    if (performance.now() - asked > atOnce) await written();
    return action();
  });
}

/** Milliseconds within which a free lock is had. */
const atOnce = 5;
/** Milliseconds that another tab's writing takes to be seen here, at most. */
const soon = 150;

/** Another tab had the lock: what it has written may be a moment away, for browsers hand storage on behind the locks. */
const written = (): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      removeEventListener('storage', look);
      resolve();
    };
    const look = (): void => {
      try {
        if (localStorage.getItem(sessionName) !== null) done();
      } catch {
        done();
      }
    };
    const timer = setTimeout(done, soon);
    addEventListener('storage', look);
    look();
  });
