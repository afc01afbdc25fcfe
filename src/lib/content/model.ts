/**
 * The content as pages see it: plain text, sanitized HTML in `…Html` fields, UTC instants as ISO 8601 strings ending in `Z`, and
 * nothing of WordPress's wire format.
 *
 * Everything here has been through `ingest` (sanitized once, on the way into the content store); pages may print `…Html`
 * fields with `set:html` and must print every other field as text.
 */

/** A picture with the dimensions that reserve its space. */
export interface Picture {
  /** Absolute address of the original; pages never link it directly but through `imageUrl` (src/lib/images/url.ts). */
  readonly url: string;
  readonly alt: string;
  /** Pixels of the original. `null` only while the original could not be measured. */
  readonly width: number | null;
  readonly height: number | null;
  readonly caption: string;
  readonly credit: string;
}

/** What a reader needs in order to read a body, the strictest last. `default` follows the section's rule (free until one is set). */
export const accessLevels = ['default', 'free', 'registered', 'subscriber'] as const;
export type AccessLevel = (typeof accessLevels)[number];

/** Levels that need an account. */
export type RestrictedLevel = Exclude<AccessLevel, 'default' | 'free'>;

/** Position of a level in the order of strictness. */
export const strictness = (level: AccessLevel): number => accessLevels.indexOf(level);

export interface Section {
  /** WordPress term id; `0` until WordPress has reported it. */
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly label: string;
  readonly homepageCount: number;
  readonly showInMedia: boolean;
  readonly navigationPosition: number;
  readonly color: 'default' | 'red';
}

/** A section's color as an attribute. The usual color needs no attribute, which would be in the front page two dozen times. */
export const colorMark = (color: Section['color']): 'red' | undefined => (color === 'default' ? undefined : color);

export interface AuthorRef {
  readonly id: number;
  readonly name: string;
  readonly slug: string;
}

export interface Author extends AuthorRef {
  /** Plain text. */
  readonly excerpt: string;
  readonly image: Picture | null;
  /** For example "Economics editor"; plain text. */
  readonly role?: string | undefined;
}

/** A news agency that a story comes from. */
export interface Agency {
  /** Plain text. */
  readonly name: string;
  /** Absolute, or `''`. */
  readonly url: string;
}

/** Who made a story, each list in the editors' order. */
export interface Byline<Person extends AuthorRef = AuthorRef> {
  readonly authors: readonly Person[];
  /** Those who helped: "With reporting by". None of them is an author. */
  readonly contributors: readonly AuthorRef[];
  readonly agency: Agency | null;
}

/** Headlines for a story's cards in addition to its own, and pictures for them (lib/headline-tests). */
export interface HeadlineTest {
  /** Id of this test; a test with other headlines has another id. */
  readonly id: string;
  /** `won`: the test is over, and every card shows the one headline in `others`. */
  readonly state: 'running' | 'won';
  /** UTC. */
  readonly started: string;
  /** The headlines in addition to the story's own, plain text; `image` is `null` if the story's own picture stays. */
  readonly others: readonly { readonly title: string; readonly image: Picture | null }[];
}

/** What a list shows of an article. */
export interface Card {
  readonly id: number;
  readonly slug: string;
  readonly title: string;
  /** Standfirst: plain text, at most 300 characters, possibly empty. */
  readonly excerpt: string;
  readonly image: Picture | null;
  readonly byline: Byline;
  /** The article's first section in navigation order. */
  readonly section: Pick<Section, 'slug' | 'label' | 'color'> | null;
  /** First published, UTC. */
  readonly date: string;
  /** Last changed, UTC. */
  readonly modified: string;
  readonly access: AccessLevel;
  /** Estimated reading time, whole minutes, at least 1. */
  readonly minutes: number;
  /** Only lists of stories show its headlines; everything else shows the story's own. */
  readonly test?: HeadlineTest | undefined;
  /** It is being covered live. */
  readonly isLive?: true | undefined;
}

export const correctionKinds = ['correction', 'clarification'] as const;

/** An editors' dated note on a story. Every reader may read it, whatever the story's access level. */
export interface Correction {
  readonly kind: (typeof correctionKinds)[number];
  /** UTC. */
  readonly date: string;
  /** One paragraph, sanitized HTML of very few elements (a, em, strong). */
  readonly html: string;
}

/** A story that is covered live, or was: its text has entries, newest first. */
export interface LiveCoverage {
  readonly state: 'live' | 'ended';
  /** UTC; `null` when WordPress doesn't say. */
  readonly started: string | null;
  readonly ended: string | null;
}

/** One entry of a story that is covered live. */
export interface LiveEntry {
  readonly id: number;
  /** The story's id. */
  readonly story: number;
  /** Plain text, possibly empty. */
  readonly title: string;
  readonly bodyHtml: string;
  readonly author: AuthorRef | null;
  readonly date: string;
  readonly modified: string;
  /** Shown above the others. */
  readonly pinned: boolean;
  readonly keyEvent: boolean;
  /** Changes with everything that the entry shows. */
  readonly version: string;
}

/** What the event stream of a live story needs to know about it. */
export interface LiveStory {
  readonly id: number;
  /** Path of its page. */
  readonly path: string;
  readonly access: AccessLevel;
  /** A fingerprint of all its entries: the same on every node that has the same entries. */
  readonly state: string;
}

/** The parts of a note that decide whether a reader is notified. */
export type CorrectionMark = Pick<Correction, 'kind' | 'date'>;

/** A note with the story that it belongs to. */
export interface CorrectedStory extends Correction {
  readonly card: Card;
}

/** A named position in an audio file. */
export interface Chapter {
  /** Whole seconds from the beginning. */
  readonly start: number;
  /** Plain text. */
  readonly title: string;
}

/** The audio file of a story. On a restricted story, all but its title and its length is paid content. */
export interface Sound {
  /** Plain text; `''`: the story's own title is used. */
  readonly title: string;
  /** Address of the file; `''` while WordPress withholds it because the site has no credentials. */
  readonly url: string;
  /** Media type, such as `audio/mpeg`. */
  readonly type: string;
  /** Length of the file; 0 while WordPress doesn't say. */
  readonly bytes: number;
  /** Length in seconds; 0 while WordPress doesn't say. */
  readonly seconds: number;
  /** Sorted by time. */
  readonly chapters: readonly Chapter[];
  /** Plain text or WebVTT; `''` when there is none. */
  readonly transcript: string;
  /** Id of the series. */
  readonly podcastId: number | null;
}

/** A document with text and its own page. */
interface Written {
  readonly id: number;
  readonly slug: string;
  readonly title: string;
  /** Plain text, at most 300 characters. */
  readonly excerpt: string;
  readonly bodyHtml: string;
  readonly image: Picture | null;
  readonly modified: string;
}

/** A series of stories with sound. */
export interface Podcast extends Written {
  readonly details: PodcastDetails;
}

/** Fields that podcast directories require. */
export interface PodcastDetails {
  /** UUID that never changes; `''` until WordPress has assigned one. */
  readonly guid: string;
  /** Language code; `''` for the newspaper's. */
  readonly language: string;
  readonly author: string;
  /** Email address of the owner; `''` if there is none. */
  readonly email: string;
  /** Category of the directories, and a subcategory if there is one. */
  readonly category: readonly string[];
  readonly explicit: boolean;
  /** Whether its episodes are for subscribers, unless a story says otherwise. */
  readonly paid: boolean;
}

/** A story of a series. */
export interface Episode {
  readonly card: Card;
  readonly sound: Sound;
}

/** An audio file that belongs to a story, and who may listen to it. */
export interface StoryAudio {
  readonly slug: string;
  readonly access: AccessLevel;
  readonly url: string;
  /** Media type; `''` when the story doesn't state it. */
  readonly type: string;
}

export interface Article extends Omit<Card, 'byline'> {
  readonly byline: Byline<Author>;
  /** Every section it belongs to, in navigation order. */
  readonly sections: readonly Section[];
  /** The full body, sanitized HTML. */
  readonly bodyHtml: string;
  /** The part of the body that anyone may read when the rest is for registered readers or subscribers. */
  readonly openingHtml: string;
  readonly words: number;
  readonly commentsOpen: boolean;
  /** Newest first. */
  readonly corrections: readonly Correction[];
  readonly sound: Sound | null;
  /** The series of its sound. */
  readonly podcast: Podcast | null;
  /** `null` for a story that was never covered live. */
  readonly live: LiveCoverage | null;
}

export interface Video extends Written {
  readonly author: AuthorRef | null;
  readonly section: Pick<Section, 'slug' | 'label' | 'color'> | null;
  /** `providerId` is the YouTube id taken from the link; `null` when the link has none. */
  readonly video: { readonly url: string; readonly providerId: string | null; readonly provider: 'youtube' };
  readonly date: string;
}

export interface Crossword {
  readonly id: number;
  readonly slug: string;
  readonly title: string;
  readonly author: AuthorRef | null;
  /** First web address in the embed markup, `''` when there is none or its host is not allowed. */
  readonly iframeSrc: string;
  readonly date: string;
}

/** A page of the paper that editors write: about, privacy policy, events, … */
export type StaticPage = Written;

export interface TopStories {
  readonly featured: FeaturedStory | null;
  readonly others: readonly Card[];
  /** Ids as the editors ordered them, the featured one first, unpublished ones left out. */
  readonly ids: readonly number[];
}

export interface FeaturedStory extends Card {
  readonly breaking: boolean;
  readonly bulleted: boolean;
  /** The editors' own words for the front page; falls back to the article's excerpt, or `''`. One line per bullet. */
  readonly featuredExcerpt: string;
}

export interface Comment {
  readonly id: number;
  readonly articleId: number;
  readonly parentId: number;
  readonly author: string;
  /** Sanitized HTML of very few elements (p, br, a, em, strong, blockquote, code). */
  readonly contentHtml: string;
  readonly status: 'approved' | 'hold';
  readonly date: string;
  /** Replies to a top-level comment; `recent` has the newest three, in chronological order. */
  readonly replies: { readonly total: number; readonly recent: readonly Comment[] };
}

export interface MenuItem {
  readonly title: string;
  readonly href: string;
}

export type DocumentType =
  | 'articles'
  | 'live-entries'
  | 'video'
  | 'crosswords'
  | 'pages'
  | 'authors'
  | 'podcasts'
  | 'fronts';
