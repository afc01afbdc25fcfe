/** Response of `GET /api/v1/articles/search` (spec section 3, "Search hit"), the same for all engines. */
import { z } from 'zod';

export const searchHit = z.object({
  slug: z.string(),
  post_id: z.number().int(),
  post_title: z.string(),
  /** Path of the picture service: originals may say where they were taken. */
  image_url: z.string().nullable(),
  /** The author's name, `''` where there is none. */
  author: z.object({ post_title: z.string() }),

  // Beyond the specification.
  /** Public text around a match, in parts: those with `match` are highlighted. Plain text. */
  snippet: z.array(z.object({ text: z.string(), match: z.boolean() })),
  section: z.object({ slug: z.string(), label: z.string() }).nullable(),
  /** First published, UTC. */
  date: z.string(),
  /** Path on this site. */
  url: z.string(),
});
export type SearchHitAnswer = z.infer<typeof searchHit>;

export const searchAnswer = z.object({
  /** Number of all results. */
  nbHits: z.number().int(),
  hits: z.array(searchHit),

  // Beyond the specification.
  /** From 0. */
  page: z.number().int(),
  nbPages: z.number().int(),
  hitsPerPage: z.number().int(),
  query: z.string(),
  /** Words that were searched for beside the typed ones, because these had too few results. */
  instead: z.array(z.string()),
});
export type SearchAnswer = z.infer<typeof searchAnswer>;
