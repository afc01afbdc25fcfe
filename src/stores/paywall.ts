/**
 * What a reader has typed in the paywall, and the number of the purchase attempt, in the tab's session storage: a reload or a lost
 * connection loses nothing, and buys nothing twice. Card data is never here; the page never sees it.
 */
import { atom, type ReadableAtom } from 'nanostores';
import type { Shipping } from '../lib/billing/schema.ts';

export interface Draft {
  readonly email?: string | undefined;
  readonly coupon?: string | undefined;
  readonly shipping?: Partial<Shipping> | undefined;
  /** `zephrPlanId` that was chosen. */
  readonly planId?: string | undefined;
}

/** One attempt to buy. */
export interface Attempt {
  /** UUID; the same one again is the same purchase. */
  readonly id: string;
  /** The terms: other terms are another attempt. */
  readonly terms: string;
  /** Whether it was sent: then only the server knows how it ended. */
  readonly sent: boolean;
}

const draftName = 'broadsheet-checkout';
const attemptName = 'broadsheet-checkout-attempt';

const $kept = atom<Draft>(read(draftName) ?? {});

export const $draft: ReadableAtom<Draft> = $kept;

export function keepDraft(change: Draft): void {
  $kept.set({ ...$kept.get(), ...change });
  write(draftName, $kept.get());
}

/** Forgets what was typed, after the purchase or a sign-out. */
export function dropDraft(): void {
  $kept.set({});
  write(draftName, null);
}

/** Where storage is blocked, an attempt lasts as long as the page. */
let attempt: Attempt | null = read(attemptName);

/** The attempt that has not ended yet. */
export const openAttempt = (): Attempt | null => attempt;

/** The number of an attempt: the open one's if the terms are the same, else a new one. Notes that it is sent. */
export function beginAttempt(terms: string): string {
  const id = attempt?.terms === terms ? attempt.id : newId();
  attempt = { id, terms, sent: true };
  write(attemptName, attempt);
  return id;
}

/** The server has said how it ended. */
export function endAttempt(): void {
  attempt = null;
  write(attemptName, null);
}

/** Outside of a secure context there is no `randomUUID`. */
function newId(): string {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function read<T extends object>(name: string): T | null {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(name) ?? 'null');
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as T) : null;
  } catch {
    return null;
  }
}

function write(name: string, value: object | null): void {
  try {
    if (value === null) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, JSON.stringify(value));
  } catch {
    // Full, or blocked: it lasts as long as the page.
  }
}
