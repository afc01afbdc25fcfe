/** The support form (spec sections 3 and 5): its fields, all four required, and what is wrong with them. */
import { isAddress } from '../mail/address.ts';
import { supportInvalid } from './messages.ts';

export interface SupportFields {
  readonly name: string;
  readonly email: string;
  readonly phone: string;
  readonly message: string;
}
export type SupportField = keyof SupportFields;
export type SupportErrors = Readonly<Partial<Record<SupportField, string>>>;

/** In the order in which they stand. */
export const supportFields = ['name', 'email', 'phone', 'message'] as const satisfies readonly SupportField[];

/** Longest values, letters. */
export const longest: Readonly<Record<SupportField, number>> = { name: 200, email: 254, phone: 40, message: 5000 };

/** Beside the four: a field that people do not see, and the time at which the form was drawn, sealed. */
export const hiddenFields = { trap: 'website', stamp: 'stamp' } as const;

export const supportPath = '/api/forms/support';
/** The page of the form, for whoever has no script or no account. */
export const contactPage = '/contact';

/** What was sent, in order: one line each but for the message, whose lines stay. What is no text is empty. */
export function supportFrom(read: (name: SupportField) => unknown): SupportFields {
  const text = (name: SupportField): string => {
    const value = read(name);
    return typeof value === 'string' ? value : '';
  };
  const line = (name: SupportField): string =>
    text(name)
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .trim();
  // Of the signs that are no letters only the end of a line and the tab are kept.
  const message = text('message')
    .replace(/\r\n?/gu, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '')
    .trim();
  return { name: line('name'), email: line('email'), phone: line('phone'), message };
}

/** What is wrong, by field; empty when nothing is. */
export function checkSupport(fields: SupportFields): SupportErrors {
  const errors: Partial<Record<SupportField, string>> = {};
  for (const name of supportFields) {
    if (fields[name] === '') errors[name] = supportInvalid[name];
    else if (fields[name].length > longest[name]) errors[name] = supportInvalid.tooLong(longest[name]);
  }
  // The same check as the mail's, which would refuse the message later.
  if (!errors.email && !(isAddress(fields.email) && /@[^@]+\.[^@.]+$/u.test(fields.email))) {
    errors.email = supportInvalid.badEmail;
  }
  const digits = fields.phone.replace(/\D/gu, '').length;
  if (!errors.phone && (digits < 7 || digits > 15 || !/^[\d\s().+x/-]+$/iu.test(fields.phone))) {
    errors.phone = supportInvalid.badPhone;
  }
  return errors;
}
