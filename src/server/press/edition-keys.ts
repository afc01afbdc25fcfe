/** The addresses of an edition in the order of their importance: what is rendered ahead of its readers. */
import type { ContentReader } from '../../lib/content/model.ts';
import { articlesPerSitemap } from '../../lib/feeds/model.ts';
import { pageHref } from '../../lib/paging.ts';
import { publication } from '../../publication.ts';

/** Pages that are the same whatever the editors write, and the feeds of the whole paper. */
const standing: readonly string[] = [
  '/media',
  '/games',
  '/about',
  '/pricing',
  '/print',
  '/membership',
  '/founder',
  '/events',
  '/newsletter',
  '/newsletter-signUp',
  '/offer/newsletter',
  '/community',
  '/oped-guidelines',
  '/accessibility',
  '/privacy-policy',
  '/follow',
  '/thankyou',
  '/offline',
  '/rss.xml',
  '/atom.xml',
  '/feed.json',
  '/robots.txt',
  '/ads.txt',
  '/site.webmanifest',
  '/fragments/wall-offer',
];

const batch = 500;

/** Home, the latest, the sections' fronts, and the lists that every story leads on with: what must be there first. */
export function frontKeys(content: ContentReader): string[] {
  const sections = content.sections().map(({ slug }) => `/section/${slug}`);
  return [
    '/',
    '/latest',
    ...sections,
    '/fragments/latest',
    '/fragments/popular',
    ...sections.map((path) => `/fragments${path}`),
  ];
}

/**
 * Articles, the newest first.
 *
 * @param since UTC instant; only what was published at or after it
 */
export function* articleKeys(reader: () => ContentReader, since?: string): Generator<string> {
  for (let offset = 0; ; offset += batch) {
    // A reader notes every tag of what it returns; one for each batch keeps that small.
    const { items } = reader().articles({ offset, limit: batch, ...(since !== undefined && { since }) });
    for (const card of items) yield `/article/${card.slug}`;
    if (items.length < batch) return;
  }
}

/** Every address of the paper: fronts, articles, then further pages of lists, comments, people, films, games, maps. */
export function* allKeys(reader: () => ContentReader, since?: string): Generator<string> {
  const content = reader();
  const { pageSizes } = publication;
  yield* frontKeys(content);
  yield* standing;
  yield* articleKeys(reader, since);
  for (const section of content.sections()) {
    const { total } = content.articles({ section: section.slug, limit: 1 });
    const path = `/section/${section.slug}`;
    for (let page = 2; page <= Math.ceil(total / pageSizes.category); page++) yield pageHref(path, page);
    for (const feed of ['rss.xml', 'atom.xml', 'feed.json']) yield `${path}/${feed}`;
  }
  const { total: articles } = content.articles({ limit: 1 });
  for (let page = 2; page <= Math.ceil(articles / pageSizes.articles); page++) yield pageHref('/latest', page);
  for (const author of content.authors()) {
    yield `/author/${author.slug}`;
    yield `/fragments/author/${author.slug}`;
  }
  const films = content.videos({ limit: 100_000 });
  for (const film of films.items) yield `/media/${film.slug}`;
  for (const section of content.sections()) if (section.showInMedia) yield `/media?section=${section.slug}`;
  for (let page = 2; page <= Math.ceil(films.total / pageSizes.videos); page++) yield pageHref('/media', page);
  for (const game of content.crosswords({ limit: 100_000 }).items) yield `/games/${game.slug}`;
  yield '/sitemap.xml';
  yield '/sitemaps/pages.xml';
  for (let map = 1; map <= Math.max(1, Math.ceil(articles / articlesPerSitemap)); map++) {
    yield `/sitemaps/articles-${map}.xml`;
  }
}
