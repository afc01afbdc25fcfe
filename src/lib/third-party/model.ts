/**
 * The data for third parties: the type of visitor and the page's description (spec sections 3 and 4); and the interface of the
 * adapters.
 */
import type { Session } from '../accounts/session.ts';
import { bylineText } from '../bylines/model.ts';
import type { Consent } from '../consent/model.ts';
import type { Byline } from '../content/model.ts';
import type { ThirdParties, ThirdPartyName } from './settings.ts';

export type VisitorType = 'anonymous' | 'registered' | 'subscriber' | 'reader' | 'member' | 'founder';

/**
 * The type of a session: founder before member before reader, otherwise registered; `null` while it is unknown, and nothing may be
 * sent. `subscriber` has a code but is never assigned (spec section 4).
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
  /** Several authors as in the byline; `''` if there is none. */
  readonly author: string;
  /** Label of its first section; `''` without one. */
  readonly category: string;
}

/** A page's description of itself, without data about its reader. */
export interface PageFacts {
  readonly kind: string;
  /** Slug of the section that the page is, or belongs to. */
  readonly section: string | null;
  readonly article: ArticleFacts | null;
}

/** An event on the page. */
export interface TrackedEvent {
  /** e.g. `page_view`. */
  readonly event: string;
  readonly visitor_type: VisitorType;
  /** The audience tool's code of that type (publication.visitorTypeCodes). */
  readonly visitor_code: number;
  /** Without its query, which may contain an address or a token. */
  readonly page_path: string;
  readonly page_kind: string;
  /** `null` on every page that isn't an article, so that no values of an earlier one remain. */
  readonly article: ArticleFacts | null;
  readonly [detail: string]: unknown;
}

/** An article's data for tracking. */
export function articleFacts(article: {
  readonly slug: string;
  readonly title: string;
  readonly id: number;
  readonly date: string;
  readonly byline: Byline;
  readonly sections: readonly { readonly label: string }[];
}): ArticleFacts {
  const { slug, title, id, date, byline, sections } = article;
  return { slug, title, id, date, author: bylineText(byline), category: sections[0]?.label ?? '' };
}

export interface Adapter {
  /** The reader allows it. Called again after a withdrawal, and whenever the choice changes; the script is fetched once. */
  allow(consent: Consent): void | Promise<void>;
  /** The reader withdraws it: nothing more is sent. Actions of an already loaded script end with the page. */
  withdraw(): void;
  /** The type of visitor, once it is known and whenever it changes. */
  visitor?(type: VisitorType): void;
  /** The reader has returned to this page, or moved along within it. */
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

/** `null` when no third party is configured. */
export function readPageData(): PageData | null {
  const text = document.getElementById(pageDataId)?.textContent;
  return text ? (JSON.parse(text) as PageData) : null;
}

/** The settings in pages: without the fields that only the policy needs. */
export const dataFor = (settings: ThirdParties, page: PageFacts): PageData => ({
  settings: { ...settings, tagManager: settings.tagManager && { ...settings.tagManager, hosts: [] } },
  page,
});
