/**
 * Keys under which a browser keeps copies of a reader's profile (spec section 3). Apart from profile-fields.ts, because every page with a
 * session loads this file to remove the copies. A field's `copy` has one of these keys, which its type says.
 */
export const profileCopyKeys = ['firstName', 'lastName', 'phone', 'birthday', 'address'] as const;

/** Copies that are no fields: the first name is also the username, the tracking id also the token. */
const otherCopies = ['email', 'username', 'token', 'trackingId'];

/** Removes the copies when the reader leaves: the browser's next user may be another. */
export function forgetProfileCopies(): void {
  try {
    for (const key of [...profileCopyKeys, ...otherCopies]) localStorage.removeItem(key);
  } catch {
    // What cannot be removed could not be written either.
  }
}
