/** What a hosted engine is told of a story. Pure but for the reader that it asks. */
import type { Article, ContentReader } from '../../content/model.ts';
import { isWalled } from '../access/level.ts';
import { plainText } from '../text.ts';

export interface SearchRecord {
  readonly objectID: string;
  readonly slug: string;
  readonly post_id: number;
  readonly post_title: string;
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
}

export type Action =
  | { readonly action: 'updateObject'; readonly body: SearchRecord }
  | { readonly action: 'deleteObject'; readonly body: { readonly objectID: string } };

/** Records are bounded; what a story says further down finds hardly anybody. */
const longestText = 6000;

export const recordOf = (article: Article): SearchRecord => ({
  objectID: String(article.id),
  slug: article.slug,
  post_id: article.id,
  post_title: article.title,
  image_url: article.image?.url ?? null,
  author: { post_title: article.author?.name ?? '' },
  standfirst: article.excerpt,
  text: plainText(isWalled(article.access) ? article.openingHtml : article.bodyHtml).slice(0, longestText),
  sections: article.sections.map(({ slug }) => slug),
  date: Math.floor(Date.parse(article.date) / 1000),
  url: `/article/${article.slug}`,
});

/** How a story stands now: to be written, or to be deleted because the paper has it no more. */
export function actionFor(content: ContentReader, id: number): Action {
  const [card] = content.articles({ ids: [id] }).items;
  const article = card && content.article(card.slug);
  return article && article.id === id
    ? { action: 'updateObject', body: recordOf(article) }
    : { action: 'deleteObject', body: { objectID: String(id) } };
}
