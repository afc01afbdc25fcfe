/** Tables of the comments, made by `src/server/migrations/comments.ts`. The words that readers see lie in WordPress. */

/** What a reader has written here, so that it is theirs to see before the editors have, to change and to take along. */
export interface CommentPostsTable {
  id: string;
  user_id: string;
  /** The browser's own number of the draft: sent twice, it is one comment. */
  draft: string;
  article_id: number;
  /** Comment that it answers; 0: none. */
  parent_id: number;
  /** Name that stands above it. */
  name: string;
  content: string;
  /** `sending`: not known yet whether WordPress has it; `waiting` for the editors; `declined` by them; `removed` by its author. */
  state: 'sending' | 'waiting' | 'published' | 'declined' | 'removed';
  wordpress_id: number | null;
  /** When it was last sent, epoch milliseconds; 0: no request is sending it. */
  claimed: number;
  created: number;
  edited: number | null;
  /** When WordPress was last asked what became of it. */
  checked: number;
}

/** Who has reported which comment; one row for each, whatever they do. */
export interface CommentReportsTable {
  user_id: string;
  /** WordPress's number. */
  comment_id: number;
  at: number;
}

export interface CommentsTables {
  comment_posts: CommentPostsTable;
  comment_reports: CommentReportsTable;
}
