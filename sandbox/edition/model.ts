/** What the importer hands to WordPress, and what the writers' files contain. Hours are counted back from the import. */

/** A picture that is made for a document. */
export interface PictureSpec {
  readonly motif: string;
  /** The same seed gives the same picture; a document's slug. */
  readonly seed: string;
  readonly alt: string;
  readonly caption: string;
  readonly credit: string;
  /** As wide as high, for podcast directories. */
  readonly square?: true;
}

/** A document of any type, as `php/import.php` reads it. */
export interface Document {
  readonly type: 'articles' | 'video' | 'crosswords' | 'authors' | 'podcasts' | 'page' | 'post' | 'live-entry';
  readonly slug: string;
  readonly status: string;
  readonly title: string;
  readonly content: string;
  readonly excerpt: string;
  /** Slug of an author, or empty. */
  readonly author: string;
  /** Slugs of the other authors, and of contributors. */
  readonly authors?: readonly string[] | undefined;
  readonly contributors?: readonly string[] | undefined;
  /** Slugs of sections, the primary one first. */
  readonly sections: readonly string[];
  /** Age in hours; negative for the future. */
  readonly hours: number;
  /** A fixed moment in UTC (`2026-01-02T03:04:05Z`) instead of `hours`. */
  readonly date?: string | undefined;
  readonly password?: string | undefined;
  readonly picture?: PictureSpec | undefined;
  /** Notes on a story, each with its age in hours. */
  readonly corrections?: readonly { readonly kind: 'correction' | 'clarification'; readonly text: string; readonly hours: number }[];
  /** The sound of a story: seconds of its recording, and the slug of its series. */
  readonly sound?: { readonly seconds: number; readonly series: string } | undefined;
  /** Slug of the story of an entry of live coverage. */
  readonly story?: string;
  /** Post meta, by the plugin's keys. */
  readonly meta: Readonly<Record<string, unknown>>;
}

export interface Comment {
  /** Slug of the article. */
  readonly article: string;
  readonly name: string;
  readonly email: string;
  readonly text: string;
  readonly hours: number;
  /** Held for moderation instead of shown. */
  readonly held?: boolean;
  readonly replies?: readonly Omit<Comment, 'article'>[];
}

/** The front page's own choices. */
export interface TopStories {
  /** Slugs of articles in order, the lead first. */
  readonly articles: readonly string[];
  readonly breaking: boolean;
  readonly bulleted: boolean;
  /** One line per bullet. */
  readonly excerpt: string;
}

/** What editors have placed on a section, by slugs of articles. */
export interface Front {
  readonly section: string;
  readonly slots: readonly {
    readonly kind: 'lead' | 'second' | 'package';
    readonly story: string;
    readonly headline?: string;
    readonly related?: readonly { readonly story?: string; readonly url?: string; readonly title?: string }[];
  }[];
}

/**
 * Which documents WordPress begins with: `demo` is a newspaper as readers know it; `tests` has the awkward posts (`awkward.ts`) as well;
 * `none` leaves WordPress empty.
 */
export const editionKinds = ['demo', 'tests', 'none'] as const;
export type EditionKind = (typeof editionKinds)[number];

export interface Edition {
  readonly documents: readonly Document[];
  readonly comments: readonly Comment[];
  readonly topStories: TopStories;
  readonly fronts: readonly Front[];
  /** Path and words of each link in the footer. */
  readonly footer: readonly { readonly title: string; readonly path: string }[];
}

/** A post that tests an edge case; see `awkward.ts`. */
export interface AwkwardPost {
  readonly type: Document['type'];
  readonly slug: string;
  readonly status: string;
  readonly title: string;
  readonly contentHtml: string;
  readonly excerpt?: string;
  readonly author?: string;
  readonly sections?: readonly string[];
  readonly date?: string;
  readonly hours?: number;
  readonly password?: string;
  readonly image?: null | (Partial<Omit<PictureSpec, 'seed'>> & { readonly motif: string });
  readonly acf?: Readonly<Record<string, unknown>>;
}
