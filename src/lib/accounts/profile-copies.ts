/**
 * Keys under which a browser keeps copies of a user's profile (spec section 3). A module of its own: pages with a session load it to remove the
 * copies, and the profile's form to write them.
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
