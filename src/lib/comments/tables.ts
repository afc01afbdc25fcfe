/** Tables of the comments, made by `src/server/migrations/reading.ts`. The words that readers see lie in WordPress. */

/** A user's comments, for showing them before approval, for edits and for the export. */
export interface CommentPostsTable {
  id: string;
  user_id: string;
  /** The browser's id of the draft: sent twice, it is one comment. */
  draft: string;
  article_id: number;
  /** Comment that it replies to; 0: none. */
  parent_id: number;
  /** Name shown with it. */
  name: string;
  content: string;
  /** `sending`: WordPress has not responded yet; `waiting` for the editors; `declined` by them; `removed` by its author. */
  state: 'sending' | 'waiting' | 'published' | 'declined' | 'removed';
  wordpress_id: number | null;
  /** When it was last sent, epoch milliseconds; 0: no request is sending it. */
  claimed: number;
  created: number;
  edited: number | null;
  /** When WordPress was last asked for its state. */
  checked: number;
}

/** One report for each user and comment. */
export interface CommentReportsTable {
  user_id: string;
  /** WordPress's id. */
  comment_id: number;
  at: number;
}

export interface CommentsTables {
  comment_posts: CommentPostsTable;
  comment_reports: CommentReportsTable;
}
