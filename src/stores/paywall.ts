/**
 * What a reader has typed in the paywall, and the number of the purchase attempt, in the tab's session storage: a reload or a lost
 * connection loses nothing and buys nothing twice. Card data never reaches the page.
 */
import { atom, type ReadableAtom } from 'nanostores';
import { checkoutNames } from '../lib/article/forget-reader.ts';
import type { Shipping } from '../lib/billing/schema.ts';
import { readStoredJson, writeStored } from '../lib/browser-storage.ts';

export interface Draft {
  readonly email?: string | undefined;
  readonly coupon?: string | undefined;
  readonly shipping?: Partial<Shipping> | undefined;
  /** `zephrPlanId` that was chosen. */
  readonly planId?: string | undefined;
}

/** One attempt to buy, which was sent: only the server knows how it ended. */
export interface Attempt {
  /** UUID: sending it again means the same purchase. */
  readonly id: string;
  /** The terms of the purchase. Different terms make a different attempt. */
  readonly terms: string;
}

const [draftName, attemptName] = checkoutNames;

const $storedDraft = atom<Draft>(read(draftName) ?? {});

export const $draft: ReadableAtom<Draft> = $storedDraft;

export function keepDraft(change: Draft): void {
  $storedDraft.set({ ...$storedDraft.get(), ...change });
  write(draftName, $storedDraft.get());
}

/** Removes what was typed, after the purchase or a sign-out. */
export function dropDraft(): void {
  $storedDraft.set({});
  write(draftName, null);
}

/** Where storage is blocked, an attempt lasts as long as the page. */
let attempt: Attempt | null = read(attemptName);

/** The attempt that has not ended yet. */
export const openAttempt = (): Attempt | null => attempt;

/** The number of the open attempt if the terms are the same, else a new one; stored before it is sent. */
export function beginAttempt(terms: string): string {
  const id = attempt?.terms === terms ? attempt.id : newId();
  attempt = { id, terms };
  write(attemptName, attempt);
  return id;
}

/** Ends the attempt, once the server has reported its result. */
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
  const value = readStoredJson(name, 'sessionStorage');
  return typeof value === 'object' && !Array.isArray(value) ? (value as T | null) : null;
}

/** If storage is full or blocked, the value lasts as long as the page. */
function write(name: string, value: object | null): void {
  writeStored(name, value && JSON.stringify(value), 'sessionStorage');
}
