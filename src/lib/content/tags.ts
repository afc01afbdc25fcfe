/**
 * Tags: what a page shows, and what a change touches (docs/decisions/0002). The reader records them, sync emits them, the page cache
 * matches them; they are all made here, so that both sides agree.
 */
import type { DocumentType } from './model.ts';

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
  /** Membership and order of an author's list. */
  author: (id: number): string => `author:${id}`,
  /** What stands beside a document in a list, see content/store/neighbors.server.ts. */
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
