/** Which article a path is about, and its access level: the editors' choice, else the publication's rule for its sections. */
import { publication } from '../../publication.ts';
import type { AccessLevel, ContentReader, WalledLevel } from '../content/model.ts';
import type { ArticleSubject } from './service.ts';

/** Levels of sections by their slug. */
export type SectionRules = Readonly<Record<string, Exclude<AccessLevel, 'default'>>>;

const strictness: Readonly<Record<AccessLevel, number>> = { default: 0, free: 1, registered: 2, subscriber: 3 };

/**
 * The access level of an article: its own, else the strictest of its sections', else metered.
 *
 * @param own level that the editors chose for it
 * @param sections slugs of the sections that it belongs to
 */
export function levelOf(
  own: AccessLevel,
  sections: readonly string[],
  rules: SectionRules = publication.access.sections,
): AccessLevel {
  if (own !== 'default') return own;
  return sections
    .map((slug): AccessLevel => (Object.hasOwn(rules, slug) ? (rules[slug] ?? 'default') : 'default'))
    .reduce((strictest, level) => (strictness[level] > strictness[strictest] ? level : strictest), 'default');
}

/** Whether the rest of an article is restricted. */
export const isWalled = (level: AccessLevel): level is WalledLevel => level === 'registered' || level === 'subscriber';

/** @param path path or whole address, with or without a query; @returns `null` for what is no published article */
export function articleAt(content: Pick<ContentReader, 'article'>, path: string): ArticleSubject | null {
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
