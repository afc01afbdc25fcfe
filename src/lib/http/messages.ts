/** Messages that every form may show; those in spec section 8 are word for word. */
export const common = {
  wrong: 'Something went wrong. Please try again.',
  offline: 'We couldn’t reach the server. Check your connection and try again.',
  limited: 'Too many tries. Please wait a little and try again.',
} as const;

interface FailureMessages {
  readonly failed: string;
  readonly offline?: string;
  readonly signedOut?: string;
}

/**
 * The message about a call that failed.
 *
 * @param status of the response; 0 when there was none
 * @param serverText the server's own message, if it is for this form
 */
export function failureMessage(status: number, texts: FailureMessages, serverText: string | null = null): string {
  if (status === 0) return texts.offline ?? common.offline;
  if (status === 401 && texts.signedOut !== undefined) return texts.signedOut;
  return serverText ?? texts.failed;
}
