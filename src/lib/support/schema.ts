/** The support form (spec sections 3, 5 and 8): its fields, checks, messages and table. The page, the island and the route use these. */
import { publication } from '../../publication.ts';
import type { Fields, Values } from '../http/form-fields.ts';
import { isAddress } from '../mail/model.ts';

export type SupportField = 'name' | 'email' | 'phone' | 'message';
export type SupportFields = Values<SupportField>;

export const supportPath = '/api/forms/support';
/** The page of the form, for readers without JavaScript or an account. */
export const contactPage = '/contact';

/** The same check as the outbox, so that the message can be sent. */
const emailProblem = (email: string): string | null =>
  isAddress(email) && /@[^@]+\.[^@.]+$/u.test(email)
    ? null
    : 'Please enter a valid email address, such as name@example.com.';

function phoneProblem(phone: string): string | null {
  const digits = phone.replace(/\D/gu, '').length;
  return digits < 7 || digits > 15 || !/^[\d\s().+x/-]+$/iu.test(phone) ? 'Invalid phone number' : null;
}

export const supportFields: Fields<SupportField> = {
  name: { label: 'Name', autoComplete: 'name', longest: 200, missing: 'Please enter your name.' },
  email: {
    label: 'Email',
    kind: 'email',
    autoComplete: 'email',
    half: true,
    longest: 254,
    missing: 'Please enter your email address.',
    check: emailProblem,
  },
  phone: {
    label: 'Phone',
    kind: 'tel',
    autoComplete: 'tel',
    half: true,
    longest: 40,
    missing: 'Please enter a phone number.',
    check: phoneProblem,
  },
  message: { label: 'Message', kind: 'lines', longest: 5000, missing: 'Please tell us how we can help.' },
};

/** A link that calls a number. */
export const phoneLink = (phone: string): string => `tel:${phone.replace(/[^+\d]/g, '')}`;

/** "9 a.m.", "noon". @param hour of the day, from 0 to 24 */
const hourName = (hour: number): string =>
  hour === 12 ? 'noon' : hour % 24 === 0 ? 'midnight' : `${hour % 12 || 12} ${hour < 12 ? 'a.m.' : 'p.m.'}`;

const [opens, closes] = [hourName(publication.support.opens), hourName(publication.support.closes)];
const zone = publication.timeZoneLabel;

/** "weekdays 9 a.m. to 5 p.m. ET". */
export const supportHoursWords = `weekdays ${opens} to ${closes} ${zone}`;

/** About the whole form. `failed` is the specification's (section 8). */
export const supportMessages = {
  failed: 'There was an error submitting your message. Please try again.',
  label: 'Premium Support',
  heading: 'How can we help?',
  hours: `Online ${supportHoursWords}`,
  sent: 'Thank you. We’ve received your message, and a person will answer it.',
} as const;

/** Whether support is available. */
export const supportHoursMessages = {
  open: `We’re online now, until ${closes} ${zone}.`,
  opensToday: `We’re offline until ${opens} ${zone} today.`,
  /** @param when `tomorrow` or `Monday` */
  opens: (when: string): string => `We’re offline until ${when} at ${opens} ${zone}.`,
} as const;

/** Made by `src/server/migrations/mail.ts`. */
export interface SupportMessagesTable {
  id: string;
  created: number;
  /** Account of the sender; `null` when not signed in. */
  user_id: string | null;
  name: string;
  /** In its normal form. */
  email: string;
  phone: string;
  message: string;
  /** Why it was not mailed, one of `HoldReason`; `null` when it was. */
  held: string | null;
}

export interface SupportTables {
  support_messages: SupportMessagesTable;
}
