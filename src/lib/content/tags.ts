import type { DocumentType } from './model.ts';

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
  /** Which articles are in a section's list, and their order. */
  section: (slug: string): string => `section:${slug}`,
  /** Which stories are in an author's list, and their order; including stories to which the author contributed. */
  author: (id: number): string => `author:${id}`,
  /** The neighbors of a document in a list, see `content/store/lists.server.ts`. */
  neighbors: (id: number): string => `neighbors:${id}`,
  /** An author's name and slug, as bylines show them. */
  byline: (id: number): string => `byline:${id}`,
  /** An author's own page: biography and portrait. */
  profile: (id: number): string => `profile:${id}`,
  /** The approved comments under one article. */
  comments: (articleId: number): string => `comments:${articleId}`,
  /** The response for an address without a document; a cached "not found" is removed when a document appears. */
  slug: (type: DocumentType, slug: string): string => `slug:${type}:${slug}`,
  latest: 'latest',
  videos: 'videos',
  crosswords: 'crosswords',
  pages: 'pages',
  authors: 'authors',
  topStories: 'top-stories',
  /** What editors have placed on a page. */
  front: (key: string): string => `front:${key}`,
  /** Which entries a live story has, and their order. */
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
  /** Which stories are in a series, their order, and their sound. */
  episodes: (podcastId: number): string => `episodes:${podcastId}`,
  podcasts: 'podcasts',
  /** The file at a picture's address, by the digest of the address. No page has this tag: a page shows only the address. */
  picture: (digest: string): string => `picture:${digest}`,
  /** The files of many pictures at once, without naming them. */
  pictures: 'pictures',
  navigation: 'navigation',
  search: 'search',
  /** What is sold, and for how much: comes from the payment provider and not from the content store. */
  prices: 'prices',
  /** The prices of the market ticker. */
  ticker: 'ticker',
  /** The most read stories of a section or, with `''`, of the whole paper: updated at intervals, not with each reading. */
  popular: (section: string): string => (section === '' ? 'popular' : `popular:${section}`),
  /** Pages that show today's date. */
  today: 'today',
  /** Every page. */
  site: 'site',
} as const;
