/** Web addresses in bodies: frames that an article may contain, and the targets of links. */
import { isLoopback } from '../../lib/http/network.ts';
import { hashOnSite } from '../store/body-links.ts';
import { canonicalSlug } from '../wire/values.ts';

export interface Embed {
  /** Lower-case name for a CSS class. */
  readonly kind: string;
  /** The provider's name as readers know it. */
  readonly provider: string;
  /** Address of the frame. */
  readonly src: string;
  /** Address of the original page. */
  readonly href: string;
  readonly verb: 'Watch' | 'Listen' | 'Open';
}

const youtubeHosts = /^(?:www\.|m\.|music\.)?(?:youtube\.com|youtube-nocookie\.com)$/u;

/** YouTube's id of a video (eleven characters) from any form of link; `null` when there is none. */
export function youtubeId(address: string): string | null {
  const url = webAddress(address);
  if (!url) return null;
  let id: string | null | undefined = null;
  if (url.hostname === 'youtu.be') id = url.pathname.split('/')[1];
  else if (youtubeHosts.test(url.hostname)) {
    const [, kind, rest] = url.pathname.split('/');
    id = ['embed', 'shorts', 'live', 'v'].includes(kind ?? '') ? rest : url.searchParams.get('v');
  }
  return id && /^[\w-]{11}$/u.test(id) ? id : null;
}

const youtube = (id: string): Embed => ({
  kind: 'youtube',
  provider: 'YouTube',
  src: `https://www.youtube-nocookie.com/embed/${id}`,
  href: `https://www.youtube.com/watch?v=${id}`,
  verb: 'Watch',
});

/** A provider whose players the site knows by name. */
interface Provider {
  readonly kind: string;
  readonly provider: string;
  readonly verb: Embed['verb'];
  /** Address of the original page, from that of the player. */
  readonly original?: (url: URL) => string | null;
}

/** By host of the player. */
const providers: Readonly<Record<string, Provider>> = {
  'player.vimeo.com': {
    kind: 'vimeo',
    provider: 'Vimeo',
    verb: 'Watch',
    original: (url) => {
      const id = /^\/video\/(\d+)/u.exec(url.pathname)?.[1];
      const hash = url.searchParams.get('h') ?? '';
      return id ? `https://vimeo.com/${id}${/^[\da-f]+$/u.test(hash) ? `/${hash}` : ''}` : null;
    },
  },
  'open.spotify.com': {
    kind: 'spotify',
    provider: 'Spotify',
    verb: 'Listen',
    original: (url) => `https://open.spotify.com${url.pathname.replace(/^\/embed/u, '')}`,
  },
  'w.soundcloud.com': {
    kind: 'soundcloud',
    provider: 'SoundCloud',
    verb: 'Listen',
    original: (url) => {
      const original = url.searchParams.get('url') ?? '';
      return original.startsWith('https://') ? original : null;
    },
  },
  'datawrapper.dwcdn.net': { kind: 'datawrapper', provider: 'Datawrapper', verb: 'Open' },
  'public.flourish.studio': { kind: 'flourish', provider: 'Flourish', verb: 'Open' },
};

/** An http or https address, from which credentials are removed; `null` for anything else, and for an empty one. */
export function webAddress(address: string | null | undefined, base?: string): URL | null {
  const text = address?.trim();
  const url = text ? URL.parse(text, base) : null;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return null;
  url.username = '';
  url.password = '';
  return url;
}

/** Whether an address is that of an SVG, which can run scripts and isn't shown as a picture. */
export const isSvg = (url: URL): boolean => /\.svgz?$/iu.test(url.pathname);

/** An address whose host is one of `hosts`, `host` or `host:port`; plain http is allowed for localhost alone. */
export function addressOn(hosts: readonly string[], url: URL | null): string | null {
  if (!url || !(hosts.includes(url.host) || hosts.includes(url.hostname))) return null;
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) url.protocol = 'https:';
  return url.href;
}

/** The player for Vimeo's page of a film; `null` for other addresses. An unlisted film has a hash after its id. */
function vimeoPlayer(url: URL): URL | null {
  if (!/^(?:www\.)?vimeo\.com$/u.test(url.hostname)) return null;
  const [, id, hash] = /^\/(\d+)(?:\/([\da-f]+)\/?$)?/u.exec(url.pathname) ?? [];
  return id ? new URL(`https://player.vimeo.com/video/${id}${hash ? `?h=${hash}` : ''}`) : null;
}

/** The embed for the address of a frame, or of a page that has a player; `null` when the site may not frame it. */
export function embedOf(address: string, frameHosts: readonly string[], base?: string): Embed | null {
  const url = webAddress(address, base);
  if (!url) return null;
  const id = youtubeId(url.href);
  if (id !== null) return frameHosts.some((host) => youtubeHosts.test(host)) ? youtube(id) : null;
  const src = addressOn(frameHosts, vimeoPlayer(url) ?? url);
  if (src === null) return null;
  const framed = new URL(src);
  const details = providers[framed.hostname] ?? { kind: 'other', provider: framed.hostname, verb: 'Open' as const };
  const { kind, provider, verb } = details;
  return { kind, provider, verb, src, href: details.original?.(framed) ?? src };
}

/** First web address in a piece of markup or text, `''` when there is none (spec section 3, "Crossword"). */
export function firstWebAddress(markup: string): string {
  const decoded = markup.replace(/&(?:amp|#0?38|#x26);/giu, '&').replace(/\\\//gu, '/');
  return /https?:\/\/[^\s"'<>\\]+/iu.exec(decoded)?.[0] ?? '';
}

// Links: WordPress's own addresses become the site's; other web addresses stay, and everything else is removed.

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
const sitePrefixes: Readonly<Record<string, string>> = {
  article: '/article/',
  articles: '/article/',
  media: '/media/',
  video: '/media/',
  author: '/author/',
  authors: '/author/',
  byline: '/author/',
  podcast: '/podcast/',
  podcasts: '/podcast/',
  crosswords: '/games/',
  games: '/games/',
  section: '/section/',
  category: '/section/',
};

/** Query variables of plain permalinks. */
const queryPrefixes: Readonly<Record<string, string>> = {
  articles: '/article/',
  video: '/media/',
  authors: '/author/',
  podcasts: '/podcast/',
  crosswords: '/games/',
  category_name: '/section/',
};

/** Paths for users of WordPress: a reader would get a log-in form or a refusal. */
const adminPaths =
  /^\/(?:wp-admin|wp-login\.php|wp-signup\.php|wp-comments-post\.php|wp-cron\.php|xmlrpc\.php)(?:\/|$)/u;

/** First parts of WordPress's paths that aren't slugs of pages. */
const notAPage = /^(?:wp-(?:admin|content|includes|json|login)|xmlrpc|feed|comments|tag|\d{4}$)/u;

/** The site's path for a path of WordPress; `null` when it has none. */
function sitePath(url: URL, root: string): string | null {
  const path = url.pathname
    .slice(root.length)
    .replace(/\/{2,}/gu, '/')
    .replace(/\/$/u, '');
  if (path === '' || path === '/index.php') {
    for (const [name, prefix] of Object.entries(queryPrefixes)) {
      const slug = url.searchParams.get(name);
      if (slug) return prefix + canonicalSlug(slug);
    }
    return url.search === '' ? '/' : null;
  }
  const [, first = '', second = '', ...rest] = path.split('/');
  const prefix = sitePrefixes[first];
  if (prefix && second) return prefix + canonicalSlug(rest.at(-1) ?? second);
  if (first === 'crosswords' || first === 'games') return '/games';
  // On this site a page below another page has an address of its own.
  if (!prefix && second && !notAPage.test(first) && url.search === '')
    return `/${canonicalSlug(rest.at(-1) ?? second)}`;
  if (prefix || second || notAPage.test(first) || first.includes('.') || url.search !== '') return null;
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
  if (url.host === site.host) {
    // A path that begins with two slashes would lead to another host.
    return { kind: 'site', href: url.pathname.replace(/^\/{2,}/u, '/') + url.search + url.hash };
  }
  const wordpress = new URL(addresses.wordpress);
  const root = wordpress.pathname.replace(/\/$/u, '');
  if (url.host === wordpress.host && (url.pathname === root || url.pathname.startsWith(`${root}/`))) {
    const within = url.pathname.slice(root.length);
    if (adminPaths.test(within) || url.searchParams.has('_wpnonce')) return null;
    if (within.startsWith('/wp-content/')) return { kind: 'external', href: url.href };
    const path = sitePath(url, root);
    if (path === '/') return { kind: 'site', href: path + url.hash };
    const href = path === null ? url.href : path + hashOnSite(url.hash);
    return { kind: 'wordpress', href, original: url.href };
  }
  return { kind: 'external', href: url.href };
}
