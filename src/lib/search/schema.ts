/** What `GET /api/v1/articles/search` answers with (spec section 3, "Search hit"), whichever engine has searched. */
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
  /** Public text around what was found, in parts: `match` is to be highlighted. Plain text. */
  snippet: z.array(z.object({ text: z.string(), match: z.boolean() })),
  section: z.object({ slug: z.string(), label: z.string() }).nullable(),
  /** First published, UTC. */
  date: z.string(),
  /** Path on this site. */
  url: z.string(),
});
export type SearchHitAnswer = z.infer<typeof searchHit>;

export const searchAnswer = z.object({
  /** How many stories there are in all, with the same filter. */
  nbHits: z.number().int(),
  hits: z.array(searchHit),

  // Beyond the specification.
  /** From 0. */
  page: z.number().int(),
  nbPages: z.number().int(),
  hitsPerPage: z.number().int(),
  query: z.string(),
  /** Words that were looked for beside those that were typed, because too little was found with these. */
  instead: z.array(z.string()),
});
export type SearchAnswer = z.infer<typeof searchAnswer>;
