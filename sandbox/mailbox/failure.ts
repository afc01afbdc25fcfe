/** The failures of the mail server, which tests and the mailbox's page choose. */

export const failureModes = {
  none: 'Messages are accepted',
  refuse: 'Connections are refused',
  auth: 'The password is refused (535)',
  temporary: 'Temporary failure (451)',
  permanent: 'Permanent failure (550)',
  quota: 'The daily quota is used up (550 5.4.5)',
  policy: 'Too many messages at once (554 5.7.1)',
  slow: 'Slow answers',
  drop: 'The connection closes during a message',
  'lost-answer': 'The message is accepted, but the response is lost',
} as const;

export type FailureMode = keyof typeof failureModes;

export interface Failure {
  readonly mode: FailureMode;
  /**
   * Affects only messages to addresses that contain this text; refused connections and rejected passwords affect everything.
   */
  readonly to?: string | undefined;
  /** How many messages are affected before the server works again; without it, all of them. Not for `refuse`. */
  readonly times?: number | undefined;
  /** For `slow`, milliseconds (default: 3000). */
  readonly delay?: number | undefined;
}

/** Reads a failure that the page or a test has sent; returns an error message if it is invalid. */
export function readFailure(value: unknown): Failure | string {
  if (typeof value !== 'object' || value === null) return 'Send an object with a "mode".';
  const { mode, to, times, delay } = value as Record<string, unknown>;
  if (typeof mode !== 'string' || !Object.hasOwn(failureModes, mode)) {
    return `"mode" is one of ${Object.keys(failureModes).join(', ')}.`;
  }
  if (to !== undefined && typeof to !== 'string') return '"to" is a part of an address.';
  for (const [name, number] of Object.entries({ times, delay })) {
    if (number !== undefined && !(Number.isSafeInteger(number) && (number as number) > 0)) {
      return `"${name}" is a whole number above 0.`;
    }
  }
  return {
    mode: mode as FailureMode,
    to: to?.toLowerCase() || undefined,
    times: times as number | undefined,
    delay: delay as number | undefined,
  };
}
