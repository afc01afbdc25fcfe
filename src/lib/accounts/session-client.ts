/** The account calls of a page that nobody has touched yet; apart from the others, so that a page carries no more than these. */
import { type Answer, ask } from '../http/ask.ts';
import type {
  FeatureDecisionsAnswer,
  FeatureDecisionsBody,
  IdentifiersBody,
  LogoutBody,
  MessageAnswer,
  RepairAnswer,
} from './wire.ts';

/** What the reader may see: the one question of a page load. */
export const featureDecisions = (
  question: Pick<FeatureDecisionsBody, 'featureIds' | 'path'>,
): Promise<Answer<FeatureDecisionsAnswer>> =>
  // Other tabs wait for this answer.
  ask('/zephr/feature-decisions', { body: question, patience: 8000 });

/** Ties this browser to a reader whom a newsletter's link names. The answer does not say whether there is one. */
export const recogniseMe = (email: string): Promise<Answer<MessageAnswer | null>> =>
  ask('/zephr/recognise-me', { body: { identifiers: { email_address: email } } satisfies IdentifiersBody });

/** Puts right what a payment or a sign-up has left half done; nobody looks at the answer (spec section 4). */
export const repair = (): Promise<Answer<RepairAnswer>> => ask('/api/v1/me/repair', { keepalive: true });

/** Signs out, everywhere unless told otherwise (spec section 6). */
export const logout = (where: LogoutBody['where'] = 'EVERYWHERE'): Promise<Answer<MessageAnswer | null>> =>
  ask('/blaize/logout', { body: { where } satisfies LogoutBody });
