/** Structured data (schema.org as JSON-LD) for search engines. */
import { publication } from '../../publication.ts';
import { isFree, languageOfStory, restrictedClass } from '../article/model.ts';
import { authorPath } from '../bylines/model.ts';
import type {
  Agency,
  Article,
  Author,
  AuthorRef,
  Byline,
  Card,
  LiveEntry,
  Picture,
  Podcast,
  Section,
  Video,
} from '../content/model.ts';
import { isoInZone } from '../dates.ts';
import { imageUrl, socialImageUrl } from '../images/url.ts';
import { entryPath, lastModified, liveWords } from '../live/model.ts';
import { isoLength, podcastFeedPath, podcastPath, soundTitle } from '../sound/model.ts';
import { plainText, truncateAtWord } from '../text.ts';

/** Data of one subject; {@link jsonLdText} writes it. */
export type JsonLd = Readonly<Record<string, unknown>>;

const context = 'https://schema.org';
/** Search engines cut headlines that are longer than this. */
const headlineLimit = 110;

/** JSON escaped so that no content can close its script element. */
export const jsonLdText = (value: JsonLd | readonly JsonLd[]): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const organizationId = (siteUrl: string): string => `${siteUrl}/#organization`;

const publisher = (siteUrl: string): JsonLd => ({
  '@type': 'NewsMediaOrganization',
  '@id': organizationId(siteUrl),
  name: publication.name,
  url: `${siteUrl}/`,
  logo: { '@type': 'ImageObject', url: `${siteUrl}/icon-512.png`, width: 512, height: 512 },
});

/** The newspaper as an organization, for the front page and the about page. */
export const newsMediaOrganization = (siteUrl: string): JsonLd => ({
  '@context': context,
  ...publisher(siteUrl),
  slogan: publication.motto,
  description: publication.description,
  foundingDate: String(publication.founded),
  sameAs: publication.links.social.map((link) => link.href),
  publishingPrinciples: `${siteUrl}/about`,
  correctionsPolicy: `${siteUrl}/corrections`,
  contactPoint: {
    '@type': 'ContactPoint',
    contactType: 'customer service',
    email: publication.contact.email,
    telephone: publication.contact.phone,
  },
});

/** The site, for the front page. */
export const webSite = (siteUrl: string): JsonLd => ({
  '@context': context,
  '@type': 'WebSite',
  name: publication.name,
  url: `${siteUrl}/`,
  inLanguage: publication.language,
  publisher: { '@id': organizationId(siteUrl) },
});

function images(picture: Picture | null, siteUrl: string): JsonLd[] | undefined {
  if (!picture?.width || !picture.height) return undefined;
  const { width, height, url } = picture;
  const shown = Math.min(1200, width);
  return [
    { '@type': 'ImageObject', url: `${siteUrl}${socialImageUrl(url)}`, ...publication.images.social },
    {
      '@type': 'ImageObject',
      url: `${siteUrl}${imageUrl(url, 1200)}`,
      width: shown,
      height: Math.round((shown * height) / width),
    },
  ];
}

const person = (author: AuthorRef, siteUrl: string): JsonLd => ({
  '@type': 'Person',
  name: author.name,
  url: `${siteUrl}${authorPath(author)}`,
});

const organization = ({ name, url }: Agency): JsonLd => ({ '@type': 'Organization', name, url: url || undefined });

/** The authors and the agency; if a story has neither, the newspaper. */
const authorsOf = ({ authors, agency }: Byline, siteUrl: string): JsonLd[] => {
  const all = [...authors.map((author) => person(author, siteUrl)), ...(agency ? [organization(agency)] : [])];
  return all.length > 0 ? all : [organization({ name: publication.name, url: `${siteUrl}/` })];
};

/**
 * An article, without its text, which is in the page. Access is marked truthfully: text that anonymous readers can't read is
 * `isAccessibleForFree: false`, with the class of its element or of the element that replaces it. A metered article is public.
 */
export const newsArticle = (article: Article, siteUrl: string): JsonLd => ({
  '@context': context,
  '@type': article.sections.some(({ slug }) => publication.opinionSections.some((each) => each === slug))
    ? 'OpinionNewsArticle'
    : 'NewsArticle',
  mainEntityOfPage: { '@type': 'WebPage', '@id': `${siteUrl}/article/${article.slug}` },
  url: `${siteUrl}/article/${article.slug}`,
  headline: truncateAtWord(article.title, headlineLimit),
  description: article.excerpt || undefined,
  image: images(article.image, siteUrl),
  datePublished: isoInZone(article.date),
  dateModified: isoInZone(article.modified),
  author: authorsOf(article.byline, siteUrl),
  ...(article.byline.contributors.length > 0 && {
    contributor: article.byline.contributors.map((each) => person(each, siteUrl)),
  }),
  publisher: publisher(siteUrl),
  articleSection: article.sections.map((section) => section.label),
  wordCount: article.words,
  inLanguage: languageOfStory(article)?.lang ?? publication.language,
  isAccessibleForFree: isFree(article.access),
  ...(!isFree(article.access) && {
    hasPart: { '@type': 'WebPageElement', isAccessibleForFree: false, cssSelector: `.${restrictedClass}` },
  }),
  ...soundOfArticle(article),
  ...(article.corrections.length > 0 && {
    correction: article.corrections.map(({ date, html }) => ({
      '@type': 'CorrectionComment',
      text: plainText(html),
      datePublished: isoInZone(date),
    })),
  }),
});

/** Most characters of an entry's text: the page has the full text, and this saves bytes. */
const longestBody = 500;

/**
 * A story that is covered live: `LiveBlogPosting`, whose updates are its entries.
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

// A story's sound and its series.

const seriesOf = (podcast: Podcast, siteUrl: string): JsonLd => ({
  '@type': 'PodcastSeries',
  name: podcast.title,
  url: `${siteUrl}${podcastPath(podcast.slug)}`,
  webFeed: `${siteUrl}${podcastFeedPath(podcast.slug)}`,
});

/** A series' own page. */
export const podcastSeries = (podcast: Podcast, siteUrl: string): JsonLd => ({
  '@context': context,
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

/** Data about a story's sound, added to the story's own data. */
function soundOfArticle(article: Article): { readonly audio?: JsonLd } {
  const audio = audioObject(article);
  return audio && !article.podcast ? { audio } : {};
}

/** A story as an episode of its series; `null` if it isn't one. */
export function podcastEpisode(article: Article, siteUrl: string): JsonLd | null {
  const { sound, podcast } = article;
  const audio = audioObject(article);
  if (!sound || !podcast || !audio) return null;
  return {
    '@context': context,
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

/** The path to a page: names and paths from the front page to the page itself. */
export const breadcrumbs = (
  trail: readonly { readonly name: string; readonly path: string }[],
  siteUrl: string,
): JsonLd => ({
  '@context': context,
  '@type': 'BreadcrumbList',
  itemListElement: [{ name: publication.name, path: '/' }, ...trail].map(({ name, path }, index) => ({
    '@type': 'ListItem',
    position: index + 1,
    name,
    item: `${siteUrl}${path}`,
  })),
});

/** A video; `null` when it can't be embedded. */
export function videoObject(video: Video, siteUrl: string): JsonLd | null {
  const id = video.video.providerId;
  if (!id) return null;
  const poster = images(video.image, siteUrl)?.[0]?.url ?? `https://i.ytimg.com/vi/${id}/hqdefault.jpg`;
  return {
    '@context': context,
    '@type': 'VideoObject',
    name: video.title,
    description: video.excerpt || video.title,
    thumbnailUrl: [poster],
    uploadDate: isoInZone(video.date),
    embedUrl: `https://www.youtube-nocookie.com/embed/${id}`,
    url: `${siteUrl}/media/${video.slug}`,
    publisher: publisher(siteUrl),
    isAccessibleForFree: true,
  };
}

/** An author's page. */
export const profilePage = (author: Author, siteUrl: string): JsonLd => ({
  '@context': context,
  '@type': 'ProfilePage',
  mainEntity: {
    ...person(author, siteUrl),
    jobTitle: author.role || undefined,
    description: author.excerpt || undefined,
    image: images(author.image, siteUrl)?.[1]?.url,
    worksFor: { '@id': organizationId(siteUrl) },
  },
});

/** A list page: a section front or the latest stories. */
export const collectionPage = (name: string, path: string, cards: readonly Card[], siteUrl: string): JsonLd => ({
  '@context': context,
  '@type': 'CollectionPage',
  name,
  url: `${siteUrl}${path}`,
  isPartOf: { '@type': 'WebSite', url: `${siteUrl}/`, name: publication.name },
  mainEntity: {
    '@type': 'ItemList',
    itemListElement: cards.map((card, index) => ({
      '@type': 'ListItem',
      position: index + 1,
      url: `${siteUrl}/article/${card.slug}`,
    })),
  },
});

/** Breadcrumbs of an article: its first section, then the article. */
export const articleTrail = (article: Article): { name: string; path: string }[] => [
  ...article.sections
    .slice(0, 1)
    .map((section: Section) => ({ name: section.label, path: `/section/${section.slug}` })),
  { name: article.title, path: `/article/${article.slug}` },
];
