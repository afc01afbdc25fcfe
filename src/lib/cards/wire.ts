/** An article's card in JSON responses (spec section 3, "Article card"): popular, featured, saved. */
import { z } from 'zod';
import type { Card } from '../content/model.ts';
import { imageUrl } from '../images/url.ts';

/** Largest width of a card's picture on a dense screen, pixels. */
const cardPictureWidth = 640;

export const articleCard = z.object({
  id: z.number().int(),
  slug: z.string(),
  title: z.string(),
  /** `url` is a path of the picture service, because originals may hold their location. */
  image: z.object({ url: z.string(), alt: z.string() }).nullable(),
  author: z.object({ name: z.string() }).nullable(),
  /** Beyond the specification, for the line above a headline. */
  section: z.object({ slug: z.string(), label: z.string() }).nullable(),
  /** First published, UTC. */
  date: z.string(),
});
export type ArticleCard = z.infer<typeof articleCard>;

/** Response of `/api/v1/articles/popular/list`, `/api/v1/articles/featured` and the user's saved articles. */
export const cardsAnswer = z.object({ articles: z.array(articleCard) });
export type CardsAnswer = z.infer<typeof cardsAnswer>;

/** The public part of a card of the content store. */
export const articleCardOf = ({ id, slug, title, image, author, section, date }: Card): ArticleCard => ({
  id,
  slug,
  title,
  date,
  image: image && { url: imageUrl(image.url, cardPictureWidth), alt: image.alt },
  author: author && { name: author.name },
  section: section && { slug: section.slug, label: section.label },
});
