/** Comments as pages read them: top-level ones with their newest replies, or the replies to one. */

import type { Comment, CommentOrder, Slice } from '../../lib/content/model.ts';
import type { ContentStore } from './content-store.server.ts';
import { pageBounds } from './lists.server.ts';
import { commentOf, type Row } from './rows.server.ts';

interface CommentFilter {
  readonly parent?: number;
  readonly offset?: number;
  readonly limit?: number;
  readonly order?: CommentOrder;
}

const noReplies: Comment['replies'] = { total: 0, recent: [] };

/**
 * Replies to a top-level comment are all comments below it, however deep: a reply to a reply is shown, not lost.
 *
 * @param filter `order` defaults to newest first
 */
export function readComments(store: ContentStore, articleId: number, filter: CommentFilter): Slice<Comment> {
  const published = store.prepare('SELECT 1 FROM documents WHERE id = ?').get(articleId);
  if (!published) return { items: [], total: 0 };
  const { offset, limit } = pageBounds(filter, 10);
  const parent = filter.parent ?? 0;
  const order = filter.order === 'asc' ? 'ASC' : 'DESC';
  const top = parent === 0;
  const where = top ? 'post = ? AND parent = 0' : 'post = ? AND root = ? AND id <> root';
  const values = top ? [articleId] : [articleId, parent];
  const total = Number(store.prepare(`SELECT count(*) AS n FROM comments WHERE ${where}`).get(...values)?.n ?? 0);
  const rows =
    top && filter.order === 'replies'
      ? store.prepare(mostReplied).all(articleId, articleId, limit, offset)
      : store
          .prepare(`SELECT * FROM comments WHERE ${where} ORDER BY date ${order}, id ${order} LIMIT ? OFFSET ?`)
          .all(...values, limit, offset);
  return {
    items: rows.map((row) => commentOf(row as Row, top ? repliesTo(store, articleId, Number(row.id)) : noReplies)),
    total,
  };
}

/** Replies are counted once for all threads, in the index alone. */
const mostReplied = `
  SELECT c.* FROM comments c
  JOIN (SELECT root, count(*) AS n FROM comments WHERE post = ? GROUP BY root) t ON t.root = c.id
  WHERE c.post = ? AND c.parent = 0 ORDER BY t.n DESC, c.date DESC, c.id DESC LIMIT ? OFFSET ?`;

/** One comment under a published article, however deep it stands. */
export function readComment(store: ContentStore, id: number): Comment | null {
  const row = store.prepare('SELECT c.* FROM comments c JOIN documents d ON d.id = c.post WHERE c.id = ?').get(id);
  if (!row) return null;
  const top = Number(row.parent) === 0;
  // Below a comment that was withdrawn nothing is shown.
  if (!top && !store.prepare('SELECT 1 FROM comments WHERE id = ?').get(Number(row.root))) return null;
  return commentOf(row as Row, top ? repliesTo(store, Number(row.post), id) : noReplies);
}

function repliesTo(store: ContentStore, articleId: number, root: number): Comment['replies'] {
  const where = 'post = ? AND root = ? AND id <> root';
  const total = Number(store.prepare(`SELECT count(*) AS n FROM comments WHERE ${where}`).get(articleId, root)?.n ?? 0);
  if (total === 0) return noReplies;
  const newest = store
    .prepare(`SELECT * FROM comments WHERE ${where} ORDER BY date DESC, id DESC LIMIT 3`)
    .all(articleId, root);
  return { total, recent: newest.reverse().map((row) => commentOf(row as Row, noReplies)) };
}
