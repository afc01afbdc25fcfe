/**
 * Whether a message looks as if no person had written it. It is kept all the same, and its sender is told the same as everybody: only
 * it is not mailed. Better a letter from the shop window let through than a reader's question lost.
 */
import type { SupportFields } from './form.ts';

/** Why a message is held; fixed words, they stand in the database. */
export type Held = 'trap' | 'hasty' | 'links';

export interface Signs {
  /** What stood in the field that people do not see. */
  readonly trap: string;
  /** When its form was drawn, epoch milliseconds; `null` where that is not known (another client, or a page of yesterday). */
  readonly drawn: number | null;
  /** Whether it comes from somebody who is signed in. */
  readonly known: boolean;
}

/** Nobody reads the form and fills in four fields in less, milliseconds. */
const quickest = 3000;
/** Links in a message: of somebody whose form we drew, and of anybody else. */
const mostLinks = { drawn: 4, other: 1 };

/** @param now epoch milliseconds @returns `null`: it is mailed */
export function held(fields: SupportFields, { trap, drawn, known }: Signs, now: number): Held | null {
  if (trap !== '') return 'trap';
  // Whoever is signed in has shown to read mail, and is known by the limits.
  if (known) return null;
  if (drawn !== null && now - drawn < quickest) return 'hasty';
  const links = linksIn(fields.message);
  if (linksIn(fields.name) > 0 || links > (drawn === null ? mostLinks.other : mostLinks.drawn)) return 'links';
  return null;
}

const linksIn = (text: string): number => text.match(/https?:\/\/|\bwww\.|\[url|<a\s/giu)?.length ?? 0;
