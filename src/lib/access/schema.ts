/** Bodies and answers of the access routes other than Zephr's. */
import { z } from 'zod';

/** POST /api/v1/gifts: gives an article away. */
export const giftBody = z.looseObject({ articleId: z.int().positive() });
export type GiftBody = z.infer<typeof giftBody>;

/** 201; 401 without a session, 403 without a subscription, 404 without such an article, 409 for an article open to all, 429. */
export interface GiftAnswer {
  /** The link to hand on. */
  readonly url: string;
  /** ISO 8601. */
  readonly expires: string;
  /** Browsers that it opens the article for. */
  readonly readers: number;
  /** Links left within these thirty days. */
  readonly left: number;
  /** Links of these thirty days in all. */
  readonly most: number;
}

/** GET /api/v1/gifts: 200; 401 and 403 as above. */
export type GiftsLeft = Pick<GiftAnswer, 'left' | 'most'>;
