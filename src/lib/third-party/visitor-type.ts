/** Types of visitor for the audience tool (spec sections 3 and 4). */
import type { Session } from '../accounts/session.ts';

export type VisitorType = 'anonymous' | 'registered' | 'subscriber' | 'reader' | 'member' | 'founder';

/**
 * The type of a session: founder before member before reader, otherwise registered; `null` while nothing is known, and
 * nothing is to be sent. `subscriber` has a code and is never assigned (spec section 4).
 */
export function visitorType(session: Session): VisitorType | null {
  if (session.status === 'loading') return null;
  if (!session.isAuthenticated) return 'anonymous';
  if (session.isFounder) return 'founder';
  if (session.isMember) return 'member';
  return session.isReader ? 'reader' : 'registered';
}
