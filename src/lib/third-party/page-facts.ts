/** What is told about a page view, and in which form (spec section 3, "Article tracking"). */
import type { VisitorType } from './visitor-type.ts';

/** Article tracking: slug, title, id, date, author name, category label. */
export interface ArticleFacts {
  readonly slug: string;
  readonly title: string;
  readonly id: number;
  /** ISO 8601. */
  readonly date: string;
  /** `''` where nobody is named. */
  readonly author: string;
  /** Label of its first section; `''` without one. */
  readonly category: string;
}

/** What a page says about itself; nothing of its reader. */
export interface PageFacts {
  readonly kind: string;
  /** Slug of the section that the page is, or belongs to. */
  readonly section: string | null;
  readonly article: ArticleFacts | null;
}

/** One thing that happened. */
export interface TrackedEvent {
  /** e.g. `page_view`. */
  readonly event: string;
  readonly visitor_type: VisitorType;
  /** The audience tool's code of that type (publication.visitorTypeCodes). */
  readonly visitor_code: number;
  /** Without its query, which may hold an address or a token. */
  readonly page_path: string;
  readonly page_kind: string;
  /** `null` on every page that is no article, so that nothing of an earlier one stands. */
  readonly article: ArticleFacts | null;
  readonly [detail: string]: unknown;
}

/** What an article says for tracking. */
export function articleFacts(article: {
  readonly slug: string;
  readonly title: string;
  readonly id: number;
  readonly date: string;
  readonly author: { readonly name: string } | null;
  readonly sections: readonly { readonly label: string }[];
}): ArticleFacts {
  const { slug, title, id, date, author, sections } = article;
  return { slug, title, id, date, author: author?.name ?? '', category: sections[0]?.label ?? '' };
}
