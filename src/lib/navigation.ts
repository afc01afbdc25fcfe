/** The ways through the paper: sections by navigation position, then the fixed extras (spec section 2). */

import { publication } from '../publication.ts';
import type { Section } from './content/model.ts';

export interface NavigationItem {
  readonly name: string;
  readonly href: string;
  readonly external?: boolean;
}

/** Section of the navigation, in the order that the content gives them. */
export const sectionItems = (sections: readonly Section[]): NavigationItem[] =>
  sections.map((section) => ({ name: section.label, href: `/section/${section.slug}` }));

/** Entries beside the sections: Shop (external), Events, Watch, Games. */
export const extraItems: readonly NavigationItem[] = [
  { name: 'Shop', href: publication.links.shop, external: true },
  { name: 'Events', href: '/events' },
  { name: 'Watch', href: '/media' },
  { name: 'Games', href: '/games' },
];

/** `aria-current` of a link on the page at `path`: the page itself, or a part of the paper that holds it. */
export function ariaCurrent(href: string, path: string): 'page' | 'true' | undefined {
  if (path === href) return 'page';
  return href !== '/' && path.startsWith(`${href}/`) ? 'true' : undefined;
}
