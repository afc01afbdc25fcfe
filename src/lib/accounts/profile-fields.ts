/**
 * The fields of a reader's profile: the one list of what the form asks for. The form, its checks, the account service and the browser's
 * copies read it.
 */
import { forgetProfileCopies, type profileCopyKeys } from './profile-copies.ts';
import type { Profile } from './service.ts';

export interface ProfileField {
  /** Name of the form's field. */
  readonly name: string;
  /** Name in the stored profile and in the account calls (spec section 3, "Profile"). */
  readonly attribute: string;
  /** Key of the browser's copy (spec section 3, "Locally stored on profile save"). */
  readonly copy: (typeof profileCopyKeys)[number];
  readonly label: string;
  /** What the form shows; `text` when left out. */
  readonly kind?: 'text' | 'date' | 'phone';
  readonly autoComplete?: string;
  /** Longest value as it is stored. */
  readonly maxLength: number;
  /** Whether two such fields stand in one row. */
  readonly half?: boolean;
  /** What is said about a value that is refused; what takes any text needs none. */
  readonly message?: string;
}

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
    message: 'Invalid phone number',
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
    message: 'Invalid date of birth',
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
 * Copies of the profile in this browser (spec section 3), for the paper's own scripts and widgets. Storage that is full or blocked takes
 * none; nothing depends on them.
 */
export function storeProfileCopies(profile: Profile, email: string, trackingId: string): void {
  try {
    for (const { copy, attribute } of profileFields) localStorage.setItem(copy, String(profile[attribute] ?? ''));
    const others = { email, username: String(profile.first_name ?? ''), token: trackingId, trackingId };
    for (const [key, value] of Object.entries(others)) localStorage.setItem(key, value);
  } catch {
    forgetProfileCopies();
  }
}
