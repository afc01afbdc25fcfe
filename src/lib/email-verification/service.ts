/** Whether an e-mail address is one that a letter can reach (spec sections 3, 5 and 7, `POST /api/verification`). */

/** The answer of `POST /api/verification`, as it goes over the wire. */
export interface Verification {
  readonly verified: boolean;
  /** What was probably meant, a whole address; `null` when nothing better is known. */
  readonly suggestedEmail: string | null;
  /** What to show beside the field; empty when there is nothing to say. */
  readonly message: string;
}

export interface EmailVerification {
  /**
   * Never throws and never takes longer than a reader waits (about 2 seconds): what cannot be asked counts as verified.
   *
   * @param email as it was typed; white space around it does not matter
   */
  verify(email: string): Promise<Verification>;
}
