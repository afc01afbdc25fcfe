/** Comments as pages read them: top-level ones with their newest replies, or the replies to one. */
import { pageBounds } from './lists.server.ts';
import type { Mirror } from './mirror.server.ts';
import type { Comment, Slice } from './model.ts';
import { commentOf, type Row } from './rows.server.ts';

interface CommentFilter {
  readonly parent?: number;
  readonly offset?: number;
  readonly limit?: number;
  readonly order?: 'asc' | 'desc';
}

const noReplies: Comment['replies'] = { total: 0, recent: [] };

/**
 * Replies to a top-level comment are all comments below it, however deep: a reply to a reply is shown, not lost.
 *
 * @param filter `order` defaults to newest first
 */
export function readComments(mirror: Mirror, articleId: number, filter: CommentFilter): Slice<Comment> {
  const published = mirror.prepare('SELECT 1 FROM documents WHERE id = ?').get(articleId);
  if (!published) return { items: [], total: 0 };
  const { offset, limit } = pageBounds(filter, 10);
  const parent = filter.parent ?? 0;
  const order = filter.order === 'asc' ? 'ASC' : 'DESC';
  const top = parent === 0;
  const where = top ? 'post = ? AND parent = 0' : 'post = ? AND root = ? AND id <> root';
  const values = top ? [articleId] : [articleId, parent];
  const total = Number(mirror.prepare(`SELECT count(*) AS n FROM comments WHERE ${where}`).get(...values)?.n ?? 0);
  const rows = mirror
    .prepare(`SELECT * FROM comments WHERE ${where} ORDER BY date ${order}, id ${order} LIMIT ? OFFSET ?`)
    .all(...values, limit, offset);
  return {
    items: rows.map((row) => commentOf(row as Row, top ? repliesTo(mirror, articleId, Number(row.id)) : noReplies)),
    total,
  };
}

function repliesTo(mirror: Mirror, articleId: number, root: number): Comment['replies'] {
  const where = 'post = ? AND root = ? AND id <> root';
  const total = Number(
    mirror.prepare(`SELECT count(*) AS n FROM comments WHERE ${where}`).get(articleId, root)?.n ?? 0,
  );
  if (total === 0) return noReplies;
  const newest = mirror
    .prepare(`SELECT * FROM comments WHERE ${where} ORDER BY date DESC, id DESC LIMIT 3`)
    .all(articleId, root);
  return { total, recent: newest.reverse().map((row) => commentOf(row as Row, noReplies)) };
}
