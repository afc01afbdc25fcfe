/** Saved articles and the reading history: the service as routes see it, a page of a list, the bodies of the calls, messages and tables. */
import { z } from 'zod';
import { cardsAnswer } from '../cards/wire.ts';
import type { Card, Correction, CorrectionMark } from '../content/model.ts';
import type { ContentReader } from '../content/reader.ts';
import type { DeclaredData } from '../personal-data.ts';

export interface SavedStoriesRules {
  /** Articles that one reader may save. */
  readonly saved: number;
  /** Days that a reading is kept. */
  readonly historyDays: number;
  /** Most readings of one reader that are stored; the newest are kept. */
  readonly history: number;
}

/** An article that a user has saved or read; the content store knows whether it is still published. */
export interface ListedArticle {
  readonly articleId: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** A story with notes that a user wasn't notified of; `at` is the instant of the newest. */
export interface UnseenCorrection extends ListedArticle {
  /** `clarification` where none of these notes is a correction. */
  readonly kind: Correction['kind'];
}

export interface SavedStories {
  readonly rules: SavedStoriesRules;
  /** `full`: the limit is reached. Saving again changes nothing. */
  save(userId: string, articleId: number): Promise<'saved' | 'full'>;
  unsave(userId: string, articleId: number): Promise<void>;
  isSaved(userId: string, articleId: number): Promise<boolean>;
  /** The newest first. */
  saved(userId: string): Promise<readonly ListedArticle[]>;
  /**
   * Records a reading; an article that was read before moves to the front. @returns `false` if the user has turned off the history
   */
  read(userId: string, articleId: number): Promise<boolean>;
  /** The newest first. */
  history(userId: string): Promise<{ readonly on: boolean; readonly items: readonly ListedArticle[] }>;
  forgetRead(userId: string, articleId: number): Promise<void>;
  clearHistory(userId: string): Promise<void>;
  /** Turns the history on or off; off deletes it. */
  keepHistory(userId: string, on: boolean): Promise<void>;
  /**
   * Stories of the history with notes newer than both the reading and the last notification, newest first.
   *
   * @param corrected ids with the story's notes, newest first
   */
  unseen(
    userId: string,
    corrected: ReadonlyMap<number, readonly CorrectionMark[]>,
  ): Promise<readonly UnseenCorrection[]>;
  /** Records that the user was notified of all corrections up to an instant, in epoch milliseconds. */
  markCorrectionsSeen(userId: string, until: number): Promise<void>;
  readonly personalData: DeclaredData;
}

export interface SavedCard extends Card {
  /** When it was saved or read, epoch milliseconds. */
  readonly at: number;
}

export interface SavedPage {
  readonly items: readonly SavedCard[];
  /** Published articles of the list. */
  readonly total: number;
}

/** One page of a list, in its order. */
export function savedPage(
  content: Pick<ContentReader, 'articles'>,
  listed: readonly ListedArticle[],
  { offset, limit }: { readonly offset: number; readonly limit: number },
): SavedPage {
  if (listed.length === 0) return { items: [], total: 0 };
  const ids = listed.map(({ articleId }) => articleId);
  const when = new Map(listed.map(({ articleId, at }) => [articleId, at]));
  const { items } = content.articles({ ids, limit: ids.length });
  const page = items.slice(offset, offset + limit);
  return { items: page.map((card) => ({ ...card, at: when.get(card.id) ?? 0 })), total: items.length };
}

/** GET /api/v1/me/saved?offset&limit: newest first, without withdrawn articles. */
export const savedAnswer = cardsAnswer.extend({
  /** Total number of articles. */
  total: z.number().int(),
  /** `offset` of the next page; `null`: this is the last. */
  next: z.number().int().nullable(),
});
export type SavedAnswer = z.infer<typeof savedAnswer>;

/** GET, PUT and DELETE /api/v1/me/saved/{id}: whether the article is saved after the call. */
export const savedState = z.object({ saved: z.boolean() });
export type SavedState = z.infer<typeof savedState>;

/** GET /api/v1/me/history?offset&limit */
export const historyAnswer = savedAnswer.extend({
  /** Whether the history is on. */
  on: z.boolean(),
});
export type HistoryAnswer = z.infer<typeof historyAnswer>;

/** POST /api/v1/me/history: the article was read. */
export const readingBody = z.looseObject({ articleId: z.int().positive() });
export type ReadingBody = z.infer<typeof readingBody>;

/** Its response: whether the reading was recorded. */
export const readingAnswer = z.object({ noted: z.boolean() });
export type ReadingAnswer = z.infer<typeof readingAnswer>;

/** PUT /api/v1/me/history turns the history on or off; off deletes it. The response is the same. */
export const historySetting = z.looseObject({ on: z.boolean() });
export type HistorySetting = z.infer<typeof historySetting>;

/** Messages about refusals. */
export const savedMessages = {
  noArticle: 'We couldn’t find that article.',
  full: (most: number): string =>
    `You’ve saved ${most} stories, the most there’s room for. Remove one to save another.`,
} as const;

/** A row of its tables, made by `src/server/migrations/reading.ts`. */
interface KeptTable {
  user_id: string;
  article_id: number;
  /** When it was saved, or read last, epoch milliseconds. */
  at: number;
}

export interface SavedStoriesTables {
  saved_articles: KeptTable;
  /** Readings older than the history's days are deleted. */
  reading_history: KeptTable;
  /** Readers who have turned off the history. */
  history_refusals: { user_id: string; at: number };
  /** The newest correction that a reader was notified of. */
  corrections_told: { user_id: string; at: number };
}
