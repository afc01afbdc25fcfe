/** Structured data of a story's sound and of its series (schema.org). */
import { isFree } from '../article/model.ts';
import type { Article, Podcast } from '../content/model.ts';
import { isoInZone } from '../dates.ts';
import { imageUrl } from '../images/url.ts';
import { isoLength, podcastFeedPath, podcastPath, soundTitle } from '../sound/model.ts';

type JsonLd = Readonly<Record<string, unknown>>;

const seriesOf = (podcast: Podcast, siteUrl: string): JsonLd => ({
  '@type': 'PodcastSeries',
  name: podcast.title,
  url: `${siteUrl}${podcastPath(podcast.slug)}`,
  webFeed: `${siteUrl}${podcastFeedPath(podcast.slug)}`,
});

/** A series' own page. */
export const podcastSeries = (podcast: Podcast, siteUrl: string): JsonLd => ({
  '@context': 'https://schema.org',
  ...seriesOf(podcast, siteUrl),
  description: podcast.excerpt || undefined,
  image: podcast.image ? `${siteUrl}${imageUrl(podcast.image.url, 1200)}` : undefined,
  inLanguage: podcast.details.language || undefined,
});

/** The audio file of a story. The address of a paid one isn't in it. */
function audioObject(article: Article): JsonLd | null {
  const { sound, access } = article;
  if (!sound) return null;
  return {
    '@type': 'AudioObject',
    name: soundTitle(sound, article),
    encodingFormat: sound.type,
    duration: isoLength(sound.seconds),
    isAccessibleForFree: isFree(access),
    contentUrl: isFree(access) && sound.url ? sound.url : undefined,
  };
}

/** What the sound of a story adds to the story's own data. */
export function soundOfArticle(article: Article): { readonly audio?: JsonLd } {
  const audio = audioObject(article);
  return audio && !article.podcast ? { audio } : {};
}

/** A story as an episode of its series; `null` when it is none. */
export function podcastEpisode(article: Article, siteUrl: string): JsonLd | null {
  const { sound, podcast } = article;
  const audio = audioObject(article);
  if (!sound || !podcast || !audio) return null;
  return {
    '@context': 'https://schema.org',
    '@type': 'PodcastEpisode',
    url: `${siteUrl}/article/${article.slug}`,
    name: soundTitle(sound, article),
    description: article.excerpt || undefined,
    datePublished: isoInZone(article.date),
    timeRequired: isoLength(sound.seconds),
    associatedMedia: audio,
    partOfSeries: seriesOf(podcast, siteUrl),
  };
}
