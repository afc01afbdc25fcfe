/** Messages of forms that take an email address or place an order; those of spec section 8 word for word. */
import type { VerificationAnswer } from '../../lib/accounts/schema.ts';
import type { Refused, Reply } from '../../lib/http/ask.ts';
import { common } from '../../lib/http/messages.ts';

export const messages = {
  ...common,
  invalidCode: 'Invalid code. Please check the code and try again.',
  codeLength: 'Code must be six characters.',
  createFailed: 'Failed to create user',
  emailMissing: 'Please enter your email address.',
  emailInvalid: 'Please enter a valid email address, such as name@example.com.',
  socialClosed: 'The window was closed before you were signed in.',
  socialFailed: 'That did not work. Please try again, or use your email address.',
  suggestion: (email: string) => `Did you mean ${email}?`,
} as const;

/**
 * The message for a refused call whose answer may suggest another address, which then goes before other messages; for a rate limit it is
 * the server's own. Forms with their own texts use `failureMessage` (lib/http/messages.ts).
 *
 * @param otherwise for any other refusal
 */
export function refusalMessage(refused: Refused, otherwise: string = messages.wrong): string {
  if (refused.status === 0) return messages.offline;
  if (refused.status === 429) return refused.message ?? messages.limited;
  return refused.suggestedEmail === null ? otherwise : messages.suggestion(refused.suggestedEmail);
}

/** Text on both sides of an at sign, with a dot in the second; the verifier checks the rest. */
const shape = /^[^\s@]+@[^\s@]+\.[^\s@.]+$/u;

/**
 * Checks an email address before a form is sent (spec section 5). A verifier that doesn't respond never rejects an address.
 *
 * @returns the message for the field; `null`: the address can be used
 */
export async function emailProblem(
  email: string,
  verify: (email: string) => Promise<Reply<VerificationAnswer>>,
): Promise<string | null> {
  if (email === '') return messages.emailMissing;
  if (!shape.test(email)) return messages.emailInvalid;
  const answer = await verify(email);
  if (!answer.ok) {
    if (answer.status === 429) return refusalMessage(answer);
    return answer.status === 400 || answer.status === 422 ? (answer.message ?? messages.emailInvalid) : null;
  }
  // A gateway may have sent the response, in any form.
  if (answer.value?.verified !== false) return null;
  const { suggestedEmail, message } = answer.value;
  return suggestedEmail ? messages.suggestion(suggestedEmail) : message || messages.emailInvalid;
}
