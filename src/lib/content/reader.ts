/** The interface through which pages read the content store, with filters and results. */
import type { Alert } from '../alerts/model.ts';
import type { FrontSlot, Placed } from '../fronts/model.ts';
import type {
  Article,
  Author,
  Card,
  Comment,
  CorrectedStory,
  CorrectionMark,
  Crossword,
  DocumentType,
  Episode,
  LiveEntry,
  LiveStory,
  MenuItem,
  Podcast,
  Section,
  StaticPage,
  StoryAudio,
  TopStories,
  Video,
} from './model.ts';

/** Which entries of a story: all in order of time, the pinned ones, or the key events. */
export type LiveList = 'story' | 'pinned' | 'key';

/** Newest first, oldest first, or most replies first (newest first among equals). */
export type CommentOrder = 'desc' | 'asc' | 'replies';

/** One page of a longer list. */
export interface Slice<T> {
  readonly items: readonly T[];
  /** Total number with the same filter. */
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

/** What is known about an address without a published document. */
export type SlugResolution =
  /** The document moved: respond with 301 to this slug. */
  | { readonly kind: 'moved'; readonly slug: string }
  /** The editors withdrew it: respond with 410. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'unknown' };

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
  /** Words searched for in addition to the typed ones, because those found too little. */
  readonly added: readonly string[];
}

/**
 * All reads of the content store by pages. Synchronous, because the content store is a local file.
 *
 * One reader is made for each request (`Astro.locals.content`); it records the tags of what it returned, so that a page
 * carries exactly the tags of what it shows (docs/decisions/0002).
 */
export interface ContentReader {
  /** Tags of everything read so far through this reader, e.g. `article:12`, `card:12`, `section:politics`. */
  readonly tags: ReadonlySet<string>;
  /** Adds the tag of something that a page shows and that isn't in the content store, such as prices. */
  note(tag: string): void;
  /** `ready` is false until a first edition has been synced; pages then answer 503 with Retry-After. */
  edition(): { readonly ready: boolean; readonly syncedAt: string | null };
  /** In navigation order. Tags: `navigation`. */
  sections(): readonly Section[];
  section(slug: string): Section | null;
  /** The section that had this former slug, if no category has the slug now. Tags: `navigation`. */
  formerSection(slug: string): Section | null;
  /** A menu that editors maintain in WordPress, empty if there is none. Tags: `navigation`. */
  menu(location: 'footer'): readonly MenuItem[];
  article(slug: string): Article | null;
  /** Tags: one per card, plus the list's tag (`section:…`, `author:…`, `latest`; none for `ids`). */
  articles(filter: ArticleFilter): Slice<Card>;
  /**
   * The neighbors of a film in the list of all films: those before it, and if these are too few, the nearest after it. Unlike
   * `videos`, this doesn't change with every new film. Tags: one per film, and `neighbors:…`.
   */
  neighborsOfVideo(video: Video, limit: number): readonly Video[];
  /** The same for a crossword. */
  neighborsOfCrossword(crossword: Crossword, limit: number): readonly Crossword[];
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
  /** An audio file of a story: 0 is the story's sound; from 1 on, the audio players in its text. */
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
  /** When an entry of a story was last changed; `null` without entries. Tags: `live:…`, if the story is live or has entries. */
  liveModified(story: Pick<Card, 'id' | 'isLive'>): string | null;
  /** The stories whose headlines are being tested. Notes no tags: no page shows them. */
  testedStories(): readonly Card[];
  /** The stories that are live now. Notes no tags: no page shows them. */
  liveStories(): readonly LiveStory[];
  author(slug: string): Author | null;
  authors(): readonly Author[];
  videos(filter: { readonly section?: string; readonly offset?: number; readonly limit?: number }): Slice<Video>;
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
  /** One approved comment by its id; a top-level comment with its newest replies. Tags: `comments:{articleId}`. */
  comment(id: number): Comment | null;
  /** Whether a document has this slug, without reading it. Tags: `slug:{type}:{slug}`. */
  exists(type: DocumentType, slug: string): boolean;
  /** How to respond to a slug without a document. */
  resolveSlug(type: DocumentType, slug: string): SlugResolution;
  /** Best first. An unknown section finds nothing. */
  search(query: string, filter?: SearchFilter): FoundArticles;
  /** The same in a separate thread, so that no page waits for it. @throws SearchBusy if too many searches are waiting */
  searchAsync(query: string, filter?: SearchFilter): Promise<FoundArticles>;
}
