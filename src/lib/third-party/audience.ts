/** Tells the publisher's audience tool what type of visitor is reading; knows no vendor. */
import type { VisitorType } from './visitor-type.ts';

/** One vendor's tool. */
export interface AudienceTool {
  /** Told on each page view and whenever the type has changed; the last word counts. */
  setVisitorType(code: number): void;
}

export interface Audience {
  /** Who is reading, as soon as that is known; sends when the type is another one than was sent last. */
  visitor(type: VisitorType): void;
  /** A new route: what is known is sent again, for tools keep it for one page view. */
  route(): void;
}

export function createAudience(tool: AudienceTool, codes: Readonly<Record<VisitorType, number>>): Audience {
  let type: VisitorType | null = null;
  const send = () => {
    if (type !== null) tool.setVisitorType(codes[type]);
  };
  return {
    visitor(next) {
      if (next === type) return;
      type = next;
      send();
    },
    route: send,
  };
}
