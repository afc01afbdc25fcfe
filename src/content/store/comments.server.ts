/** Comments as pages read them: top-level comments with their newest replies, or the replies to one. */
import type { Comment } from '../../lib/content/model.ts';
import type { CommentOrder, Slice } from '../../lib/content/reader.ts';
import { tag } from '../../lib/content/tags.ts';
import type { IngestedComment } from '../ingest/document.ts';
import type { ContentStore } from './content-store.server.ts';
import { pageBounds } from './lists.server.ts';
import { commentOf, type Row } from './rows.server.ts';
import type { Fetched } from './write.server.ts';

export interface CommentFilter {
  readonly parent?: number;
  readonly offset?: number;
  readonly limit?: number;
  readonly order?: CommentOrder;
}

const noReplies: Comment['replies'] = { total: 0, recent: [] };

/**
 * The replies to a top-level comment are all comments below it at any depth, so that a reply to a reply is shown.
 *
 * @param filter `order` defaults to newest first
 */
export function readComments(store: ContentStore, articleId: number, filter: CommentFilter): Slice<Comment> {
  const { offset, limit } = pageBounds(filter, 10);
  const parent = filter.parent ?? 0;
  const order = filter.order === 'asc' ? 'ASC' : 'DESC';
  const top = parent === 0;
  const where = top ? 'post = ? AND parent = 0' : 'post = ? AND root = ? AND id <> root';
  const values = top ? [articleId] : [articleId, parent];
  const total = Number(store.prepare(`SELECT count(*) AS n FROM comments WHERE ${where}`).get(...values)?.n ?? 0);
  // Most stories have none.
  const isShown = total > 0 && store.prepare('SELECT 1 FROM documents WHERE id = ?').get(articleId) !== undefined;
  if (!isShown) return { items: [], total: 0 };
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

/** Counts the replies of all threads in one pass over the index. */
const mostReplied = `
  SELECT c.* FROM comments c
  JOIN (SELECT root, count(*) AS n FROM comments WHERE post = ? GROUP BY root) t ON t.root = c.id
  WHERE c.post = ? AND c.parent = 0 ORDER BY t.n DESC, c.date DESC, c.id DESC LIMIT ? OFFSET ?`;

/** One comment under a published article, at any depth. */
export function readComment(store: ContentStore, id: number): Comment | null {
  const row = store.prepare('SELECT c.* FROM comments c JOIN documents d ON d.id = c.post WHERE c.id = ?').get(id);
  if (!row) return null;
  const top = Number(row.parent) === 0;
  // Replies to a withdrawn comment aren't shown.
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

// Writes of comments.

/** Sets the top-level comment of every comment under a document. */
function rootComments(store: ContentStore, post: number): void {
  const rows = store.prepare('SELECT id, parent, root FROM comments WHERE post = ?').all(post);
  const parents = new Map(rows.map((row) => [Number(row.id), Number(row.parent)]));
  const update = store.prepare('UPDATE comments SET root = ? WHERE id = ?');
  const roots = new Map<number, number>();
  for (const row of rows) {
    const id = Number(row.id);
    const climbed: number[] = [];
    let at = id;
    // Each comment is visited once, at any depth. WordPress creates no cycles; if a broken database has one, the walk still ends.
    while (!roots.has(at)) {
      roots.set(at, at);
      climbed.push(at);
      at = parents.get(at) || at;
    }
    const root = roots.get(at) ?? at;
    for (const each of climbed) roots.set(each, root);
    if (root !== Number(row.root)) update.run(root, id);
  }
}

/** The top-level comment above a new comment that has no replies yet. */
function rootUnder(store: ContentStore, post: number, id: number, parent: number): number {
  if (parent === 0) return id;
  const above = store.prepare('SELECT root FROM comments WHERE id = ? AND post = ?').get(parent, post);
  return above ? Number(above.root) : parent;
}

/** When the answer was asked for that last changed or withdrew a comment; 0 if that isn't known. */
export const commentFetchedAt = (store: ContentStore, id: number): number =>
  Number(store.prepare('SELECT at FROM comment_fetches WHERE id = ?').get(id)?.at ?? 0);

const recordFetch = (store: ContentStore, id: number, at: number): unknown =>
  store
    .prepare('INSERT INTO comment_fetches VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET at = max(at, excluded.at)')
    .run(id, at);

/**
 * Stores one approved comment. Of two responses of WordPress, the one to the later request counts.
 *
 * @param fetched `undefined`: it isn't known when the comment was asked for, so it counts
 */
export function storeComment(store: ContentStore, comment: IngestedComment, fetched?: Fetched): Set<string> {
  return store.transaction(() => {
    if (fetched && fetched.at < commentFetchedAt(store, comment.id)) return new Set<string>();
    const before = store
      .prepare('SELECT post, parent, author, content, date FROM comments WHERE id = ?')
      .get(comment.id);
    const { id, post, parent, author, contentHtml, date } = comment;
    const after = { post, parent, author, content: contentHtml, date };
    if (before && JSON.stringify(before) === JSON.stringify(after)) return new Set<string>();
    if (fetched) recordFetch(store, id, fetched.at);
    store
      .prepare(
        `INSERT INTO comments VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET post = excluded.post,
        parent = excluded.parent, root = excluded.root, author = excluded.author, content = excluded.content, date = excluded.date`,
      )
      .run(id, post, parent, rootUnder(store, post, id, parent), author, contentHtml, date);
    // A reply may arrive before its parent, and a comment may move: then all comments of the document are checked again.
    const moved = before !== undefined && (before.post !== post || before.parent !== parent);
    if (moved || store.prepare('SELECT 1 FROM comments WHERE parent = ? LIMIT 1').get(id)) rootComments(store, post);
    const tags = new Set([tag.comments(post)]);
    if (before && before.post !== post) tags.add(tag.comments(Number(before.post)));
    return tags;
  });
}

/** Removes a comment; its replies stay in the content store but aren't shown without it. @param fetched as for {@link storeComment} */
export function withdrawComment(store: ContentStore, id: number, fetched?: Fetched): Set<string> {
  return store.transaction(() => {
    if (fetched && fetched.at < commentFetchedAt(store, id)) return new Set<string>();
    if (fetched) recordFetch(store, id, fetched.at);
    const before = store.prepare('SELECT post FROM comments WHERE id = ?').get(id);
    if (!before) return new Set<string>();
    store.prepare('DELETE FROM comments WHERE id = ?').run(id);
    rootComments(store, Number(before.post));
    return new Set([tag.comments(Number(before.post))]);
  });
}
