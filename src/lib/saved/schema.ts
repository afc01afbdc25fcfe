/** What the calls about saved and read articles take and give (`/api/v1/me/saved`, `/api/v1/me/history`). */
import { z } from 'zod';
import { cardsAnswer } from '../cards/wire.ts';

/** GET /api/v1/me/saved?offset&limit: the newest first. What was withdrawn is left out. */
export const savedAnswer = cardsAnswer.extend({
  /** How many there are in all. */
  total: z.number().int(),
  /** `offset` of the next ones; `null`: these are the last. */
  next: z.number().int().nullable(),
});
export type SavedAnswer = z.infer<typeof savedAnswer>;

/** GET, PUT and DELETE /api/v1/me/saved/{id}: whether the article is saved then. */
export const savedState = z.object({ saved: z.boolean() });
export type SavedState = z.infer<typeof savedState>;

/** GET /api/v1/me/history?offset&limit */
export const historyAnswer = savedAnswer.extend({
  /** Whether a history is kept of this reader. */
  on: z.boolean(),
});
export type HistoryAnswer = z.infer<typeof historyAnswer>;

/** POST /api/v1/me/history: the article was read. */
export const readingBody = z.looseObject({ articleId: z.int().positive() });
export type ReadingBody = z.infer<typeof readingBody>;

/** What it answers: whether it was noted. */
export const readingAnswer = z.object({ noted: z.boolean() });
export type ReadingAnswer = z.infer<typeof readingAnswer>;

/** PUT /api/v1/me/history: whether a history is kept; `false` deletes what there is. Answered alike. */
export const historySetting = z.looseObject({ on: z.boolean() });
export type HistorySetting = z.infer<typeof historySetting>;
