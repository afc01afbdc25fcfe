/**
 * A sign-in that waits for its mail, kept for this tab: a phone that puts the page away while its reader looks for the code brings it
 * back at the same step. Nothing secret is kept, and nothing longer than a code lasts.
 */
/** Where the sign-in stands: on its page, in the popup, or within the paywall. Each goes on with its own alone. */
export type Surface = 'page' | 'popup' | 'paywall';

export interface Pending {
  readonly step: 'sent' | 'code';
  readonly email: string;
  readonly purpose: 'login' | 'register';
}

interface Kept extends Pending {
  readonly surface: Surface;
  /** Path that it was begun on. */
  readonly path: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Also looked for by `client:interaction="or-resumed"` (src/client/interaction.ts). */
const pendingKey = 'pending-sign-in';

/** How long a code is good, in milliseconds. */
const lifetime = 10 * 60_000;

/** What waits on this page, or `null`. */
export function readPending(surface: Surface): Pending | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(pendingKey) ?? 'null') as Partial<Kept> | null;
    if (kept?.surface !== surface || kept.path !== location.pathname) return null;
    if (typeof kept.at !== 'number' || Date.now() - kept.at > lifetime) return null;
    const { step, email, purpose } = kept;
    if ((step !== 'sent' && step !== 'code') || typeof email !== 'string' || email === '') return null;
    return { step, email, purpose: purpose === 'register' ? 'register' : 'login' };
  } catch {
    return null;
  }
}

/** Keeps a step that waits for a mail, and forgets it at any other. */
export function keepPending(
  surface: Surface,
  { step, email, purpose }: Omit<Pending, 'step'> & { step: string },
): void {
  try {
    if (step !== 'sent' && step !== 'code') {
      sessionStorage.removeItem(pendingKey);
      return;
    }
    const kept: Kept = { surface, path: location.pathname, step, email, purpose, at: Date.now() };
    sessionStorage.setItem(pendingKey, JSON.stringify(kept));
  } catch {
    // Storage that is blocked: a reload begins anew.
  }
}

/** Forgets it: its popup was closed. */
export function dropPending(): void {
  try {
    sessionStorage.removeItem(pendingKey);
  } catch {
    // Nothing was kept.
  }
}
