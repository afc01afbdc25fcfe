/** The access service as routes see it, and the access level of an article: the editors' choice, else the rule for its sections. */
import { publication } from '../../publication.ts';
import type { Session } from '../accounts/service.ts';
import { type AccessLevel, type RestrictedLevel, strictness } from '../content/model.ts';
import type { ContentReader } from '../content/reader.ts';
import type { DeclaredData } from '../personal-data.ts';
import type { View } from './answers.ts';
import type { Subject } from './decide.ts';
import type { Grant } from './entitlements.ts';
import type { Gift, GiftOutcome } from './gifts.server.ts';

/** The facts about an article that access depends on. */
export interface ArticleSubject {
  readonly id: number;
  readonly slug: string;
  readonly level: Exclude<Subject, 'none'>;
}

export interface AccessQuestion {
  /** `null`: the reader is anonymous. */
  readonly session: Session | null;
  /** Path that is read, with or without a query. */
  readonly path: string;
  readonly article: ArticleSubject | null;
  /** The request's `Cookie` header, for a gift. */
  readonly cookies: string | null;
  /** Token of a gift link that is shown instead of a path. */
  readonly giftToken?: string | undefined;
  /** Whether to count the reading if the article is metered. */
  readonly count: boolean;
}

export interface Access {
  /** Collects the facts that decide about one page, and counts the reading. */
  view(question: AccessQuestion): Promise<View>;
  /** The access that a user's subscriptions give now, without a trial. */
  paidGrant(userId: string): Promise<Grant>;
  /** Gives an article away. `null`: the reader isn't a subscriber. */
  give(session: Session, articleId: number): Promise<GiftOutcome | null>;
  /**
   * What a gift link opens in this browser, without using it: a used-up link still works in a browser that has opened it
   * before.
   */
  peekGift(token: string, slugOf: (articleId: number) => string | null, cookies: string | null): Promise<Gift | null>;
  /**
   * Uses a link for one more browser.
   *
   * @param slugOf the article's slug by its id; `null`: it is gone
   * @param elsewhere paths outside the article's own to which the browser has to send the pass, too: its event stream, its recordings
   * @returns where to go, and whole `Set-Cookie` values; `null`: the link opens nothing (any more)
   */
  useGift(
    token: string,
    slugOf: (articleId: number) => string | null,
    cookies: string | null,
    elsewhere?: (articleId: number) => readonly string[],
  ): Promise<{ readonly path: string; readonly cookies: readonly string[] } | null>;
  readonly personalData: DeclaredData;
}

/** Levels of sections by their slug. */
export type SectionRules = Readonly<Record<string, Exclude<AccessLevel, 'default'>>>;

/**
 * The access level of an article: its own, or else the strictest of its sections, or else metered.
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
    .reduce((strictest, level) => (strictness(level) > strictness(strictest) ? level : strictest), 'default');
}

/** Whether the rest of an article is restricted. */
export const isRestrictedLevel = (level: AccessLevel): level is RestrictedLevel =>
  level === 'registered' || level === 'subscriber';

/** Whether some readers who could read everything before no longer can. `default` and `free` are equal here. */
export const isLevelRaised = (before: AccessLevel, after: AccessLevel): boolean =>
  isRestrictedLevel(after) && strictness(after) > strictness(before);

/** @param path path or whole address, with or without a query; @returns `null` if it isn't a published article */
export function articleAt(content: Pick<ContentReader, 'article'>, path: string): ArticleSubject | null {
  if (!URL.canParse(path, 'http://paper.example')) return null;
  const [, slug] = /^\/article\/([^/]+)(?:\/live)?\/?$/.exec(new URL(path, 'http://paper.example').pathname) ?? [];
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
