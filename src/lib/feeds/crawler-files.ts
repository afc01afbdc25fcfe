/** Files for crawlers: sitemaps (sitemaps.org), Google's news sitemap, robots.txt, ads.txt and security.txt. */
import { publication } from '../../publication.ts';
import type { Card } from '../content/model.ts';
import type { ContentReader } from '../content/reader.ts';
import { isoInZone } from '../dates.ts';
import { cachedPages, pathsOf } from '../http/fixed-pages.ts';
import { podcastPath, podcastsPath } from '../sound/model.ts';
import { lastChanged, noteChanges } from './build.ts';
import { articlesPerSitemap, type XmlNode, xmlDocument } from './write.ts';

/** Google reads at most this many from a news sitemap. */
const newsLimit = 1000;

const schema = 'http://www.sitemaps.org/schemas/sitemap/0.9';

/** Pages that are the same for everyone and worth finding. */
const staticPaths = cachedPages.filter(({ unlisted }) => !unlisted).map(({ path }) => path);

/** The newest videos and games are in the sitemap of pages; the archives have their own sitemaps. */
const newestInPages = 1000;

interface Part {
  readonly offset: number;
  readonly limit: number;
}
type ArchiveList = (content: ContentReader, siteUrl: string, part: Part) => { items: XmlNode[]; total: number };

const videos: ArchiveList = (content, siteUrl, part) => {
  const { items, total } = content.videos(part);
  return { items: items.map((video) => url(`${siteUrl}/media/${video.slug}`, video.modified)), total };
};
const games: ArchiveList = (content, siteUrl, part) => {
  const { items, total } = content.crosswords(part);
  return { items: items.map((game) => url(`${siteUrl}/games/${game.slug}`, game.date)), total };
};
const archives: Readonly<Record<string, ArchiveList>> = { videos, games };

/**
 * Names of all sitemaps: one of pages, one for each {@link articlesPerSitemap} articles, oldest first, and those of the archives of videos
 * and games.
 */
export function sitemapNames(content: ContentReader): string[] {
  const numbered = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name}-${at + 1}`);
  const { total } = content.articles({ limit: 1 });
  return [
    'pages',
    ...numbered('articles', Math.max(1, Math.ceil(total / articlesPerSitemap))),
    ...Object.entries(archives).flatMap(([name, list]) => {
      const beyond = list(content, '', { offset: 0, limit: 0 }).total - newestInPages;
      return numbered(name, Math.max(0, Math.ceil(beyond / articlesPerSitemap)));
    }),
  ];
}

/** The index of all sitemaps. */
export const sitemapIndex = (content: ContentReader, siteUrl: string): string =>
  xmlDocument([
    'sitemapindex',
    { xmlns: schema },
    sitemapNames(content).map((name): XmlNode => ['sitemap', {}, [['loc', {}, `${siteUrl}/sitemaps/${name}.xml`]]]),
  ]);

const url = (loc: string, lastmod?: string): XmlNode => [
  'url',
  {},
  [['loc', {}, loc], lastmod ? ['lastmod', {}, isoInZone(lastmod)] : null],
];

const urlset = (urls: readonly XmlNode[]): string => xmlDocument(['urlset', { xmlns: schema }, urls]);

/** A sitemap by its name in the index (`pages`, `articles-1`, …); `null` if the index has no such name. */
export function sitemap(content: ContentReader, siteUrl: string, name: string): string | null {
  if (name === 'pages') return urlset(pages(content, siteUrl));
  const [, list = '', place] = /^(articles|videos|games)-([1-9]\d{0,5})$/.exec(name) ?? [];
  const number = Number(place);
  if (!number) return null;
  const limit = articlesPerSitemap;
  const offset = (number - 1) * limit;
  const archive = archives[list];
  if (archive) {
    const { items } = archive(content, siteUrl, { offset: newestInPages + offset, limit });
    return items.length === 0 ? null : urlset(items);
  }
  const { items, total } = content.articles({ order: 'asc', offset, limit });
  if (number > 1 && offset >= total) return null;
  noteChanges(content, items);
  return urlset(items.map((card) => url(`${siteUrl}/article/${card.slug}`, lastChanged(content, card))));
}

/** Without a series, the list of series would be empty, so it is left out. */
function seriesPaths(content: ContentReader): string[] {
  const podcasts = content.podcasts();
  return podcasts.length === 0 ? [] : [podcastsPath, ...podcasts.map(({ slug }) => podcastPath(slug))];
}

function pages(content: ContentReader, siteUrl: string): XmlNode[] {
  return [
    ...staticPaths.map((path) => url(`${siteUrl}${path}`)),
    ...seriesPaths(content).map((path) => url(`${siteUrl}${path}`)),
    ...content.sections().map((section) => url(`${siteUrl}/section/${section.slug}`)),
    ...content.authors().map((author) => url(`${siteUrl}/author/${author.slug}`)),
    ...Object.values(archives).flatMap((list) => list(content, siteUrl, { offset: 0, limit: newestInPages }).items),
  ];
}

/** The news sitemap: stories published within 48 hours (Google's rule; spec section 9 states no number). */
export function newsSitemap(content: ContentReader, siteUrl: string, now: number): string {
  const since = new Date(now - publication.limits.newsSitemapHours * 3_600_000).toISOString();
  const { items } = content.articles({ since, limit: newsLimit });
  return xmlDocument([
    'urlset',
    { xmlns: schema, 'xmlns:news': 'http://www.google.com/schemas/sitemap-news/0.9' },
    items.map(
      (card: Card): XmlNode => [
        'url',
        {},
        [
          ['loc', {}, `${siteUrl}/article/${card.slug}`],
          [
            'news:news',
            {},
            [
              [
                'news:publication',
                {},
                [
                  ['news:name', {}, publication.name],
                  ['news:language', {}, publication.language.slice(0, 2)],
                ],
              ],
              ['news:publication_date', {}, isoInZone(card.date)],
              ['news:title', {}, card.title],
            ],
          ],
        ],
      ],
    ),
  ]);
}

/**
 * Prefixes of paths that robots must not fetch: personal pages, calls, forms, and pages of each story that lead nowhere else. Links to them
 * are nofollow as well. Gift links aren't among them: a social network couldn't show a preview, and a search engine wouldn't see that the
 * page says noindex.
 */
const closedToRobots = [
  '/api/',
  '/blaize/',
  '/zephr/',
  '/account/',
  '/dashboard/',
  '/sound/',
  '/live/',
  '/preview',
  '/push/',
  '/-/',
  ...pathsOf('closedToRobots'),
];

/** robots.txt (RFC 9309): paths that no robot may fetch, robots that may fetch nothing, and the sitemaps. */
export function robotsTxt(siteUrl: string, refused: readonly string[] = publication.robots.refused): string {
  const groups = [
    ['User-agent: *', ...closedToRobots.map((path) => `Disallow: ${path}`)],
    ...(refused.length > 0 ? [[...refused.map((name) => `User-agent: ${name}`), 'Disallow: /']] : []),
    [`Sitemap: ${siteUrl}/sitemap.xml`, `Sitemap: ${siteUrl}/news-sitemap.xml`],
  ];
  return `${groups.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/**
 * ads.txt (IAB Tech Lab, version 1.1). A newspaper without sellers declares that with the format's placeholder record; without the file,
 * any company could offer its space.
 *
 * @param sellers records such as `google.com, pub-0000000000000000, DIRECT, f08c47fec0942fa0`
 */
export function adsTxt(siteUrl: string, sellers: readonly string[] = publication.ads.sellers): string {
  const records = sellers.length > 0 ? sellers : ['placeholder.example.com, placeholder, DIRECT, placeholder'];
  const lines = [
    `# ${publication.name}: who may sell advertising on this site`,
    ...records,
    `contact=${publication.contact.email}`,
    // Buyers compare it with the domain in a seller's list, which has no host name.
    `ownerdomain=${new URL(siteUrl).hostname.replace(/^www\./, '')}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Days that a security.txt is valid; the standard recommends less than a year. */
const validDays = 180;

/** security.txt (RFC 9116). @param now epoch milliseconds */
export function securityTxt(siteUrl: string, now: number): string {
  const day = 86_400_000;
  const expires = new Date((Math.floor(now / day) + validDays) * day).toISOString().replace('.000Z', 'Z');
  const lines = [
    `Contact: mailto:${publication.contact.security}`,
    `Expires: ${expires}`,
    `Preferred-Languages: ${publication.language.split('-')[0]}`,
    `Canonical: ${siteUrl}/.well-known/security.txt`,
  ];
  return `${lines.join('\n')}\n`;
}
