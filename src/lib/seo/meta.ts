/** Tags in the head for search engines and social networks, and structured data (schema.org as JSON-LD). */
import { publication } from '../../publication.ts';
import { isFree, languageOfStory, restrictedClass } from '../article/model.ts';
import { authorPath } from '../bylines/model.ts';
import type { Agency, Article, Author, AuthorRef, Byline, Card, Picture, Section, Video } from '../content/model.ts';
import { isoInZone } from '../dates.ts';
import { imageUrl, socialImageUrl } from '../images/url.ts';
import { plainText, truncateAtWord } from '../text.ts';
import { soundOfArticle } from './sound.ts';

export interface PageMeta {
  /** Without the newspaper's name. */
  readonly title: string;
  readonly description?: string | undefined;
  /** Canonical path with its meaningful query, e.g. `/section/politics?page=2`. */
  readonly path: string;
  readonly image?: Picture | null;
  readonly type?: 'website' | 'article' | 'profile' | 'video.other' | undefined;
  readonly article?: Pick<Article, 'date' | 'modified' | 'sections' | 'byline'> | undefined;
}

export interface MetaTag {
  readonly name?: string;
  readonly property?: string;
  readonly content: string;
}

/** Search results may show large pictures and whole snippets of every page. */
export const robotsDefault = 'max-image-preview:large, max-snippet:-1, max-video-preview:-1';
/** Of a restricted story: an engine that may read all of it shows no copy of it, and few of its words. */
export const robotsRestricted = 'noarchive, max-image-preview:large, max-snippet:160, max-video-preview:-1';

/** Description cut to 155 characters at a word (spec section 9). */
export const pageDescription = (text: string | undefined): string =>
  truncateAtWord(text || publication.description, publication.limits.description);

/** Title of the document: the page's title and the newspaper's name; on the front page the name and the motto. */
export const documentTitle = (meta: Pick<PageMeta, 'title' | 'path'>): string =>
  meta.path === '/' ? `${publication.name}: ${publication.motto}` : `${meta.title} | ${publication.name}`;

/** Open Graph and Twitter tags (1280×720 pictures) of a page. */
export function socialTags(meta: PageMeta, siteUrl: string): MetaTag[] {
  const { width, height } = publication.images.social;
  const title = meta.path === '/' ? documentTitle(meta) : meta.title;
  const description = pageDescription(meta.description);
  const image = meta.image ? `${siteUrl}${socialImageUrl(meta.image.url)}` : `${siteUrl}/social.png`;
  const alt = meta.image ? meta.image.alt : `${publication.name}: ${publication.motto}`;
  const tags: [string, string | undefined][] = [
    ['og:type', meta.type ?? 'website'],
    ['og:title', title],
    ['og:description', description],
    ['og:url', `${siteUrl}${meta.path}`],
    ['og:site_name', publication.name],
    ['og:locale', publication.language.replace('-', '_')],
    ['og:image', image],
    ['og:image:width', String(width)],
    ['og:image:height', String(height)],
    ['og:image:alt', alt || undefined],
    ['article:published_time', meta.article && isoInZone(meta.article.date)],
    ['article:modified_time', meta.article && isoInZone(meta.article.modified)],
    ...(meta.article?.byline.authors ?? []).map((author): [string, string] => [
      'article:author',
      `${siteUrl}${authorPath(author)}`,
    ]),
    ['article:section', meta.article?.sections[0]?.label],
  ];
  return [
    ...tags.flatMap(([property, content]) => (content ? [{ property, content }] : [])),
    { name: 'twitter:card', content: 'summary_large_image' },
    { name: 'twitter:title', content: title },
    { name: 'twitter:description', content: description },
    { name: 'twitter:image', content: image },
    ...(alt ? [{ name: 'twitter:image:alt', content: alt }] : []),
  ];
}

/** Structured data (schema.org) for search engines; {@link jsonLdText} writes it. */
export type JsonLd = Readonly<Record<string, unknown>>;

const context = 'https://schema.org';
/** Headlines longer than this are cut by search engines. */
export const headlineLimit = 110;

/** JSON escaped so that no content can close its script element. */
export const jsonLdText = (value: JsonLd | readonly JsonLd[]): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const organizationId = (siteUrl: string): string => `${siteUrl}/#organization`;

/** The newspaper as an organization, for the front page and the about page. */
export const newsMediaOrganization = (siteUrl: string): JsonLd => ({
  '@context': context,
  '@type': 'NewsMediaOrganization',
  '@id': organizationId(siteUrl),
  name: publication.name,
  slogan: publication.motto,
  description: publication.description,
  url: `${siteUrl}/`,
  logo: { '@type': 'ImageObject', url: `${siteUrl}/icon-512.png`, width: 512, height: 512 },
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

/** The site with its search, for the front page. */
export const webSite = (siteUrl: string): JsonLd => ({
  '@context': context,
  '@type': 'WebSite',
  name: publication.name,
  url: `${siteUrl}/`,
  inLanguage: publication.language,
  publisher: { '@id': organizationId(siteUrl) },
  potentialAction: {
    '@type': 'SearchAction',
    target: { '@type': 'EntryPoint', urlTemplate: `${siteUrl}/search?q={search_term_string}` },
    'query-input': 'required name=search_term_string',
  },
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

const publisher = (siteUrl: string): JsonLd => ({
  '@type': 'NewsMediaOrganization',
  '@id': organizationId(siteUrl),
  name: publication.name,
  url: `${siteUrl}/`,
  logo: { '@type': 'ImageObject', url: `${siteUrl}/icon-512.png`, width: 512, height: 512 },
});

const person = (author: AuthorRef, siteUrl: string): JsonLd => ({
  '@type': 'Person',
  name: author.name,
  url: `${siteUrl}${authorPath(author)}`,
});

const organization = ({ name, url }: Agency): JsonLd => ({ '@type': 'Organization', name, url: url || undefined });

/** The authors and the agency; a story without either is the newspaper's own. */
export const authorsOf = ({ authors, agency }: Byline, siteUrl: string): JsonLd[] => {
  const all = [...authors.map((author) => person(author, siteUrl)), ...(agency ? [organization(agency)] : [])];
  return all.length > 0 ? all : [organization({ name: publication.name, url: `${siteUrl}/` })];
};

/**
 * An article, without its text, which the page holds. Access is marked truthfully: text that anonymous readers can't read is
 * `isAccessibleForFree: false`, with the class of its element or of the element in its place. A metered article is public.
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
