/** Which parts of the layout a path gets (spec section 2, "Layout rules" and "Header"), and the navigation. The lists are in publication.ts. */
import { publication } from '../publication.ts';
import type { Section } from './content/model.ts';

export type HeaderKind = 'hidden' | 'compact' | 'full';
export type PageKind = 'home' | 'section' | 'article' | 'media' | 'community' | 'other';

export interface LayoutRules {
  readonly kind: PageKind;
  /** `compact` becomes the full header once the page has been scrolled (publication.layout.headerScrollThreshold). */
  readonly header: HeaderKind;
  readonly footer: boolean;
  /** Menu button, search, Join and user menu; community pages have none of them. */
  readonly headerControls: boolean;
  /** Media pages are black with a dark header. */
  readonly theme: 'paper' | 'media';
  /** Where the sticky subscribe footer belongs: home and section pages. */
  readonly stickyFooter: boolean;
}

/** Path without query, fragment and trailing slash; `/` stays. */
export function normalizePath(path: string): string {
  const bare = path.replace(/[?#].*$/u, '').replace(/\/+$/u, '');
  return bare === '' ? '/' : bare;
}

/** True for a listed path and for everything beneath it; `/` means the home page alone. */
function within(path: string, listed: readonly string[]): boolean {
  return listed.some((entry) => path === entry || (entry !== '/' && path.startsWith(`${entry}/`)));
}

/** @param path as {@link normalizePath} returns it */
export function kindOf(path: string): PageKind {
  if (path === '/') return 'home';
  // "any path containing /article counts as an article page" (spec section 2, "Routes")
  if (path.includes('/article')) return 'article';
  if (within(path, ['/media'])) return 'media';
  if (within(path, ['/section'])) return 'section';
  if (within(path, ['/community'])) return 'community';
  return 'other';
}

/** The rules for one path. Query, fragment and a trailing slash make no difference. */
export function layoutRules(path: string): LayoutRules {
  const bare = normalizePath(path);
  const kind = kindOf(bare);
  const { headerHidden, footerHidden, compactHeader } = publication.layout;
  const header = within(bare, headerHidden) ? 'hidden' : within(bare, compactHeader) ? 'compact' : 'full';
  return {
    kind,
    header,
    footer: !within(bare, footerHidden),
    headerControls: kind !== 'community',
    theme: kind === 'media' ? 'media' : 'paper',
    stickyFooter: kind === 'home' || kind === 'section',
  };
}

export interface NavigationItem {
  readonly name: string;
  readonly href: string;
  readonly external?: boolean;
}

/** Section of the navigation, in the order that the content gives them. */
export const sectionItems = (sections: readonly Section[]): NavigationItem[] =>
  sections.map((section) => ({ name: section.label, href: `/section/${section.slug}` }));

/** Entries in addition to the sections: Shop (external), Events, Watch, Games. */
export const extraItems: readonly NavigationItem[] = [
  ...(publication.links.shop ? [{ name: 'Shop', href: publication.links.shop, external: true }] : []),
  ...(publication.parts.events ? [{ name: 'Events', href: '/events' }] : []),
  ...(publication.parts.watch ? [{ name: 'Watch', href: '/media' }] : []),
  ...(publication.parts.games ? [{ name: 'Games', href: '/games' }] : []),
];

/**
 * `aria-current` of a link on the page at `path`: `page` for the page itself, or `true` for the part of the site that contains
 * it.
 */
export function ariaCurrent(href: string, path: string): 'page' | 'true' | undefined {
  if (path === href) return 'page';
  return href !== '/' && path.startsWith(`${href}/`) ? 'true' : undefined;
}
