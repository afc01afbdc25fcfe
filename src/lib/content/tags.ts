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
  /** The file at the address of a picture, by the address's digest. No page carries it: pages show the address. */
  picture: (digest: string): string => `picture:${digest}`,
  /** The files of many pictures at once, which aren't named. */
  pictures: 'pictures',
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
