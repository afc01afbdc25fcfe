/** Tables of the access feature, made by `src/server/migrations/accounts.ts`. */

/** Metered articles that a registered reader has read; what is older than the meter's days is deleted. */
export interface ArticleReadsTable {
  user_id: string;
  article_id: number;
  /** When it was counted, epoch milliseconds. */
  at: number;
}

/** Links to one article that subscribers give away. */
export interface GiftsTable {
  id: string;
  /** HMAC of what the link carries. */
  token: string;
  user_id: string;
  article_id: number;
  created: number;
  expires: number;
  /** Browsers that have used it, and how many may. */
  readers: number;
  most: number;
}

export interface AccessTables {
  article_reads: ArticleReadsTable;
  gifts: GiftsTable;
}
