/** The access service as routes see it. */
import type { Session } from '../accounts/service.ts';
import type { PersonalData } from '../personal-data.ts';
import type { View } from './answers.ts';
import type { Subject } from './decide.ts';
import type { Gift, Given } from './gifts.server.ts';

/** What access depends on about an article. */
export interface ArticleSubject {
  readonly id: number;
  readonly slug: string;
  readonly level: Exclude<Subject, 'none'>;
}

export interface Question {
  /** `null`: nobody is signed in. */
  readonly session: Session | null;
  /** Path that is read, with or without a query. */
  readonly path: string;
  readonly article: ArticleSubject | null;
  /** The request's `Cookie` header, for a gift. */
  readonly cookies: string | null;
  /** A gift's token that is shown instead. */
  readonly giftToken?: string | undefined;
  /** Whether reading the article is to be counted, where it is metered. */
  readonly count: boolean;
}

export interface Access {
  /** Everything that decides about one page, and the reading counted. */
  view(question: Question): Promise<View>;
  /** Whether this reader may give articles away, and gives one. `null`: only subscribers may. */
  give(session: Session, articleId: number): Promise<Given | null>;
  /** What a gift's link opens in this browser, without using it: one that is used up, too, where it was opened here. */
  peekGift(token: string, slugOf: (articleId: number) => string | null, cookies: string | null): Promise<Gift | null>;
  /**
   * Uses a link for one browser more.
   *
   * @param slugOf the article's slug by its id; `null`: it is gone
   * @returns where to go, and whole `Set-Cookie` values; `null`: the link opens nothing (any more)
   */
  useGift(
    token: string,
    slugOf: (articleId: number) => string | null,
    cookies: string | null,
  ): Promise<{ readonly path: string; readonly cookies: readonly string[] } | null>;
  readonly personalData: PersonalData;
}
