/** The document that ingest gives to the content store: a WordPress document, validated, sanitized and in the site's own terms. */
import type {
  AccessLevel,
  Agency,
  Author,
  Correction,
  DocumentType,
  FeaturedStory,
  HeadlineTest,
  LiveCoverage,
  Picture,
  PodcastDetails,
  Section,
  Sound,
} from '../../lib/content/model.ts';
import type { FrontPlan } from '../../lib/fronts/model.ts';

/** Who made a story, each list in the editors' order. No one is in both. */
export interface BylineFacts {
  readonly authors: readonly number[];
  readonly contributors: readonly number[];
  readonly agency: Agency | null;
}

/** Fields that only some types have; the others omit them. */
export interface DocumentFacts {
  readonly access?: AccessLevel;
  /** WordPress sent only the start of the body, because the site has no credentials for the rest. */
  readonly restricted?: boolean;
  readonly words?: number;
  readonly minutes?: number;
  readonly commentsOpen?: boolean;
  /** When the words of a published article last changed, UTC instant; omitted where that is `modified`. */
  readonly edited?: string;
  /** Newest first; omitted when there are none. */
  readonly corrections?: readonly Correction[];
  /** Omitted if there is at most one author and nothing else; `authorId` then names that author. */
  readonly byline?: BylineFacts;
  /** For authors only. */
  readonly role?: string;
  /** Omitted when there is no sound. */
  readonly sound?: SoundFacts;
  /** For series only. */
  readonly podcast?: PodcastDetails;
  /** Omitted unless headlines are being tested, or cards show another headline than the story. */
  readonly test?: HeadlineTest;
  /** Omitted for a story that was never covered live. */
  readonly live?: LiveCoverage;
  /** Entries of live stories only: id of the story. */
  readonly story?: number;
  readonly pinned?: boolean;
  readonly keyEvent?: boolean;
  /** Front only. */
  readonly front?: FrontPlan;
  /** Pages only: the page is below another one, and may have the slug of a page that isn't. */
  readonly child?: boolean;
  /** Video only. */
  readonly videoUrl?: string;
  readonly providerId?: string | null;
  /** Crossword only. */
  readonly iframeSrc?: string;
}

/** The facts of a sound that lists and change detection need; the content store has a table for the rest. */
export interface SoundFacts {
  /** Id of the series. */
  readonly podcast: number | null;
  /** Changes with any change of the sound. */
  readonly mark: string;
}

/** The editors' selection for the front page, from the page `top-stories-2`. */
export interface TopStoriesChoice extends Pick<FeaturedStory, 'breaking' | 'bulleted' | 'featuredExcerpt'> {
  readonly ids: readonly number[];
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
  /** The first author. */
  readonly authorId: number | null;
  /** The first author as embedded in the document; used until the author's own document has arrived. */
  readonly author: Author | null;
  /** The other authors and the contributors as embedded. */
  readonly others?: readonly Author[];
  /** Ids of category terms, in WordPress's order. */
  readonly terms: readonly number[];
  /** UTC, `YYYY-MM-DDTHH:MM:SSZ`, so that text order is time order. */
  readonly date: string;
  readonly modified: string;
  readonly facts: DocumentFacts;
  readonly sound?: Sound;
  readonly bodyHtml: string;
  readonly openingHtml: string;
  /** Plain text for the search index, from public text only. */
  readonly searchText: string;
  /** Former slugs of the document. */
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

/** A category term. `position` is `null` when it isn't one of the newspaper's sections. */
export interface IngestedSection extends Omit<Section, 'navigationPosition'> {
  readonly position: number | null;
  /** Former slugs; omitted if there are none. */
  readonly former?: readonly string[];
}

/** Slug of the page with the editors' selection; the site never shows it as a page. */
export const topStoriesSlug = 'top-stories-2';
