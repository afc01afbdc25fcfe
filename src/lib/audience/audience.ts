/** Tells the publisher's audience tool what type of visitor is reading; knows no vendor. */
import type { Session } from '../accounts/session.ts';
import { type VisitorType, visitorType } from './visitor-type.ts';

/** One vendor's tool. */
export interface AudienceTool {
  /** Told on each page view and whenever the type has changed; the last word counts. */
  setVisitorType(code: number): void;
}

export interface Audience {
  /** The session as it is now; sends when the type is another one than was sent last. */
  session(session: Session): void;
  /** A new route: what is known is sent again, for tools keep it for one page view. */
  route(): void;
}

export function createAudience(tool: AudienceTool, codes: Readonly<Record<VisitorType, number>>): Audience {
  let type: VisitorType | null = null;
  const send = () => {
    if (type !== null) tool.setVisitorType(codes[type]);
  };
  return {
    session(session) {
      const next = visitorType(session);
      if (next === type) return;
      type = next;
      send();
    },
    route: send,
  };
}
