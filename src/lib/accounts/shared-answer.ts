/**
 * A browser's tabs ask who is reading once between them: the answer lies in local storage for a short while, and one tab asks
 * at a time. Each part may be missing or blocked; the tabs then ask for themselves.
 */
import type { AccessFacts } from './session.ts';
import { sessionName, type VisitorKind } from './visitor.ts';

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

/** @returns whether there was an answer, however old: whether somebody was signed in here when it was last looked */
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

/** Milliseconds within which a lock is had that nobody else holds. */
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
