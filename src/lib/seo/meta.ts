/** Title, description and social tags in the head of a page. */
import { publication } from '../../publication.ts';
import { authorPath } from '../bylines/model.ts';
import type { Article, Picture } from '../content/model.ts';
import { isoInZone } from '../dates.ts';
import { socialImageUrl } from '../images/url.ts';
import { truncateAtWord } from '../text.ts';

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

/** Allows search results to show large pictures and full snippets. */
export const robotsDefault = 'max-image-preview:large, max-snippet:-1, max-video-preview:-1';
/** For a restricted story: an engine that may read the full text shows no copy of it, and only a short snippet. */
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
