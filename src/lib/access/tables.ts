/** Tables of the access feature, created by `src/server/migrations/accounts.ts`. */

/** Metered articles that a registered reader has read; rows older than the meter's period are deleted. */
export interface ArticleReadsTable {
  user_id: string;
  article_id: number;
  /** When it was counted, epoch milliseconds. */
  at: number;
}

/** Links to one article that subscribers give away. */
export interface GiftsTable {
  id: string;
  /** HMAC of the link's token. */
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
