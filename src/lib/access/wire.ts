/** What the calls of access take and give beside Zephr's. */
import { z } from 'zod';

/** POST /api/v1/gifts: gives an article away. */
export const giftBody = z.looseObject({ articleId: z.int().positive() });
export type GiftBody = z.infer<typeof giftBody>;

/** 201; 401 without a session, 403 for who does not pay, 404 for no such article, 409 for one that all may read, 429. */
export interface GiftAnswer {
  /** The link to hand on. */
  readonly url: string;
  /** ISO 8601. */
  readonly expires: string;
  /** Browsers that it opens the article for. */
  readonly readers: number;
  /** Links that are left within these thirty days. */
  readonly left: number;
  /** Links of these thirty days in all. */
  readonly most: number;
}

/** GET /api/v1/gifts: 200; 401 and 403 as above. */
export type GiftsLeft = Pick<GiftAnswer, 'left' | 'most'>;
