/** Tables of saved stories and the reading history, made by `src/server/migrations/reading.ts`. All go with their reader. */

/** An article that a reader keeps for later, or has read. */
interface KeptTable {
  user_id: string;
  article_id: number;
  /** When it was saved, or read last, epoch milliseconds. */
  at: number;
}

export interface SavedStoriesTables {
  saved_articles: KeptTable;
  /** What is older than the history's days is deleted. */
  reading_history: KeptTable;
  /** Readers who want no history kept. */
  history_refusals: { user_id: string; at: number };
}
