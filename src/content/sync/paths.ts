/** Paths of the site that show a document; for logs and the webhook's answer. */
import type { DocumentType } from '../../lib/content/model.ts';

/** Path of a document's own page. */
export function pathOf(type: DocumentType, slug: string): string {
  switch (type) {
    case 'articles':
      return `/article/${slug}`;
    case 'video':
      return `/media/${slug}`;
    case 'authors':
      return `/author/${slug}`;
    case 'crosswords':
      return '/games';
    case 'pages':
      return `/${slug}`;
  }
}

/** Paths that tags speak of, as far as tags alone say. */
export function pathsOfTags(tags: ReadonlySet<string>): string[] {
  const paths: string[] = [];
  for (const tag of tags) {
    if (tag.startsWith('section:')) paths.push(`/section/${tag.slice(8)}`, '/');
    else if (tag === 'latest') paths.push('/latest', '/');
    else if (tag === 'videos') paths.push('/media');
    else if (tag === 'crosswords') paths.push('/games');
    else if (tag === 'top-stories' || tag === 'navigation' || tag.startsWith('card:')) paths.push('/');
  }
  return paths;
}
