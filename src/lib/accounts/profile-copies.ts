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
