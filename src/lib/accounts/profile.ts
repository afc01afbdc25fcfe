/** Rules of a reader's profile: one level of scalars (vendors.md 1.6; spec sections 3, 5 and 7). */
import type { Profile } from './service.ts';

/** Longest values of the keys that the spec names; others may have {@link bounds.value}. */
const known = new Map([
  ['first_name', 100],
  ['last_name', 100],
  ['phone-number', 11],
  ['date_of_birth', 10],
  ['address', 1000],
]);

const bounds = { keys: 50, key: 64, value: 500, extended: 16 * 1024, apps: 20 };

/** @returns what is wrong, a sentence for the reader; `null` when nothing is */
export function profileProblem(profile: Readonly<Record<string, unknown>>): string | null {
  for (const [key, value] of Object.entries(profile)) {
    if (!/^[A-Za-z][\w.-]*$/.test(key) || key.length > bounds.key || key === 'constructor' || key === 'prototype') {
      return 'Invalid profile field';
    }
    if (typeof value === 'number' ? !Number.isFinite(value) : !['string', 'boolean'].includes(typeof value)) {
      return `Invalid value for ${key}`;
    }
    if (typeof value !== 'string') continue;
    if (value.length > (known.get(key) ?? bounds.value)) return `The value for ${key} is too long`;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: line breaks are allowed in an address, the others nowhere.
    if (/[\x00-\x09\x0b\x0c\x0e-\x1f\x7f]/.test(value)) return `Invalid value for ${key}`;
    // Spec section 5, the message of section 8.
    if (key === 'phone-number' && value !== '' && !/^\d{11}$/.test(value)) return 'Invalid phone number';
    if (key === 'date_of_birth' && value !== '' && !isDay(value)) return 'Invalid date of birth';
  }
  return null;
}

/** Whether a merged profile still fits. */
export const fits = (profile: Profile): boolean => Object.keys(profile).length <= bounds.keys;

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** @returns what is wrong with the name of an app, or `null` */
export function appProblem(app: string): string | null {
  return /^[A-Za-z0-9][\w.-]{0,63}$/.test(app) && !app.startsWith('_restricted') ? null : 'Invalid app';
}

/** The JSON of an extended profile, or what is wrong with it. */
export function extendedText(value: unknown): { readonly text: string } | { readonly problem: string } {
  const text = value === undefined ? undefined : JSON.stringify(value);
  if (text === undefined) return { problem: 'No data' };
  return Buffer.byteLength(text) > bounds.extended ? { problem: 'Too much data' } : { text };
}

/** Extended profiles of one reader at most. */
export const mostApps = bounds.apps;

/**
 * Copies of the profile in this browser (spec section 3, "Locally stored on profile save"), for the paper's own scripts and widgets. The
 * tracking id is also the stored token, and the first name the stored username. They go when the reader does: a browser may be
 * somebody else's next.
 */

export interface ProfileCopies {
  readonly address: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
  readonly phone: string;
  readonly birthday: string;
  readonly trackingId: string;
}

const keys = ['address', 'firstName', 'lastName', 'email', 'username', 'phone', 'birthday', 'token', 'trackingId'];

/** Storage that is full or blocked takes none; nothing depends on them. */
export function keepProfileCopies(copies: ProfileCopies): void {
  const all: Readonly<Record<string, string>> = { ...copies, username: copies.firstName, token: copies.trackingId };
  try {
    for (const key of keys) localStorage.setItem(key, all[key] ?? '');
  } catch {
    forgetProfileCopies();
  }
}

export function forgetProfileCopies(): void {
  try {
    for (const key of keys) localStorage.removeItem(key);
  } catch {
    // What cannot be removed could not be written either.
  }
}
