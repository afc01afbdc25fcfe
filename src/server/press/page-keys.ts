/** The addresses of the site: which have a stored page, which are redirected, which are never stored. */
import { readFileSync } from 'node:fs';
import type { DocumentType } from '../../lib/content/model.ts';
import type { ContentReader } from '../../lib/content/reader.ts';
import { sitemapNames } from '../../lib/feeds/crawler-files.ts';
import { cachedPages, fixedPages, fragmentLists, pathsOf } from '../../lib/http/fixed-pages.ts';
import { pageHref } from '../../lib/paging.ts';
import {
  createKeys,
  type KeyOf,
  type KeyResult,
  type KeyRules,
  type RedirectRule,
} from '../../press/delivery/cache-key.ts';
import { publication } from '../../publication.ts';
import { formerAddress, storyByNumber } from './former-addresses.ts';

const fixedPaths: readonly string[] = fixedPages.map(({ path }) => path);

/** For operators. A proxy may block these paths for strangers by their exact spelling, so no other spelling is accepted. */
const operatorPaths: readonly string[] = ['/metrics', '/healthz', '/readyz'];

/**
 * Never stored: API calls, pictures, audio files, private feeds, previews and operators' pages; search, which has unlimited queries; the
 * news sitemap and security.txt, which change with the clock; calls of the account service, and pages that depend on the reader.
 */
const uncached: readonly RegExp[] = [
  /^\/(?:api|-|_image|blaize|zephr|account|dashboard|gift|live|push|\.well-known)\//,
  /^\/privacy-choices\/save$/,
  /^\/(?:sound|podcast\/[^/]+\/private)\//,
  /^\/(?:image|preview|news-sitemap\.xml)$/,
  new RegExp(`^(?:${[...operatorPaths, ...pathsOf('uncached')].join('|')})$`),
];

/** Any value: the pages themselves respond with 404 to an unknown number, and a 404 is not stored. */
const anything = /^[\s\S]{0,400}$/;
const paged = { page: anything };
/** Problems that the newsletter form reports; only a few, so that there are few copies of the page. */
const problem = /^(?:choice|email|limited|off|failed)$/;
const queries: KeyRules['queries'] = [
  { path: /^\/(?:newsletter|newsletter-signUp|offer\/newsletter)$/, allow: { problem } },
  { path: /^\/media$/, allow: { section: anything, page: anything } },
  { path: /^\/(?:corrections|games|latest)$/, allow: paged },
  { path: /^\/(?:section|author|podcast)\/[^/]+$/, allow: paged },
  { path: /^\/article\/[^/]+\/live$/, allow: paged },
  { path: /^\/article\/[^/]+\/comments$/, allow: { ...paged, sort: /^(?:oldest|replies)$/ } },
  { path: /^\/article\/[^/]+\/comments\/[^/]+$/, allow: paged },
];

/**
 * Pages that aren't rendered when they change, but at the next request: further pages of lists and comments, feeds, sitemaps, and
 * pages that show the newest stories only as an extra. Their number grows with the archive, and few are ever read.
 */
const onDemandPages: readonly RegExp[] = [
  /\?/,
  /^\/(?:sitemap\.xml$|sitemaps\/|fragments\/)/,
  /\/(?:rss\.xml|atom\.xml|feed\.json)$/,
  /^\/article\/[^/]+\/(?:comments|chapters|live|transcript)/,
  /^\/(?:print|thankyou|follow|authors)$/,
];

/** Whether a page is rendered on demand, see `PressOptions.onDemand`. */
export const isOnDemand = (key: string): boolean => onDemandPages.some((pattern) => pattern.test(key));

/** Paths of documents that the content store knows by their slug. */
const document = /^\/(article|section|author|media|games|podcast)\/([^/?]+)(?=[/?]|$)/;

/** Types of the documents by the first part of their paths. */
export const documentTypes: ReadonlyMap<string, DocumentType> = new Map([
  ['article', 'articles'],
  ['author', 'authors'],
  ['media', 'video'],
  ['games', 'crosswords'],
  ['podcast', 'podcasts'],
]);

/** Pages that are rendered in place of others. Their own addresses respond with 404. */
const errorPages: readonly string[] = ['/404', '/500'];

/** Names of files that pages generate, such as feeds. */
const madeFile = /\.(?:xml|txt|json|webmanifest)$/;

/**
 * Whether an address certainly has no page, so that a 404 needs no render: a story, section or other document that doesn't exist, or an
 * unknown path of one segment, which vulnerability scanners often request.
 */
export function isUnknownDocument(content: ContentReader, key: string): boolean {
  if (errorPages.includes(key)) return true;
  const [single] = /^\/[^/?]+(?=\?|$)/.exec(key) ?? [];
  if (single !== undefined) return !fixedPaths.includes(single) && !madeFile.test(single);
  // Other spellings are left to the page, which knows which ones are equal.
  const [path] = /^\/[a-z]+\/[a-z0-9._~-]+(?=[/?]|$)/.exec(key) ?? [];
  return path !== undefined && document.test(path) && !existsIn(content, path);
}

/** The page whose gift opens a page: all pages of a live story are one story. @param key of a page */
export const giftPage = (key: string): string => /^(\/article\/[^/?]+)\/live\?page=\d+$/.exec(key)?.[1] ?? key;

/** Whether the site has a page at a lower-case path. */
export function existsIn(content: ContentReader, path: string): boolean {
  if (fixedPaths.includes(path) || operatorPaths.includes(path)) return true;
  const [, list, of = ''] = /^\/fragments\/(section|author)\/([^/]+)$/.exec(path) ?? [];
  if (list !== undefined) return existsIn(content, `/${list}/${of}`);
  const [, fragment] = /^\/fragments\/([^/]+)$/.exec(path) ?? [];
  if (fragment !== undefined) return fragmentLists.includes(fragment);
  const [, entry] = /^\/fragments\/live\/([1-9]\d{0,14})$/.exec(path) ?? [];
  if (entry !== undefined) return content.liveEntry(Number(entry)) !== null;
  const [, kind = '', slug = ''] = document.exec(path) ?? [];
  if (kind === 'section') return content.section(slug) !== null;
  const type = documentTypes.get(kind);
  return type !== undefined && (content.exists(type, slug) || content.resolveSlug(type, slug).kind !== 'unknown');
}

/**
 * Creates the function that turns addresses into keys.
 *
 * @param reader a new reader of the content store
 * @param redirects the publisher's own, see {@link readRedirects}
 * @param onUnused called with every redirect of an address that the site itself uses, which has no effect
 * @throws Error with every invalid redirect rule
 */
export function pageKeys(
  reader: () => ContentReader,
  redirects: readonly RedirectRule[] = [],
  onUnused?: KeyRules['onUnused'],
): KeyOf {
  const keyOf = createKeys({
    queries,
    uncached,
    capitals: fixedPaths.filter((path) => /[A-Z]/.test(path)),
    exists: (path) => existsIn(reader(), path),
    redirects,
    onUnused,
  });
  function moved(path: string): KeyResult | null {
    const location = formerAddress(reader(), path);
    return location === null ? null : { kind: 'redirect', location, status: 301 };
  }
  return (method, target) => {
    const byNumber = target.startsWith('/?') || target.startsWith('/index.php?') ? storyByNumber(reader, target) : null;
    if (byNumber !== null) return { kind: 'redirect', location: byNumber, status: 301 };
    const key = keyOf(method, target);
    if (key.kind === 'redirect' && key.status === 301 && key.location.startsWith('/')) {
      // A single redirect, instead of a second one after the one for the trailing slash.
      const path = key.location.split('?', 1)[0] ?? '';
      return (existsIn(reader(), path) ? null : moved(path)) ?? key;
    }
    if (key.kind !== 'page' || !/[A-Z%]/.test(key.path)) return key;
    // The press would store a redirect for each spelling.
    return (document.test(key.path) ? null : moved(key.path)) ?? refused(key);
  };
}

/** Doubly escaped addresses are refused, because each letter would allow another spelling. */
const refused = (key: KeyResult & { readonly kind: 'page' }): KeyResult =>
  key.path.includes('%25') ? { kind: 'reject', status: 404, why: 'There is nothing at this address.' } : key;

const statuses: readonly number[] = [301, 302, 307, 308, 410];

/**
 * Reads the publisher's list: one rule a line, `/old-path /new-path 301`; `/old/*` matches all paths below it; `/gone - 410`; lines
 * that begin with `#` are comments. The status is optional and 301 by default.
 *
 * @throws Error with every invalid line
 */
export function readRedirects(file: string): RedirectRule[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`REDIRECTS_FILE is ${file}, which cannot be read.`, { cause: error });
  }
  const rules: RedirectRule[] = [];
  const problems: string[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const words = line.trim().split(/\s+/);
    const [from = '', to = '', given = '301'] = words;
    if (from === '' || from.startsWith('#')) continue;
    const status = Number(given);
    if (words.length < 2 || words.length > 3 || !statuses.includes(status)) {
      problems.push(`line ${index + 1}: "${line.trim()}" isn't a rule; give "/old /new 301" or "/gone - 410"`);
    } else rules.push({ from, to, status: status as RedirectRule['status'] });
  }
  if (problems.length > 0)
    throw new Error(`The list of redirects ${file} has invalid lines:\n  ${problems.join('\n  ')}`);
  return rules;
}

// Pages that are rendered before a reader asks for them, the most important first.

/** The first to be rendered. */
const firstPages: readonly string[] = ['/', '/latest'];

/** The other pages with an address of their own, and the feeds of the whole site. */
const staticPages: readonly string[] = [
  ...cachedPages.map(({ path }) => path).filter((path) => !firstPages.includes(path)),
  '/rss.xml',
  '/atom.xml',
  '/feed.json',
  '/robots.txt',
  '/ads.txt',
  '/site.webmanifest',
  '/fragments/paywall-offer',
];

const batch = 500;

/** The pages that are needed first: home, the latest stories, the sections' fronts, and the lists that every story links to. */
export function frontKeys(content: ContentReader): string[] {
  const sections = content.sections().map(({ slug }) => `/section/${slug}`);
  return [
    ...firstPages,
    ...sections,
    '/fragments/latest',
    '/fragments/popular',
    ...sections.map((path) => `/fragments${path}`),
  ];
}

/**
 * Articles, the newest first.
 *
 * @param since UTC instant; only articles published at or after it
 */
export function* articleKeys(reader: () => ContentReader, since?: string): Generator<string> {
  for (let offset = 0; ; offset += batch) {
    // A reader records every tag that it returns; a new reader for each batch keeps that set small.
    const { items } = reader().articles({ offset, limit: batch, ...(since !== undefined && { since }) });
    for (const card of items) yield `/article/${card.slug}`;
    if (items.length < batch) return;
  }
}

/** Every address of the site: fronts, articles, then further pages of lists, comments, authors, films, games, series, sitemaps. */
export function* allKeys(reader: () => ContentReader): Generator<string> {
  const content = reader();
  const { pageSizes } = publication;
  yield* frontKeys(content);
  yield* staticPages;
  yield* articleKeys(reader);
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
  for (const { id, slug } of content.podcasts()) {
    yield `/podcast/${slug}`;
    yield `/podcast/${slug}/rss.xml`;
    const { total } = content.episodes(id, { limit: 0 });
    for (let page = 2; page <= Math.ceil(total / pageSizes.episodes); page++) yield pageHref(`/podcast/${slug}`, page);
  }
  yield '/sitemap.xml';
  for (const name of sitemapNames(content)) yield `/sitemaps/${name}.xml`;
}
