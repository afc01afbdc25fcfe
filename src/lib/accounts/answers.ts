/** How a failure of the account service is said over the wire: a status, and a sentence for the reader (spec section 8). */
import type { Failure } from './service.ts';
import { tooManyTries } from './waiting.ts';
import type { ErrorAnswer } from './wire.ts';

/** An answer that is not written yet. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  /** Whole `Set-Cookie` values. */
  readonly cookies?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer that says no. */
export const refuse = (status: number, message: string, more: Omit<ErrorAnswer, 'message'> = {}): Answer => ({
  status,
  body: { message, ...more } satisfies ErrorAnswer,
  ...(more.retryAfter !== undefined && { headers: { 'Retry-After': String(more.retryAfter) } }),
});

export const noSession = (): Answer => refuse(401, 'Please sign in first.');

/** The accounts cannot answer: switched off, or their database is away. */
export const away = (retryAfter: number): Answer =>
  refuse(503, 'Signing in is not possible just now. Please try again in a little while.', { retryAfter });

/**
 * @param wrongCode status for a code that is not right: 401 at `/blaize/login` (vendors.md 1.1, "bad credentials"), else 400
 */
export function answerFailure(failure: Failure, wrongCode: 400 | 401 = 400): Answer {
  switch (failure.kind) {
    case 'unknown-user':
      return refuse(404, 'There is no account with this email address.');
    case 'exists':
      return refuse(409, 'A user with this email already exists.');
    case 'invalid-code':
      return refuse(wrongCode, 'Invalid code. Please check the code and try again.');
    case 'link-unknown':
      return refuse(404, 'This link is not known.');
    case 'link-expired':
      return refuse(401, 'This link has expired.');
    case 'link-used':
      return refuse(410, 'This link has been used.');
    case 'invalid-email':
      return refuse(400, failure.message, failure.suggestion === null ? {} : { suggestedEmail: failure.suggestion });
    case 'invalid':
      return refuse(400, failure.message);
    case 'limited':
      return refuse(429, tooManyTries(failure.retryAfter), { retryAfter: failure.retryAfter });
  }
}
