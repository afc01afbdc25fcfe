/**
 * The profile: its fields, their checks, phone numbers, and the copies in the browser (docs/services/zephr.md; spec sections 3, 5, 7 and
 * 9).
 */
import { writeStored } from '../browser-storage.ts';
import { isDay } from '../instants.ts';
import { profileProblems } from './messages.ts';
import type { Profile } from './service.ts';
import { forgetProfileCopies, type profileCopyKeys } from './storage.ts';

/** Whether a text is a day until today, or empty. */
const isPastDay = (text: string): boolean =>
  text === '' || (isDay(text) && text <= new Date().toISOString().slice(0, 10));

/** For each kind: how a form's value is read (`null`: rejected), and what the account service accepts. */
const kinds = {
  text: { read: (text: string): string | null => text, accepts: (_: string) => true },
  date: {
    read: (text: string): string | null => (isPastDay(text) ? text : null),
    accepts: isPastDay,
  },
  phone: { read: usPhoneDigits, accepts: (text: string) => text === '' || /^\d{11}$/.test(text) },
};

/** A stored value as the form shows it. */
export const shownValue = ({ attribute, kind }: ProfileField, profile: Profile): string => {
  const value = String(profile[attribute] ?? '');
  return kind === 'phone' ? formatUsPhone(value) : value;
};

/**
 * Reads a posted form into names of the stored profile. Fields that the form doesn't have stay unchanged.
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
    // Text that is pasted from a table has tabs, which the accounts refuse.
    const value = kinds[field.kind ?? 'text'].read(given.replace(/[^\P{Cc}\n]+/gu, ' ').trim());
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

const limits = { keys: 50, key: 64, value: 500, extended: 16 * 1024 };

/** Checks attributes that come from outside, known fields and others. @returns a sentence for the reader; `null` if they are valid */
export function profileProblem(profile: Readonly<Record<string, unknown>>): string | null {
  for (const [key, value] of Object.entries(profile)) {
    if (!/^[A-Za-z][\w.-]*$/.test(key) || key.length > limits.key || key === 'constructor' || key === 'prototype') {
      return profileProblems.invalidField;
    }
    if (typeof value === 'number' ? !Number.isFinite(value) : !['string', 'boolean'].includes(typeof value)) {
      return profileProblems.invalidValue(key);
    }
    if (typeof value !== 'string') continue;
    const field = profileFields.find(({ attribute }) => attribute === key);
    if (value.length > (field?.maxLength ?? limits.value)) return profileProblems.tooLong(key);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: line breaks are allowed in an address, the others nowhere.
    if (/[\x00-\x09\x0b\x0c\x0e-\x1f\x7f]/.test(value)) return profileProblems.invalidValue(key);
    if (field && !kinds[field.kind ?? 'text'].accepts(value)) return field.message ?? profileProblems.invalidValue(key);
  }
  return null;
}

/** Whether a merged profile is within the size limit. */
export const isSmallEnough = (profile: Profile): boolean => Object.keys(profile).length <= limits.keys;

/** @returns what is wrong with the name of an app, or `null`; names that begin with `_` are reserved */
export function appProblem(app: string): string | null {
  return /^[A-Za-z0-9][\w.-]{0,63}$/.test(app) ? null : profileProblems.invalidApp;
}

/** The JSON of an extended profile, or what is wrong with it. */
export function extendedText(value: unknown): { readonly text: string } | { readonly problem: string } {
  const text = value === undefined ? undefined : JSON.stringify(value);
  if (text === undefined) return { problem: profileProblems.noData };
  return Buffer.byteLength(text) > limits.extended ? { problem: profileProblems.tooMuchData } : { text };
}

/** Most extended profiles of one reader. */
export const mostApps = 20;

/** Area, exchange and line of an incomplete number. */
const shape = /^1?(\d{0,3})(\d{0,3})(\d{0,4})$/;

/**
 * Formats a US number (spec section 9) while it is typed: `+1 (212) 555-0183`, or a part of that. A number with another country's `+`
 * isn't changed.
 */
export function formatUsPhone(text: string): string {
  const digits = text.replace(/\D/g, '');
  if (/^\s*\+(?!\s*1)\s*\d/.test(text)) return text;
  const own = digits.startsWith('1') ? digits.slice(1) : digits;
  const [, area = '', exchange = '', line = ''] = shape.exec(own.slice(0, 10)) ?? [];
  if (area === '') return digits === '' && !text.includes('+') ? '' : '+1 ';
  if (exchange === '') return area.length < 3 ? `+1 (${area}` : `+1 (${area})`;
  return line === '' ? `+1 (${area}) ${exchange}` : `+1 (${area}) ${exchange}-${line}`;
}

/**
 * The eleven digits of what was typed.
 *
 * @returns empty if nothing was typed, `null` if it isn't a number (spec section 8: "Invalid phone number")
 */
export function usPhoneDigits(text: string): string | null {
  const digits = text.replace(/\D/g, '');
  if (digits === '' || (digits === '1' && /^\s*\+1\s*$/.test(text))) return '';
  return /^[\d\s().+-]*$/.test(text) && /^1\d{10}$/.test(digits) ? digits : null;
}

export interface ProfileField {
  /** Name of the form's field. */
  readonly name: string;
  /** Name in the stored profile and in the account calls (spec section 3, "Profile"). */
  readonly attribute: string;
  /** Key of the browser's copy (spec section 3, "Locally stored on profile save"). */
  readonly copy: (typeof profileCopyKeys)[number];
  readonly label: string;
  /** How the form shows it; default `text`. */
  readonly kind?: 'text' | 'date' | 'phone';
  readonly autoComplete?: string;
  /** Maximum length of the stored value. */
  readonly maxLength: number;
  /** Whether two such fields share a row. */
  readonly half?: boolean;
  /** Message for a rejected value; a field that accepts any text needs none. */
  readonly message?: string;
}

/** The one list of the profile's fields: the form, its checks, the account service and the browser's copies read it. */
export const profileFields: readonly ProfileField[] = [
  {
    name: 'first_name',
    attribute: 'first_name',
    copy: 'firstName',
    label: 'First name',
    autoComplete: 'given-name',
    maxLength: 100,
    half: true,
  },
  {
    name: 'last_name',
    attribute: 'last_name',
    copy: 'lastName',
    label: 'Last name',
    autoComplete: 'family-name',
    maxLength: 100,
    half: true,
  },
  {
    name: 'phone',
    attribute: 'phone-number',
    copy: 'phone',
    label: 'Phone',
    kind: 'phone',
    autoComplete: 'tel',
    maxLength: 11,
    half: true,
    message: profileProblems.invalidPhone,
  },
  {
    name: 'birthday',
    attribute: 'date_of_birth',
    copy: 'birthday',
    label: 'Date of birth',
    kind: 'date',
    autoComplete: 'bday',
    maxLength: 10,
    half: true,
    message: profileProblems.invalidBirthday,
  },
  {
    name: 'address',
    attribute: 'address',
    copy: 'address',
    label: 'Address',
    autoComplete: 'address-line1',
    maxLength: 1000,
  },
];

/**
 * Copies of the profile in this browser (spec section 3), for the site's own scripts and widgets. If storage is full or blocked,
 * nothing is stored; nothing depends on the copies.
 */
export function storeProfileCopies(profile: Profile, email: string, trackingId: string): void {
  const fields = profileFields.map(({ copy, attribute }) => [copy, String(profile[attribute] ?? '')] as const);
  const others = { email, username: String(profile.first_name ?? ''), token: trackingId, trackingId };
  const stored = [...fields, ...Object.entries(others)].every(([key, value]) => writeStored(key, value));
  if (!stored) forgetProfileCopies();
}
