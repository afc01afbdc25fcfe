/** Access calls of the browser. They return values and never throw. */
import { ask, type Reply } from '../http/ask.ts';

/** POST /api/v1/gifts: gives an article away. */
export interface GiftBody {
  readonly articleId: number;
}

/**
 * 201; 401 without a session, 403 without a subscription, 404 if there is no such article, 409 if the article is open to
 * everyone, 429.
 */
export interface GiftAnswer {
  /** The link to pass on. */
  readonly url: string;
  /** ISO 8601. */
  readonly expires: string;
  /** Number of browsers for which the link opens the article. */
  readonly readers: number;
  /** Links left in the current thirty days. */
  readonly left: number;
  /** Links allowed in thirty days. */
  readonly most: number;
}

/** GET /api/v1/gifts: 200; 401 and 403 as above. */
export type GiftsLeft = Pick<GiftAnswer, 'left' | 'most'>;

/** A decision by the name of its feature (answers.ts lists them); `null` when the call failed. */
export async function fetchDecision(sdkFeatureSlug: string, path: string): Promise<string | null> {
  const answer = await ask<{ outputValue?: unknown } | null>('/zephr/decision-engine', {
    body: { sdkFeatureSlug, path },
  });
  return answer.ok && typeof answer.value?.outputValue === 'string' ? answer.value.outputValue : null;
}

/** Gives an article away. */
export const giveArticle = (articleId: number): Promise<Reply<GiftAnswer>> =>
  ask('/api/v1/gifts', { body: { articleId } satisfies GiftBody });

/** How many articles the reader can still give away. */
export const giftsLeft = (): Promise<Reply<GiftsLeft>> => ask('/api/v1/gifts');
