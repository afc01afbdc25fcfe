/**
 * Addresses of an ordinary WordPress whose posts became articles, and of sections that were renamed. WordPress lists the former paths of a
 * document among its former slugs (docs/content-api.md), and the content store treats both alike.
 */
import type { ContentReader } from '../../lib/content/reader.ts';

/** Endings that WordPress appends to a post's path: further pages of the text or of its comments, a feed, an AMP page. */
const appended = /\/(?:amp|embed|feed|trackback|comment-page-\d+|page\/\d+|\d+)$/;

/** A redirect of a former address. */
export interface FormerPage {
  readonly location: string;
  /** Whether it may be stored. */
  readonly storable: boolean;
}

/** Addresses that name at most one section or author: there are few of them that lead anywhere. */
const oneName = /^(?:\/(?:category|section|author)\/[^/]+)?(?:\/feed(?:\/(?:rss2?|rdf|atom))?)?$/;

/**
 * The redirect of a page's key, see {@link formerAddress}. It may be stored only where the number of such addresses is limited: anyone can
 * append numbers to a story's former path, or put anything before a category.
 */
export function formerPage(content: ContentReader, key: string): FormerPage | null {
  const path = key.split('?', 1)[0] ?? key;
  const location = formerAddress(content, path);
  if (location === null) return null;
  return { location, storable: key === path && (oneName.test(path) || storyAt(content, path) !== null) };
}

/**
 * The current address for a path of the former site; `null` if the former site had nothing there.
 *
 * @param path without a slash at its end
 */
export function formerAddress(content: ContentReader, path: string): string | null {
  return (
    storyAt(content, path) ??
    feedAt(content, path) ??
    sectionAt(content, path) ??
    renamed(content, path) ??
    shortened(content, path) ??
    (/^\/(?:wp-sitemap|sitemap_index)\.xml$/.test(path) ? '/sitemap.xml' : null)
  );
}

/**
 * The feed of the newspaper, of a category or of an author: feed readers must be redirected, because no reader would see a page
 * about the move.
 */
function feedAt(content: ContentReader, path: string): string | null {
  const [, of, form] = /^(.*)\/feed(?:\/(rss2?|rdf|atom))?$/.exec(path) ?? [];
  if (of === undefined) return null;
  const file = form === 'atom' ? 'atom.xml' : 'rss.xml';
  if (of === '') return `/${file}`;
  const [, slug] = /^\/author\/([^/]+)$/.exec(of) ?? [];
  if (slug !== undefined && content.author(slug)) return `/author/${slug}/${file}`;
  const section = sectionAt(content, of);
  return section && `${section}/${file}`;
}

function storyAt(content: ContentReader, path: string): string | null {
  const resolved = content.resolveSlug('articles', path);
  return resolved.kind === 'moved' ? `/article/${resolved.slug}` : null;
}

/** A category that isn't a section redirects to its nearest ancestor that is one. */
function sectionAt(content: ContentReader, path: string): string | null {
  const [, below] = /^\/category\/(.+)$/.exec(path) ?? [];
  for (const slug of below?.split('/').reverse() ?? []) {
    const section = content.section(slug) ?? content.formerSection(slug);
    if (section) return `/section/${section.slug}`;
  }
  return null;
}

/**
 * A section's former slug redirects to the section and its feeds; a live story's former slug, on further pages, redirects to
 * the story.
 */
function renamed(content: ContentReader, path: string): string | null {
  const [, slug, rest = ''] = /^\/section\/([^/]+)(\/[a-z]+\.[a-z]+)?$/.exec(path) ?? [];
  const section = slug === undefined ? null : content.formerSection(slug);
  if (section) return `/section/${section.slug}${rest}`;
  // Page numbers of a live story shift with each update, so the redirect leads to the first page.
  const [, story] = /^\/article\/([^/]+)\/live$/.exec(path) ?? [];
  const resolved = story === undefined ? null : content.resolveSlug('articles', story);
  return resolved?.kind === 'moved' && !content.article(story ?? '') ? `/article/${resolved.slug}` : null;
}

function shortened(content: ContentReader, path: string): string | null {
  const rest = path.replace(appended, '');
  return rest === path || rest === '' ? null : storyAt(content, rest);
}

/** Where `/?p=12`, WordPress's address of a post by its number, leads; `null` if it isn't such an address or there is no such story. */
export function storyByNumber(content: () => ContentReader, target: string): string | null {
  const [, id] = /^\/(?:index\.php)?\?(?:[^#]*&)?p=(\d{1,15})(?:[&#]|$)/.exec(target) ?? [];
  if (id === undefined) return null;
  const [story] = content().articles({ ids: [Number(id)] }).items;
  return story ? `/article/${story.slug}` : null;
}
