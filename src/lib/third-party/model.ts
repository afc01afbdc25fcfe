/** What third parties get: the type of visitor and what the page is (spec sections 3 and 4); and what an adapter of one is. */
import type { Session } from '../accounts/session.ts';
import type { Consent } from '../consent/model.ts';
import type { ThirdParties, ThirdPartyName } from './settings.ts';

export type VisitorType = 'anonymous' | 'registered' | 'subscriber' | 'reader' | 'member' | 'founder';

/**
 * The type of a session: founder before member before reader, otherwise registered; `null` while nothing is known, and
 * nothing is to be sent. `subscriber` has a code and is never assigned (spec section 4).
 */
export function visitorType(session: Session): VisitorType | null {
  if (session.status === 'loading') return null;
  if (!session.isAuthenticated) return 'anonymous';
  if (session.isFounder) return 'founder';
  if (session.isMember) return 'member';
  return session.isReader ? 'reader' : 'registered';
}

/** Article tracking: slug, title, id, date, author name, category label. */
export interface ArticleFacts {
  readonly slug: string;
  readonly title: string;
  readonly id: number;
  /** ISO 8601. */
  readonly date: string;
  /** `''` where there is none. */
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

export interface Adapter {
  /** Allowed by the reader. Called again after a withdrawal, and whenever the choice changes; the script is fetched once. */
  allow(consent: Consent): void | Promise<void>;
  /** Allowed no longer: nothing more is sent. What a script that is already there does by itself ends with the page. */
  withdraw(): void;
  /** Who is reading, once that is known and whenever it changes. */
  visitor?(type: VisitorType): void;
  /** The reader has gone back to this page, or along within it. */
  route?(): void;
}

export interface AdapterContext<Name extends ThirdPartyName> {
  readonly settings: NonNullable<ThirdParties[Name]>;
  readonly page: PageFacts;
  /** Code of each type of visitor: `publication.visitorTypeCodes`, for Marfeel `publication.marfeelUserTypes`. */
  readonly codes: Readonly<Record<VisitorType, number>>;
}

export const pageDataId = 'third-parties';

export interface PageData {
  readonly settings: ThirdParties;
  readonly page: PageFacts;
}

/** `null` where nothing is set up. */
export function readPageData(): PageData | null {
  const text = document.getElementById(pageDataId)?.textContent;
  return text ? (JSON.parse(text) as PageData) : null;
}

/** The settings as pages carry them: without what the policy alone needs. */
export const dataFor = (settings: ThirdParties, page: PageFacts): PageData => ({
  settings: { ...settings, tagManager: settings.tagManager && { ...settings.tagManager, hosts: [] } },
  page,
});
