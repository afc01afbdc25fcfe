/** A feed before it is written as RSS, Atom or JSON. Feeds carry standfirsts, never bodies: no paid text can leak. */

export interface FeedItem {
  readonly id: number;
  readonly title: string;
  /** Absolute, canonical. */
  readonly url: string;
  /** Plain text, possibly empty. */
  readonly summary: string;
  readonly author: { readonly name: string; readonly url: string } | null;
  readonly sections: readonly string[];
  /** Absolute address of a picture that exists as JPEG, PNG or WebP for any client. */
  readonly image: {
    readonly url: string;
    readonly alt: string;
    readonly width: number;
    readonly height: number;
  } | null;
  /** UTC, ISO 8601. */
  readonly published: string;
  readonly modified: string;
}

export interface FeedDocument {
  readonly title: string;
  readonly description: string;
  /** Page of which this is the feed, absolute. */
  readonly homeUrl: string;
  /** Address of this feed without its file name, absolute, ending in a slash. */
  readonly baseUrl: string;
  readonly language: string;
  readonly siteName: string;
  readonly iconUrl: string;
  /** Newest first. */
  readonly items: readonly FeedItem[];
}

/** The three forms of every feed: file name, media type and what to call it. */
export const feedForms = [
  { file: 'rss.xml', type: 'application/rss+xml', name: 'RSS' },
  { file: 'atom.xml', type: 'application/atom+xml', name: 'Atom' },
  { file: 'feed.json', type: 'application/feed+json', name: 'JSON Feed' },
] as const;

export type FeedFile = (typeof feedForms)[number]['file'];

/** When anything in the feed last changed; a feed without items has not changed since the epoch. */
export const lastChange = (feed: FeedDocument): string =>
  feed.items
    .map((item) => item.modified)
    .sort()
    .at(-1) ?? '1970-01-01T00:00:00Z';

/** Articles in one sitemap; the protocol allows 50,000, a smaller one is quicker to make anew. */
export const articlesPerSitemap = 5000;
