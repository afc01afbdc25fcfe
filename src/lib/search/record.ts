/** An article as a record of a hosted engine. */
import { isRestrictedLevel } from '../access/model.ts';
import { bylineText } from '../bylines/model.ts';
import type { Article, Picture } from '../content/model.ts';
import type { ContentReader } from '../content/reader.ts';
import { imageUrl } from '../images/url.ts';
import { entriesText } from '../live/model.ts';
import { cutToBytes, plainText } from '../text.ts';

/** A type alias instead of an interface, because the vendor's type of a record allows any property. */
export type SearchRecord = {
  readonly objectID: string;
  readonly slug: string;
  readonly post_id: number;
  readonly post_title: string;
  /** Path on this site. */
  readonly image_url: string | null;
  readonly author: { readonly post_title: string };
  readonly standfirst: string;
  /** The public text, with the newest entries of a live story; for a restricted article only its opening. */
  readonly text: string;
  /** Slugs, for filters. */
  readonly sections: readonly string[];
  /** Epoch seconds, for filters and the order of equals. */
  readonly date: number;
  /** Path on this site. */
  readonly url: string;
};

/** Increased when records change; an index with older records is filled again. */
export const recordVersion = 3;

export type Action =
  | { readonly action: 'updateObject'; readonly body: SearchRecord }
  | { readonly action: 'deleteObject'; readonly body: { readonly objectID: string } };

/**
 * Most bytes of a record as JSON. The smallest plan accepts 10,000 (algolia.com/doc, "Reducing record size"); searches rarely match
 * only the end of a long article.
 */
const longestRecord = 9800;
/** Most bytes of each other text, which is usually much shorter. */
const longestTitle = 600;
const longestStandfirst = 1200;

/** Address of a picture in results: the picture service's, because an original may contain its location. */
export const pictureOf = (image: Pick<Picture, 'url'> | null): string | null => image && imageUrl(image.url, 384);

/**
 * @param entries text of a live story's entries (`lib/live/model.ts`), the most important first; they get at least half of the space
 */
export function recordOf(article: Article, entries = ''): SearchRecord {
  const record = (text: string): SearchRecord => ({
    objectID: String(article.id),
    slug: article.slug,
    post_id: article.id,
    post_title: cutToBytes(article.title, longestTitle),
    image_url: pictureOf(article.image),
    author: { post_title: cutToBytes(bylineText(article.byline), longestTitle) },
    standfirst: cutToBytes(article.excerpt, longestStandfirst),
    text,
    sections: article.sections.map(({ slug }) => slug),
    date: Math.floor(Date.parse(article.date) / 1000),
    url: `/article/${article.slug}`,
  });
  const room = Math.max(0, longestRecord - Buffer.byteLength(JSON.stringify(record(''))));
  return record(textOf(article, isRestrictedLevel(article.access) ? '' : entries, room));
}

/** @param room bytes of JSON */
function textOf({ access, openingHtml, bodyHtml }: Article, entries: string, room: number): string {
  const own = plainText(isRestrictedLevel(access) ? openingHtml : bodyHtml);
  if (entries === '') return cutToJson(own, room);
  const left = Math.max(Math.floor(room / 2), room - jsonBytes(`\n${entries}`));
  return cutToJson(`${cutToJson(own, left)}\n${entries}`, room);
}

/** Bytes of a text as JSON, where quotation marks and line breaks take more. */
const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

function cutToJson(text: string, most: number): string {
  let cut = cutToBytes(text, most);
  for (let over = jsonBytes(cut) - most; over > 0 && cut !== ''; over = jsonBytes(cut) - most)
    cut = cutToBytes(cut, Math.max(0, Buffer.byteLength(cut) - over));
  return cut;
}

/** The action for an article's current state: update, or delete if it is no longer published. */
export function actionFor(content: ContentReader, id: number): Action {
  const [card] = content.articles({ ids: [id] }).items;
  const article = card && content.article(card.slug);
  return article && article.id === id
    ? {
        action: 'updateObject',
        body: recordOf(article, article.live ? entriesText(content, id, longestRecord) : ''),
      }
    : { action: 'deleteObject', body: { objectID: String(id) } };
}
