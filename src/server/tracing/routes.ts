/**
 * Routes of requests for the names of spans. A path may contain a token or an address, so every part that isn't a known word becomes
 * a placeholder.
 */
import { fixedPages } from '../../lib/http/fixed-pages.ts';

const fixed: ReadonlySet<string> = new Set([
  ...fixedPages.map(({ path }) => path),
  ...['/image', '/preview', '/metrics', '/healthz', '/readyz', '/sw.js', '/robots.txt', '/sitemap.xml', '/feed.json'],
  ...['/rss.xml', '/atom.xml', '/ads.txt', '/news-sitemap.xml', '/site.webmanifest', '/privacy-choices/save'],
]);

/** Below these, words are names of calls and pages, and everything else is an id. */
const wordFolders: ReadonlySet<string> = new Set([
  '-',
  'account',
  'api',
  'blaize',
  'dashboard',
  'fragments',
  'push',
  'zephr',
]);
/** Below these, the next part is a name. */
const nameFolders: ReadonlySet<string> = new Set([
  '_assets',
  'article',
  'author',
  'games',
  'gift',
  'live',
  'media',
  'podcast',
  'section',
  'sitemaps',
  'sound',
]);
const word = /^(?:v\d|[a-z][a-zA-Z]{0,23}(?:-[a-z]{1,16}){0,3})$/;

/** @returns the route of a path without its query, such as `/article/{name}`; `null` if the site has no such route */
export function routeOf(path: string): string | null {
  if (fixed.has(path)) return path;
  const [, first = '', ...rest] = path.split('/');
  if (wordFolders.has(first)) return ['', first, ...rest.map((part) => (word.test(part) ? part : '{id}'))].join('/');
  if (!nameFolders.has(first)) return null;
  const [, ...more] = rest;
  const below = more.map((part) => (part === 'comments' || part === 'live' ? part : '{name}'));
  return rest.length === 0 ? `/${first}` : ['', first, '{name}', ...below].join('/');
}
