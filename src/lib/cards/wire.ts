/** An article's card in JSON responses (spec section 3, "Article card"): popular, featured, saved. */
import { z } from 'zod';
import { bylineText } from '../bylines/model.ts';
import type { Card } from '../content/model.ts';
import { imageUrl } from '../images/url.ts';

/** Largest width of a card's picture on a dense screen, pixels. */
const cardPictureWidth = 640;

const articleCard = z.object({
  id: z.number().int(),
  slug: z.string(),
  title: z.string(),
  /** `url` is a path of the picture service, because original files may contain the photographer's location. */
  image: z.object({ url: z.string(), alt: z.string() }).nullable(),
  /** The author's name; for several authors, as in a byline. */
  author: z.object({ name: z.string() }).nullable(),
  /** An addition to the specification, for the line above a headline. */
  section: z.object({ slug: z.string(), label: z.string() }).nullable(),
  /** Present while the story is covered live. */
  live: z.literal(true).optional(),
  /** First published, UTC. */
  date: z.string(),
});
export type ArticleCard = z.infer<typeof articleCard>;

/** Response of `/api/v1/articles/popular/list`, `/api/v1/articles/featured` and the user's saved articles. */
export const cardsAnswer = z.object({ articles: z.array(articleCard) });
export type CardsAnswer = z.infer<typeof cardsAnswer>;

const nameOf = (byline: Card['byline']): ArticleCard['author'] => {
  const name = bylineText(byline);
  return name === '' ? null : { name };
};

/** The public part of a card of the content store. */
export const articleCardOf = ({ id, slug, title, image, byline, section, date, isLive }: Card): ArticleCard => ({
  id,
  slug,
  title,
  date,
  image: image && { url: imageUrl(image.url, cardPictureWidth), alt: image.alt },
  author: nameOf(byline),
  section: section && { slug: section.slug, label: section.label },
  ...(isLive && { live: true }),
});
