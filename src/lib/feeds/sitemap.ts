/** Sitemaps by sitemaps.org's protocol, and Google's news sitemap. */

import { publication } from '../../publication.ts';
import type { Card, ContentReader } from '../content/model.ts';
import { isoInZone } from '../dates.ts';
import { pathsOf } from '../http/fixed-pages.ts';
import { articlesPerSitemap } from './model.ts';
import { type XmlNode, xmlDocument } from './write.ts';

/** Google reads at most this many from a news sitemap. */
const newsLimit = 1000;

const schema = 'http://www.sitemaps.org/schemas/sitemap/0.9';

/** Pages that are the same for everyone and worth finding. Account, checkout and preview pages are left out. */
const staticPaths = [
  '/',
  '/latest',
  '/media',
  '/games',
  '/about',
  '/events',
  '/newsletter',
  '/community',
  '/oped-guidelines',
  '/accessibility',
  '/privacy-policy',
  '/pricing',
  '/print',
  '/membership',
  '/founder',
];

/** The index: one sitemap of pages, and one for each {@link articlesPerSitemap} articles, oldest first. */
export function sitemapIndex(content: ContentReader, siteUrl: string): string {
  const { total } = content.articles({ limit: 1 });
  const count = Math.max(1, Math.ceil(total / articlesPerSitemap));
  const maps = ['pages', ...Array.from({ length: count }, (_, index) => `articles-${index + 1}`)];
  return xmlDocument([
    'sitemapindex',
    { xmlns: schema },
    maps.map((name): XmlNode => ['sitemap', {}, [['loc', {}, `${siteUrl}/sitemaps/${name}.xml`]]]),
  ]);
}

const url = (loc: string, lastmod?: string): XmlNode => [
  'url',
  {},
  [['loc', {}, loc], lastmod ? ['lastmod', {}, isoInZone(lastmod)] : null],
];

/** A sitemap of the index by its name (`pages`, `articles-1`, …); `null` when the index has none of that name. */
export function sitemap(content: ContentReader, siteUrl: string, name: string): string | null {
  if (name === 'pages') return xmlDocument(['urlset', { xmlns: schema }, pages(content, siteUrl)]);
  const number = Number(/^articles-([1-9]\d{0,5})$/.exec(name)?.[1]);
  if (!number) return null;
  const { items, total } = content.articles({
    order: 'asc',
    offset: (number - 1) * articlesPerSitemap,
    limit: articlesPerSitemap,
  });
  if (number > 1 && (number - 1) * articlesPerSitemap >= total) return null;
  return xmlDocument([
    'urlset',
    { xmlns: schema },
    items.map((card) => url(`${siteUrl}/article/${card.slug}`, card.modified)),
  ]);
}

function pages(content: ContentReader, siteUrl: string): XmlNode[] {
  return [
    ...staticPaths.map((path) => url(`${siteUrl}${path}`)),
    ...content.sections().map((section) => url(`${siteUrl}/section/${section.slug}`)),
    ...content.authors().map((author) => url(`${siteUrl}/author/${author.slug}`)),
    ...content.videos({ limit: 1000 }).items.map((video) => url(`${siteUrl}/media/${video.slug}`, video.modified)),
    ...content.crosswords({ limit: 1000 }).items.map((game) => url(`${siteUrl}/games/${game.slug}`, game.date)),
  ];
}

/** The news sitemap: what was published within 48 hours (spec section 9 has no number; Google's rule). */
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
 * Beginnings of addresses that robots have no business with: what is personal, calls, forms, and pages that there are once for each
 * story and that lead nowhere else. Links to them say nofollow as well.
 */
const closedToRobots = [
  '/api/',
  '/blaize/',
  '/zephr/',
  '/account/',
  '/dashboard/',
  '/gift/',
  '/preview',
  '/push/',
  '/-/',
  ...pathsOf('closedToRobots'),
];

/** robots.txt: what is closed to robots, and where the sitemaps are. */
export const robotsTxt = (siteUrl: string): string => `User-agent: *
${closedToRobots.map((path) => `Disallow: ${path}`).join('\n')}

Sitemap: ${siteUrl}/sitemap.xml
Sitemap: ${siteUrl}/news-sitemap.xml
`;
