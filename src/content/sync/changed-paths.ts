/** Paths of the site that show a change, for logs and the response to the webhook. */
import type { DocumentType } from '../../lib/content/model.ts';
import { fixedPages } from '../../lib/http/fixed-pages.ts';
import { editorialSlugs } from '../../lib/static/builtin.ts';
import { topStoriesSlug } from '../ingest/document.ts';
import type { StoredChange } from '../store/write.server.ts';

/** Slugs of the pages that this newspaper has, and whose texts are written in WordPress. */
const pageSlugs = new Set(editorialSlugs.filter((slug) => fixedPages.some(({ path }) => path === `/${slug}`)));

/** Whether the site shows what editors enter in a page of WordPress. */
export const showsPage = (slug: string): boolean => pageSlugs.has(slug) || slug === topStoriesSlug;

/** The paths of a changed document's own page, before and after. */
export const ownPaths = ({ type, slugs, tags }: StoredChange): string[] =>
  tags.size === 0 ? [] : slugs.flatMap((slug) => (slug === null ? [] : (pathOf(type, slug) ?? [])));

/**
 * Path of a document's own page; `null` for an entry of a live story and a front, whose slugs aren't in an address, and for pages that the
 * site doesn't have.
 */
function pathOf(type: DocumentType, slug: string): string | null {
  switch (type) {
    case 'live-entries':
    case 'fronts':
      return null;
    case 'articles':
      return `/article/${slug}`;
    case 'video':
      return `/media/${slug}`;
    case 'authors':
      return `/author/${slug}`;
    case 'podcasts':
      return `/podcast/${slug}`;
    case 'crosswords':
      return `/games/${slug}`;
    case 'pages':
      return pageSlugs.has(slug) ? `/${slug}` : null;
  }
}

/** The paths that tags name. */
export function pathsOfTags(tags: ReadonlySet<string>): string[] {
  const paths: string[] = [];
  for (const tag of tags) {
    if (tag.startsWith('section:')) paths.push(`/section/${tag.slice(8)}`, '/');
    else if (tag === 'latest') paths.push('/latest', '/');
    else if (tag === 'videos') paths.push('/media');
    else if (tag === 'crosswords') paths.push('/games');
    else if (tag === 'podcasts') paths.push('/podcasts');
    else if (tag === 'top-stories' || tag === 'navigation' || tag === 'front:home' || tag.startsWith('card:'))
      paths.push('/');
  }
  return paths;
}
