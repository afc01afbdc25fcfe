/** The calls of access that the browser makes. Values, never errors. */
import { type Answer, ask } from '../http/ask.ts';
import type { GiftAnswer, GiftBody, GiftsLeft } from './schema.ts';

/** A decision by the name of its feature (answers.ts lists them); `null` when there is none to be had. */
export async function decision(sdkFeatureSlug: string, path: string): Promise<string | null> {
  const answer = await ask<{ outputValue?: unknown } | null>('/zephr/decision-engine', {
    body: { sdkFeatureSlug, path },
  });
  return answer.ok && typeof answer.value?.outputValue === 'string' ? answer.value.outputValue : null;
}

/** Gives an article away. */
export const giveArticle = (articleId: number): Promise<Answer<GiftAnswer>> =>
  ask('/api/v1/gifts', { body: { articleId } satisfies GiftBody });

/** How many articles the reader can still give away. */
export const giftsLeft = (): Promise<Answer<GiftsLeft>> => ask('/api/v1/gifts');
