/** Links in bodies: WordPress's own addresses become the site's; other web addresses stay, and everything else is removed. */
import { canonicalSlug } from '../wire/values.ts';
import { webAddress } from './embeds.ts';

export interface Addresses {
  /** Address of WordPress without a trailing slash. */
  readonly wordpress: string;
  /** Address of the site without a trailing slash. */
  readonly site: string;
}

export type LinkTarget =
  | { readonly kind: 'site'; readonly href: string }
  | { readonly kind: 'external'; readonly href: string }
  /**
   * An address of WordPress. `href` is its address on the site, or the same address if the site has none for it. The page checks when
   * it is rendered whether the target exists (body-links.ts).
   */
  | { readonly kind: 'wordpress'; readonly href: string; readonly original: string }
  /** A link within the document: a footnote, a heading. */
  | { readonly kind: 'anchor'; readonly id: string }
  /** `mailto:` and `tel:`. */
  | { readonly kind: 'contact'; readonly href: string };

/** The site's paths by the first part of WordPress's (the plugin's own permalinks, and WordPress's standard ones). */
const rooms: Readonly<Record<string, string>> = {
  article: '/article/',
  articles: '/article/',
  media: '/media/',
  video: '/media/',
  author: '/author/',
  authors: '/author/',
  byline: '/author/',
  section: '/section/',
  category: '/section/',
};

/** Query variables of plain permalinks. */
const queries: Readonly<Record<string, string>> = {
  articles: '/article/',
  video: '/media/',
  authors: '/author/',
  category_name: '/section/',
};

/** Paths for users of WordPress: a reader would get a log-in form or a refusal. */
const backstage =
  /^\/(?:wp-admin|wp-login\.php|wp-signup\.php|wp-comments-post\.php|wp-cron\.php|xmlrpc\.php)(?:\/|$)/u;

const reserved = /^(?:wp-(?:admin|content|includes|json|login)|xmlrpc|feed|comments|tag|\d{4}$)/u;

/** The site's path for a path of WordPress; `null` when it has none. */
function sitePath(url: URL, root: string): string | null {
  const path = url.pathname
    .slice(root.length)
    .replace(/\/{2,}/gu, '/')
    .replace(/\/$/u, '');
  if (path === '' || path === '/index.php') {
    for (const [name, room] of Object.entries(queries)) {
      const slug = url.searchParams.get(name);
      if (slug) return room + canonicalSlug(slug);
    }
    return url.search === '' ? '/' : null;
  }
  const [, first = '', second = '', ...rest] = path.split('/');
  const room = rooms[first];
  if (room && second) return room + canonicalSlug(rest.at(-1) ?? second);
  if (first === 'crosswords' || first === 'games') return '/games';
  // On this site a page below another page has an address of its own.
  if (!room && second && !reserved.test(first) && url.search === '') return `/${canonicalSlug(rest.at(-1) ?? second)}`;
  if (room || second || reserved.test(first) || first.includes('.') || url.search !== '') return null;
  return `/${canonicalSlug(first)}`;
}

/**
 * The target of a link in a body; `null` for anything that isn't a link (scripts, data, files).
 *
 * @param href the attribute as the markup has it
 * @param base address of the document that contains it
 */
export function linkTarget(href: string, addresses: Addresses, base: string): LinkTarget | null {
  const trimmed = href.trim();
  if (trimmed.startsWith('#')) {
    const id = trimmed.slice(1);
    return id === '' ? null : { kind: 'anchor', id };
  }
  if (/^(?:mailto|tel):[^\s<>"]+$/iu.test(trimmed)) return { kind: 'contact', href: trimmed };
  const url = webAddress(trimmed, base);
  if (!url) return null;
  const site = new URL(addresses.site);
  if (url.origin === site.origin) return { kind: 'site', href: url.pathname + url.search + url.hash };
  const wordpress = new URL(addresses.wordpress);
  const root = wordpress.pathname.replace(/\/$/u, '');
  if (url.origin === wordpress.origin && (url.pathname === root || url.pathname.startsWith(`${root}/`))) {
    const within = url.pathname.slice(root.length);
    if (backstage.test(within) || url.searchParams.has('_wpnonce')) return null;
    if (within.startsWith('/wp-content/')) return { kind: 'external', href: url.href };
    const path = sitePath(url, root);
    const href = path === null ? url.href : path + (url.hash.length > 1 ? url.hash : '');
    return path === '/' ? { kind: 'site', href } : { kind: 'wordpress', href, original: url.href };
  }
  return { kind: 'external', href: url.href };
}
