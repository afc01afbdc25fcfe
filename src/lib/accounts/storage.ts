/** Account data in this browser: copies of the profile, a sign-in that waits for its mail, and the session that tabs share. */
import { readStored, readStoredJson, writeStored } from '../browser-storage.ts';
import type { VisitorKind } from './products.ts';
import type { AccessFacts } from './session.ts';
import { sessionName } from './visitor.ts';

/** Names of the copies of profile fields (spec section 3). */
export const profileCopyKeys = ['firstName', 'lastName', 'phone', 'birthday', 'address'] as const;

/** Copies that aren't fields of the profile: the first name is also the username, the tracking id also the token. */
const otherCopies = ['email', 'username', 'token', 'trackingId'];

/** Removes the copies at sign-out: the next user of the browser may be another person. */
export function forgetProfileCopies(): void {
  for (const key of [...profileCopyKeys, ...otherCopies]) writeStored(key, null);
}

/** The form in which a sign-in was started; each form resumes only its own. */
export type Surface = 'page' | 'popup' | 'paywall';

/** A sign-in that waits for its mail. */
export interface Pending {
  readonly step: 'sent' | 'code';
  readonly email: string;
  readonly purpose: 'login' | 'register';
}

interface StoredPending extends Pending {
  readonly surface: Surface;
  /** Path of the page. */
  readonly path: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** `client:interaction="or-resumed"` (src/client/interaction.ts) reads it, too. */
const pendingKey = 'pending-sign-in';

/** How long a code is valid, milliseconds. */
const pendingFor = 10 * 60_000;

/** The pending sign-in of this tab and page: a phone may unload the page while its user looks for the code. */
export function readPending(surface: Surface): Pending | null {
  const stored = readStoredJson(pendingKey, 'sessionStorage') as Partial<StoredPending> | null;
  if (stored?.surface !== surface || stored.path !== location.pathname) return null;
  const { step, email, purpose, at } = stored;
  if (typeof at !== 'number' || Date.now() - at > pendingFor) return null;
  if ((step !== 'sent' && step !== 'code') || typeof email !== 'string' || email === '') return null;
  return { step, email, purpose: purpose === 'register' ? 'register' : 'login' };
}

/** Stores a step that waits for a mail; any other step removes it. */
export function storePending(
  surface: Surface,
  { step, email, purpose }: Omit<Pending, 'step'> & { step: string },
): void {
  const pending = { surface, path: location.pathname, step, email, purpose, at: Date.now() };
  const waits = step === 'sent' || step === 'code';
  writeStored(pendingKey, waits ? JSON.stringify(pending) : null, 'sessionStorage');
}

export function removePending(): void {
  writeStored(pendingKey, null, 'sessionStorage');
}

/** How long a session that one tab has read is used by the others, milliseconds. */
export const sharedFor = 60_000;

interface SharedSession {
  /** Epoch milliseconds. */
  readonly at: number;
  /** The hint cookie at that time; another hint is another user. */
  readonly visitor: VisitorKind;
  readonly facts: AccessFacts;
}

/** The session that another tab has just read under the same hint, or `null`. */
export function readSharedSession(visitor: VisitorKind): AccessFacts | null {
  const shared = readStoredJson(sessionName) as Partial<SharedSession> | null;
  const age = Date.now() - Number(shared?.at);
  return shared && shared.visitor === visitor && age >= 0 && age < sharedFor ? (shared.facts ?? null) : null;
}

export function storeSharedSession(visitor: VisitorKind, facts: AccessFacts): void {
  writeStored(sessionName, JSON.stringify({ at: Date.now(), visitor, facts } satisfies SharedSession));
}

/** @returns whether there was one, of any age: whether a user was signed in at the last read */
export function removeSharedSession(): boolean {
  const stored = readStored(sessionName) !== null;
  return writeStored(sessionName, null) && stored;
}

/** When the repair call was last made. */
const repairedName = 'broadsheet-repaired';
/** How long the call isn't repeated in this browser, milliseconds. */
const repairedFor = 12 * 60 * 60 * 1000;

/** Whether the repair call is due; if so, records that it is made now. Without storage it is due on every page. */
export function claimRepair(): boolean {
  const age = Date.now() - Number(readStored(repairedName));
  if (age >= 0 && age < repairedFor) return false;
  writeStored(repairedName, String(Date.now()));
  return true;
}

/** Called when another user signs in, or the user signs out. */
export function forgetRepair(): void {
  writeStored(repairedName, null);
}
