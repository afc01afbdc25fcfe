/** Whether an address can be used: what every form that asks for one does first (spec section 5). */
import type { VerificationAnswer } from '../../lib/accounts/schema.ts';
import type { Answer } from '../../lib/http/ask.ts';
import { messages, wordsFor } from './messages.ts';

/** Something between two ends of an at sign, with a dot in the second: the rest is the verifier's to know. */
const shape = /^[^\s@]+@[^\s@]+\.[^\s@.]+$/u;

/**
 * @returns what to say beside the field, or `null` when nothing speaks against the address; a verifier that does not answer
 * never does
 */
export async function complaintAbout(
  email: string,
  verify: (email: string) => Promise<Answer<VerificationAnswer>>,
): Promise<string | null> {
  if (email === '') return messages.emailMissing;
  if (!shape.test(email)) return messages.emailInvalid;
  const answer = await verify(email);
  if (!answer.ok) {
    if (answer.status === 429) return wordsFor(answer);
    return answer.status === 400 || answer.status === 422 ? (answer.message ?? messages.emailInvalid) : null;
  }
  // A gateway may answer with something else altogether.
  if (answer.value?.verified !== false) return null;
  const { suggestedEmail, message } = answer.value;
  return suggestedEmail ? messages.suggestion(suggestedEmail) : message || messages.emailInvalid;
}
