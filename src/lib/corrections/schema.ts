/** What the site and the browser exchange about corrections; browsers load this file and not the model. */

import type { Correction } from '../content/model.ts';

/** Id of the notes on a story's page. */
export const correctionsId = 'corrections';

/**
 * Path at which the browser asks which stories were corrected since the user read them, and reports that the user was notified.
 */
export const seenPath = '/api/v1/me/history/corrections';

export interface UnseenStory {
  readonly id: number;
  readonly slug: string;
  readonly title: string;
  /** `clarification` if none of the notes that the reader hasn't been notified of is a correction. */
  readonly kind: Correction['kind'];
}

/** GET: the newest first; `until` is the instant of the newest note of these stories, `null` where there is none to show. */
export interface UnseenAnswer {
  readonly stories: readonly UnseenStory[];
  readonly until: string | null;
}

/** POST: the user was notified of corrections up to this instant. */
export interface SeenBody {
  readonly until: string;
}

/** Stories that one notice names; the next notice has the next ones. */
export const mostNamed = 3;
