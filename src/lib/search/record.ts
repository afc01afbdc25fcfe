/** What a hosted engine is told of a story. Pure but for the reader that it asks. */

import { isWalled } from '../access/article.ts';
import type { Article, ContentReader, Picture } from '../content/model.ts';
import { imageUrl } from '../images/url.ts';
import { cutToBytes, plainText } from '../text.ts';

/** A type and not an interface: the vendor's type of a record takes any property. */
export type SearchRecord = {
  readonly objectID: string;
  readonly slug: string;
  readonly post_id: number;
  readonly post_title: string;
  /** Path on this site. */
  readonly image_url: string | null;
  readonly author: { readonly post_title: string };
  readonly standfirst: string;
  /** The public text: of a story behind a wall its opening, and nothing else. */
  readonly text: string;
  /** Slugs, for filters. */
  readonly sections: readonly string[];
  /** Epoch seconds, for filters and the order of equals. */
  readonly date: number;
  /** Path on this site. */
  readonly url: string;
};

/** Raised when records change: an index that holds others is filled again. */
export const recordVersion = 2;

export type Action =
  | { readonly action: 'updateObject'; readonly body: SearchRecord }
  | { readonly action: 'deleteObject'; readonly body: { readonly objectID: string } };

/**
 * Bytes of a record as JSON. The smallest plan takes 10,000 (algolia.com/doc, "Reducing record size"); what a story says further down
 * is rarely searched for.
 */
const longestRecord = 9800;
/** Bytes of the other texts, whose usual length is far below. */
const longestTitle = 600;
const longestStandfirst = 1200;

/** How search names a picture: by the picture service, for an original may say where it was taken. */
export const pictureOf = (image: Pick<Picture, 'url'> | null): string | null => image && imageUrl(image.url, 384);

export function recordOf(article: Article): SearchRecord {
  const record = (text: string): SearchRecord => ({
    objectID: String(article.id),
    slug: article.slug,
    post_id: article.id,
    post_title: cutToBytes(article.title, longestTitle),
    image_url: pictureOf(article.image),
    author: { post_title: cutToBytes(article.author?.name ?? '', longestTitle) },
    standfirst: cutToBytes(article.excerpt, longestStandfirst),
    text,
    sections: article.sections.map(({ slug }) => slug),
    date: Math.floor(Date.parse(article.date) / 1000),
    url: `/article/${article.slug}`,
  });
  const size = (text: string): number => Buffer.byteLength(JSON.stringify(record(text)));
  let text = cutToBytes(
    plainText(isWalled(article.access) ? article.openingHtml : article.bodyHtml),
    Math.max(0, longestRecord - size('')),
  );
  // Quotation marks and line breaks take more bytes in JSON than in the text.
  for (let over = size(text) - longestRecord; over > 0 && text !== ''; over = size(text) - longestRecord)
    text = cutToBytes(text, Math.max(0, Buffer.byteLength(text) - over));
  return record(text);
}

/** How a story stands now: to be written, or to be deleted because the paper has it no more. */
export function actionFor(content: ContentReader, id: number): Action {
  const [card] = content.articles({ ids: [id] }).items;
  const article = card && content.article(card.slug);
  return article && article.id === id
    ? { action: 'updateObject', body: recordOf(article) }
    : { action: 'deleteObject', body: { objectID: String(id) } };
}
