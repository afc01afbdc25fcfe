/**
 * What the paper is made of, as pages see it: plain text where text is meant, sanitized HTML where markup is meant,
 * UTC instants as ISO 8601 strings ending in `Z`, and nothing of WordPress's wire format.
 *
 * Everything here has been through `ingest` (sanitized once, on the way into the content store); pages may print `…Html`
 * fields with `set:html` and must print every other field as text.
 */

import type { Alert } from '../alerts/model.ts';
import type { FrontSlot, Placed } from '../fronts/model.ts';

/** A picture with what it needs to take its place without moving anything. */
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
export type WalledLevel = Exclude<AccessLevel, 'default' | 'free'>;

/** Position of a level in the order of strictness. */
export const strictness = (level: AccessLevel): number => accessLevels.indexOf(level);

export interface Section {
  /** WordPress term id; `0` while WordPress has not said. */
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly label: string;
  readonly homepageCount: number;
  readonly showInMedia: boolean;
  readonly navigationPosition: number;
  readonly color: 'default' | 'red';
}

export interface AuthorRef {
  readonly id: number;
  readonly name: string;
  readonly slug: string;
}

export interface Author extends AuthorRef {
  /** Plain text. */
  readonly excerpt: string;
  readonly image: Picture | null;
  /** Such as "Economics editor"; plain text. */
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

/** Headlines of a story for its cards, beside its own, and pictures for them (lib/headline-tests). */
export interface HeadlineTest {
  /** Of this test: another one for other headlines. */
  readonly id: string;
  /** `won`: the test is over, and every card shows the one headline in `others`. */
  readonly state: 'running' | 'won';
  /** UTC. */
  readonly started: string;
  /** The headlines beside the story's own, plain text; `image` is `null` where the story's own picture stays. */
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
  /** Stands above the others. */
  readonly pinned: boolean;
  readonly keyEvent: boolean;
  /** Changes with everything that the entry shows. */
  readonly version: string;
}

/** What the event stream of a live story needs to know of it. */
export interface LiveStory {
  readonly id: number;
  /** Path of its page. */
  readonly path: string;
  readonly access: AccessLevel;
  /** A fingerprint of all its entries: the same on every node that has the same entries. */
  readonly state: string;
}

/** Which entries of a story: in the order of time, those that stand above the others, or the key events. */
export type LiveList = 'story' | 'pinned' | 'key';

/** What of a note decides whether a reader is told. */
export type CorrectionMark = Pick<Correction, 'kind' | 'date'>;

/** A note with the story that it belongs to. */
export interface CorrectedStory extends Correction {
  readonly card: Card;
}

/** A place in an audio file that has a name. */
export interface Chapter {
  /** Whole seconds from the beginning. */
  readonly start: number;
  /** Plain text. */
  readonly title: string;
}

/** The audio file of a story. On a restricted story, all but its title and its length is paid content. */
export interface Sound {
  /** Plain text; `''` where the story's own title is the title. */
  readonly title: string;
  /** Address of the file; `''` while WordPress withholds it because the site has no credentials. */
  readonly url: string;
  /** Media type, such as `audio/mpeg`. */
  readonly type: string;
  /** Length of the file; 0 while WordPress doesn't say. */
  readonly bytes: number;
  /** Length in seconds; 0 while WordPress doesn't say. */
  readonly seconds: number;
  /** In the order of their times. */
  readonly chapters: readonly Chapter[];
  /** Plain text or WebVTT; `''` when there is none. */
  readonly transcript: string;
  /** Id of the series. */
  readonly podcastId: number | null;
}

/** A series of stories with sound. */
export interface Podcast {
  readonly id: number;
  readonly slug: string;
  readonly title: string;
  /** Plain text, at most 300 characters. */
  readonly excerpt: string;
  readonly bodyHtml: string;
  readonly image: Picture | null;
  readonly modified: string;
  readonly details: PodcastDetails;
}

/** What podcast directories ask for. */
export interface PodcastDetails {
  /** UUID that never changes; `''` while WordPress has given none. */
  readonly guid: string;
  /** Language code; `''` for the newspaper's. */
  readonly language: string;
  readonly author: string;
  /** Of the owner; `''` when there is none. */
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
  /** The whole body, sanitized HTML. */
  readonly bodyHtml: string;
  /** The part of the body that anyone may read when the rest is for registered readers or subscribers. */
  readonly openingHtml: string;
  readonly words: number;
  readonly commentsOpen: boolean;
  /** Newest first. */
  readonly corrections: readonly Correction[];
  readonly sound: Sound | null;
  /** The series that its sound belongs to. */
  readonly podcast: Podcast | null;
  /** `null` for a story that was never covered live. */
  readonly live: LiveCoverage | null;
}

export interface Video {
  readonly id: number;
  readonly slug: string;
  readonly title: string;
  readonly excerpt: string;
  readonly bodyHtml: string;
  readonly author: AuthorRef | null;
  readonly section: Pick<Section, 'slug' | 'label' | 'color'> | null;
  readonly image: Picture | null;
  /** `providerId` is the YouTube id taken from the link; `null` when the link has none. */
  readonly video: { readonly url: string; readonly providerId: string | null; readonly provider: 'youtube' };
  readonly date: string;
  readonly modified: string;
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
export interface StaticPage {
  readonly id: number;
  readonly slug: string;
  readonly title: string;
  readonly excerpt: string;
  readonly bodyHtml: string;
  readonly image: Picture | null;
  readonly modified: string;
}

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
  /** Replies to a top-level comment; `recent` holds the newest three, oldest of them first. */
  readonly replies: { readonly total: number; readonly recent: readonly Comment[] };
}

/** Newest first, oldest first, or those with the most replies first, and the newest of them before others. */
export type CommentOrder = 'desc' | 'asc' | 'replies';

export interface MenuItem {
  readonly title: string;
  readonly href: string;
}

/** One page of a longer list. */
export interface Slice<T> {
  readonly items: readonly T[];
  /** How many there are in all, with the same filter. */
  readonly total: number;
}

/** Filter of a list of articles. All parts combine with "and". Newest first unless `ids` or `order` says otherwise. */
export interface ArticleFilter {
  readonly section?: string;
  /** Author or contributor. */
  readonly authorId?: number;
  /** Exactly these, in this order; unknown and unpublished ones are left out. */
  readonly ids?: readonly number[];
  readonly exclude?: readonly number[];
  readonly offset?: number;
  readonly limit?: number;
  /** Only articles published at or after this UTC instant. */
  readonly since?: string;
  readonly order?: 'asc' | 'desc';
}

/** What became of an address that has no published document. */
export type Fate =
  /** It moved: answer 301 to this slug. */
  | { readonly kind: 'moved'; readonly slug: string }
  /** It was withdrawn by the editors: answer 410. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'unknown' };

export type DocumentType =
  | 'articles'
  | 'live-entries'
  | 'video'
  | 'crosswords'
  | 'pages'
  | 'authors'
  | 'podcasts'
  | 'fronts';

export interface SearchHit extends Card {
  /** Plain text around the match with the matches between `\u0001` and `\u0002`; of public text only. */
  readonly snippet: string;
}

export interface SearchFilter {
  /** Slug. */
  readonly section?: string | undefined;
  /** Published at or after this UTC instant. */
  readonly since?: string | undefined;
  /** Published before this UTC instant. */
  readonly until?: string | undefined;
  readonly offset?: number | undefined;
  /** 10 unless given. */
  readonly limit?: number | undefined;
}

export interface FoundArticles extends Slice<SearchHit> {
  /** Words that were looked for beside those that were typed, because too little was found with these. */
  readonly instead: readonly string[];
}

/**
 * Everything pages may ask of the content store. Synchronous: the content store is a local file.
 *
 * One reader is made for each request (`Astro.locals.content`); it records the tags of what it returned, so that a page
 * carries exactly the tags of what it shows (docs/decisions/0002).
 */
export interface ContentReader {
  /** Tags of everything read so far through this reader, e.g. `article:12`, `card:12`, `section:politics`. */
  readonly tags: ReadonlySet<string>;
  /** Notes the tag of something that a page shows and that is not in the content store, such as prices. */
  note(tag: string): void;
  /** `ready` is false until a first edition has been synced; pages then answer 503 with Retry-After. */
  edition(): { readonly ready: boolean; readonly syncedAt: string | null };
  /** In navigation order. Tags: `navigation`. */
  sections(): readonly Section[];
  section(slug: string): Section | null;
  /** Menu that editors keep in WordPress, empty when they keep none. Tags: `navigation`. */
  menu(location: 'footer'): readonly MenuItem[];
  article(slug: string): Article | null;
  /** Tags: one per card, plus the list's own (`section:…`, `author:…`, `latest`; none for `ids`). */
  articles(filter: ArticleFilter): Slice<Card>;
  /**
   * What stands beside a film in the list of all: those before it, and where there are too few the nearest after it. Unlike
   * `videos` it does not change with every film that comes. Tags: one per film, and `beside:…`.
   */
  besideVideo(video: Video, limit: number): readonly Video[];
  /** The same for a crossword. */
  besideCrossword(crossword: Crossword, limit: number): readonly Crossword[];
  topStories(): TopStories;
  /**
   * The stories that editors have placed on a page, in their order. Tags: `front:…`, and one per card.
   *
   * @param key of its front (`lib/fronts/model.ts`)
   * @param slots shown instead of the published ones, in a preview
   */
  front(key: string, slots?: readonly FrontSlot[]): readonly Placed[];
  /** Notes on all stories, newest first, 20 unless given. Tags: `corrections`, and one per card. */
  corrections(filter: { readonly offset?: number; readonly limit?: number }): Slice<CorrectedStory>;
  /** Ids of the stories with notes dated after this UTC instant and not ahead, each with these notes, newest first. Tags: `corrections`. */
  correctedSince(since: string): ReadonlyMap<number, readonly CorrectionMark[]>;
  /** The alert that every page shows at present; `null` while there is none. Tags: `alert`. */
  alert(): Alert | null;
  /** All series by title. Tags: `podcasts`, and one per series. */
  podcasts(): readonly Podcast[];
  podcast(slug: string): Podcast | null;
  /** Stories of a series, newest first, 20 unless given. Tags: `episodes:…`, and one per card. */
  episodes(podcastId: number, filter: { readonly offset?: number; readonly limit?: number }): Slice<Episode>;
  /** The story with this id and its sound. */
  episode(articleId: number): Episode | null;
  /** An audio file of a story: 0 is its sound, and the others are those of its text, from 1. */
  audio(articleId: number, number: number): StoryAudio | null;
  /** Entries of a story, newest first. Tags: `live:…`, and `entry:…` of each. */
  liveEntries(
    story: number,
    filter: { readonly list?: LiveList; readonly offset?: number; readonly limit?: number },
  ): Slice<LiveEntry>;
  /** An entry, if its story is published and was covered live. Tags: `entry:…`, and those of its story. */
  liveEntry(id: number): LiveEntry | null;
  /** How many entries of its list come before an entry. Tags: `live:…`. */
  livePlace(entry: LiveEntry): number;
  /** Fingerprint of all entries of a story, see {@link LiveStory}. Tags: `live:…`. */
  liveState(story: number): string;
  /** The stories whose headlines are being tested. Notes no tags: no page shows them. */
  testedStories(): readonly Card[];
  /** The stories that are live now. Notes no tags: no page shows them. */
  liveStories(): readonly LiveStory[];
  author(slug: string): Author | null;
  authors(): readonly Author[];
  videos(filter: {
    readonly section?: string;
    readonly exclude?: readonly number[];
    readonly offset?: number;
    readonly limit?: number;
  }): Slice<Video>;
  video(slug: string): Video | null;
  crosswords(filter: { readonly offset?: number; readonly limit?: number }): Slice<Crossword>;
  crossword(slug: string): Crossword | null;
  page(slug: string): StaticPage | null;
  pages(): readonly StaticPage[];
  /** Top-level approved comments (`parent` 0) or the replies to one, newest first. Tags: `comments:{articleId}`. */
  comments(
    articleId: number,
    filter: {
      readonly parent?: number;
      readonly offset?: number;
      readonly limit?: number;
      readonly order?: CommentOrder;
    },
  ): Slice<Comment>;
  /** One approved comment by its number, with its newest replies where it is of the first level. Tags: `comments:{articleId}`. */
  comment(id: number): Comment | null;
  /** What to answer for a slug that has no document. */
  fate(type: DocumentType, slug: string): Fate;
  /** Best first. An unknown section finds nothing. */
  search(query: string, filter?: SearchFilter): FoundArticles;
  /** The same in a thread of its own, so that no page waits for it. @throws SearchBusy when too much is asked at once */
  searchAside(query: string, filter?: SearchFilter): Promise<FoundArticles>;
}

/**
 * Cache tags: what a page shows, and what a change touches (docs/decisions/0002). The reader records them, sync emits them, the page
 * cache matches them.
 */
export const tag = {
  /** A whole article, body included. */
  article: (id: number): string => `article:${id}`,
  /** Only what a card shows. */
  card: (id: number): string => `card:${id}`,
  video: (id: number): string => `video:${id}`,
  crossword: (id: number): string => `crossword:${id}`,
  page: (slug: string): string => `page:${slug}`,
  /** Membership and order of a section's list. */
  section: (slug: string): string => `section:${slug}`,
  /** Membership and order of an author's list, which also has the stories to which the author contributed. */
  author: (id: number): string => `author:${id}`,
  /** What stands beside a document in a list, see `content/store/lists.server.ts`. */
  beside: (id: number): string => `beside:${id}`,
  /** An author's name and slug, as bylines show them. */
  byline: (id: number): string => `byline:${id}`,
  /** An author's own page: biography and portrait. */
  profile: (id: number): string => `profile:${id}`,
  /** The approved comments under one article. */
  comments: (articleId: number): string => `comments:${articleId}`,
  /** What an address without a document answers; lets a stored "not found" go when a document comes. */
  slug: (type: DocumentType, slug: string): string => `slug:${type}:${slug}`,
  latest: 'latest',
  videos: 'videos',
  crosswords: 'crosswords',
  pages: 'pages',
  authors: 'authors',
  topStories: 'top-stories',
  /** What editors have placed on a page. */
  front: (key: string): string => `front:${key}`,
  /** The entries of a live story: which there are, and their order. */
  live: (story: number): string => `live:${story}`,
  /** One entry of a live story. */
  entry: (id: number): string => `entry:${id}`,
  /** The notes on all stories. */
  corrections: 'corrections',
  /** Pages with a story whose headline is being tested: the press serves them in several forms. It is never changed. */
  headlineTests: 'headline-tests',
  /** The alert on every page. No page carries it: the press puts the banner into stored pages. */
  alert: 'alert',
  /** A series itself: title, text, picture. */
  podcast: (id: number): string => `podcast:${id}`,
  /** Membership, order and sound of the stories of a series. */
  episodes: (podcastId: number): string => `episodes:${podcastId}`,
  podcasts: 'podcasts',
  navigation: 'navigation',
  search: 'search',
  /** What is sold, and for how much: comes from the payment provider and not from the content store. */
  prices: 'prices',
  /** The prices of the market ticker. */
  ticker: 'ticker',
  /** What is read most, in a section or, with `''`, in the whole paper: renewed by the clock, not by readings. */
  popular: (section: string): string => (section === '' ? 'popular' : `popular:${section}`),
  /** Everything. */
  site: 'site',
} as const;
