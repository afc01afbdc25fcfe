/** What the site and the browser say to each other about corrections; browsers load it, and nothing of the model. */

import type { Correction } from '../content/model.ts';

/** Id of the notes on a story's page. */
export const correctionsId = 'corrections';

/** Where the browser asks which stories that the user has read were corrected since, and says that the user was told. */
export const seenPath = '/api/v1/me/history/corrections';

export interface UnseenStory {
  readonly id: number;
  readonly slug: string;
  readonly title: string;
  /** `clarification` where the notes that the reader wasn't told about hold no correction. */
  readonly kind: Correction['kind'];
}

/** GET: the newest first; `until` is the instant of the newest note of these stories, `null` where there is none to tell. */
export interface UnseenAnswer {
  readonly stories: readonly UnseenStory[];
  readonly until: string | null;
}

/** POST: the user was told about corrections up to this instant. */
export interface SeenBody {
  readonly until: string;
}

/** Stories that one notice names; the next notice has the next ones. */
export const mostNamed = 3;
