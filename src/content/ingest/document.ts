/** What ingest hands to the content store: one document of WordPress, checked, sanitized and in the paper's own words. */
import type { AccessLevel, Author, DocumentType, Picture } from '../../lib/content/model.ts';

/** What only some types have; a type leaves out what it lacks. */
export interface DocumentFacts {
  readonly access?: AccessLevel;
  /** The body came cut to its opening, because the site has no credentials for the rest. */
  readonly restricted?: boolean;
  readonly words?: number;
  readonly minutes?: number;
  readonly commentsOpen?: boolean;
  /** Video. */
  readonly videoUrl?: string;
  readonly providerId?: string | null;
  /** Crossword. */
  readonly iframeSrc?: string;
}

/** The editors' choice for the front page, from the page `top-stories-2`. */
export interface TopStoriesChoice {
  readonly ids: readonly number[];
  readonly breaking: boolean;
  readonly bulleted: boolean;
  readonly featuredExcerpt: string;
}

export interface IngestedDocument {
  readonly type: DocumentType;
  readonly id: number;
  readonly slug: string;
  /** Plain text; an author's name. */
  readonly title: string;
  /** Plain text, at most 300 characters; an author's biography may be longer. */
  readonly excerpt: string;
  readonly image: Picture | null;
  readonly authorId: number | null;
  /** The author as the document itself carries it; takes the place of the author's own document until that has come. */
  readonly author: Author | null;
  /** Ids of category terms, as WordPress orders them. */
  readonly terms: readonly number[];
  /** UTC, `YYYY-MM-DDTHH:MM:SSZ`, so that text order is time order. */
  readonly date: string;
  readonly modified: string;
  readonly facts: DocumentFacts;
  readonly bodyHtml: string;
  readonly openingHtml: string;
  /** Plain text for the search index: of public text only. */
  readonly searchText: string;
  /** Slugs that led to it before. */
  readonly oldSlugs: readonly string[];
  readonly topStories: TopStoriesChoice | null;
}

export interface IngestedComment {
  readonly id: number;
  readonly post: number;
  readonly parent: number;
  readonly author: string;
  readonly contentHtml: string;
  readonly date: string;
}

/** A category term. `position` is `null` when it is not a section of the paper. */
export interface IngestedSection {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly label: string;
  readonly homepageCount: number;
  readonly showInMedia: boolean;
  readonly position: number | null;
  readonly color: 'default' | 'red';
}

/** Slug of the page that holds the editors' choice; it is never shown as a page. */
export const topStoriesSlug = 'top-stories-2';
