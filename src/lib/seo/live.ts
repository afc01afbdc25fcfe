/** Structured data of a story that is covered live: `LiveBlogPosting`, whose updates are its entries. */
import type { Article, LiveEntry } from '../content/model.ts';
import { isoInZone } from '../dates.ts';
import { entryPath, lastModified, liveWords } from '../live/model.ts';
import { plainText, truncateAtWord } from '../text.ts';
import { authorsOf, headlineLimit, type JsonLd, newsArticle } from './meta.ts';

/** Characters of an entry's text: the page has the rest, and its bytes count. */
const longestBody = 500;

/**
 * The data of a live story.
 *
 * @param entries that the page shows; none in the public variant of a restricted story
 */
export function liveBlogPosting(article: Article, entries: readonly LiveEntry[], siteUrl: string): JsonLd {
  const { live, date, title } = article;
  const updates = entries.map((entry) => {
    const text = plainText(entry.bodyHtml);
    return {
      '@type': 'BlogPosting',
      headline: truncateAtWord(entry.title || text || liveWords.untitled, headlineLimit),
      datePublished: isoInZone(entry.date),
      dateModified: isoInZone(entry.modified),
      author: authorsOf({ authors: entry.author ? [entry.author] : [], contributors: [], agency: null }, siteUrl),
      url: `${siteUrl}${entryPath(article.slug, entry.id)}`,
      // Each update must have a text.
      articleBody: truncateAtWord(text || entry.title || title, longestBody),
    };
  });
  return {
    ...newsArticle(article, siteUrl),
    '@type': 'LiveBlogPosting',
    dateModified: isoInZone(lastModified(article, entries)),
    coverageStartTime: isoInZone(live?.started ?? date),
    ...(live?.ended && { coverageEndTime: isoInZone(live.ended) }),
    ...(updates.length > 0 && { liveBlogUpdate: updates }),
  };
}
