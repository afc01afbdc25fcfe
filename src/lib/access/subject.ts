/** Which article a path is about. */
import type { ContentReader } from '../content/model.ts';
import type { Subjected } from './service.ts';

/** @param path path or whole address, with or without a query; @returns `null` for what is no published article */
export function articleAt(content: Pick<ContentReader, 'article'>, path: string): Subjected | null {
  if (!URL.canParse(path, 'http://paper.example')) return null;
  const [, slug] = /^\/article\/([^/]+)\/?$/.exec(new URL(path, 'http://paper.example').pathname) ?? [];
  if (slug === undefined) return null;
  let plain: string;
  try {
    plain = decodeURIComponent(slug);
  } catch {
    return null;
  }
  const article = content.article(plain);
  return article && { id: article.id, slug: article.slug, level: article.access };
}
