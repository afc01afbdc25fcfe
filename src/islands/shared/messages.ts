/** Sentences of the sign-in screens; those of spec section 8 word for word. */
import type { Refused } from '../../lib/http/ask.ts';
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

/** What to say about a call that was refused. Over a limit the server's own words count, and a suggestion goes before others. */
export function wordsFor(refused: Refused, otherwise: string = messages.wrong): string {
  if (refused.status === 0) return messages.offline;
  if (refused.status === 429) return refused.message ?? messages.limited;
  return refused.suggestedEmail === null ? otherwise : messages.suggestion(refused.suggestedEmail);
}
