/** Checks and forms of a reader's profile: one level of scalars (vendors.md 1.6; spec sections 3, 5 and 7). */

import { formatUsPhone, usPhoneDigits } from '../us-phone.ts';
import { type ProfileField, profileFields } from './profile-fields.ts';
import type { Profile } from './service.ts';

/** By kind: what a form's value becomes (`null`: it is refused), and what the account service takes. */
const kinds = {
  text: { read: (text: string): string | null => text, accepts: (_: string) => true },
  date: {
    read: (text: string): string | null => (text === '' || isDay(text) ? text : null),
    accepts: (text: string) => text === '' || isDay(text),
  },
  phone: { read: usPhoneDigits, accepts: (text: string) => text === '' || /^\d{11}$/.test(text) },
};

/** A stored value as the form shows it. */
export const shownValue = ({ attribute, kind }: ProfileField, profile: Profile): string => {
  const value = String(profile[attribute] ?? '');
  return kind === 'phone' ? formatUsPhone(value) : value;
};

/**
 * What a form says, by the names of the stored profile. Fields that it doesn't have are left alone.
 *
 * @param of the value of a field; `null` when the form has no such field
 */
export function readProfileForm(
  of: (name: string) => string | null,
): { readonly profile: Record<string, string> } | { readonly refused: ProfileField } {
  const profile: Record<string, string> = {};
  for (const field of profileFields) {
    const given = of(field.name);
    if (given === null) continue;
    const value = kinds[field.kind ?? 'text'].read(given.trim());
    if (value === null) return { refused: field };
    profile[field.attribute] = value;
  }
  return { profile };
}

/** The part of a profile that the form shows. */
export const shownProfile = (profile: Profile): Profile =>
  Object.fromEntries(
    profileFields.flatMap(({ attribute }) => {
      const value = profile[attribute];
      return value === undefined ? [] : [[attribute, value]];
    }),
  );

const bounds = { keys: 50, key: 64, value: 500, extended: 16 * 1024, apps: 20 };

/** Checks attributes that come from outside, known fields and others. @returns a sentence for the reader; `null` when nothing is wrong */
export function profileProblem(profile: Readonly<Record<string, unknown>>): string | null {
  for (const [key, value] of Object.entries(profile)) {
    if (!/^[A-Za-z][\w.-]*$/.test(key) || key.length > bounds.key || key === 'constructor' || key === 'prototype') {
      return 'Invalid profile field';
    }
    if (typeof value === 'number' ? !Number.isFinite(value) : !['string', 'boolean'].includes(typeof value)) {
      return `Invalid value for ${key}`;
    }
    if (typeof value !== 'string') continue;
    const field = profileFields.find(({ attribute }) => attribute === key);
    if (value.length > (field?.maxLength ?? bounds.value)) return `The value for ${key} is too long`;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: line breaks are allowed in an address, the others nowhere.
    if (/[\x00-\x09\x0b\x0c\x0e-\x1f\x7f]/.test(value)) return `Invalid value for ${key}`;
    if (field && !kinds[field.kind ?? 'text'].accepts(value)) return field.message ?? `Invalid value for ${key}`;
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
