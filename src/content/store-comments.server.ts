/** Writes of comments. */
import type { IngestedComment } from './documents.ts';
import type { Mirror } from './mirror.server.ts';
import { tag } from './tags.ts';

/** Points every comment under one document at the top-level comment that it belongs under. */
function rootComments(mirror: Mirror, post: number): void {
  const rows = mirror.prepare('SELECT id, parent, root FROM comments WHERE post = ?').all(post);
  const parents = new Map(rows.map((row) => [Number(row.id), Number(row.parent)]));
  const update = mirror.prepare('UPDATE comments SET root = ? WHERE id = ?');
  for (const row of rows) {
    let root = Number(row.id);
    // WordPress does not make cycles; a broken database might, so the climb is bounded.
    for (let climb = 0; climb < 1000; climb++) {
      const parent = parents.get(root) ?? 0;
      if (parent === 0) break;
      root = parent;
    }
    if (root !== Number(row.root)) update.run(root, Number(row.id));
  }
}

/** Writes one approved comment. */
export function storeComment(mirror: Mirror, comment: IngestedComment): Set<string> {
  return mirror.transaction(() => {
    const before = mirror
      .prepare('SELECT post, parent, author, content, date FROM comments WHERE id = ?')
      .get(comment.id);
    const { id, post, parent, author, contentHtml, date } = comment;
    const after = { post, parent, author, content: contentHtml, date };
    if (before && JSON.stringify(before) === JSON.stringify(after)) return new Set<string>();
    mirror
      .prepare(
        `INSERT INTO comments VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET post = excluded.post,
        parent = excluded.parent, root = excluded.root, author = excluded.author, content = excluded.content, date = excluded.date`,
      )
      .run(id, post, parent, id, author, contentHtml, date);
    rootComments(mirror, post);
    const tags = new Set([tag.comments(post)]);
    if (before && before.post !== post) tags.add(tag.comments(Number(before.post)));
    return tags;
  });
}

/** Takes one comment out; replies below it stay in the mirror but are not shown without it. */
export function withdrawComment(mirror: Mirror, id: number): Set<string> {
  return mirror.transaction(() => {
    const before = mirror.prepare('SELECT post FROM comments WHERE id = ?').get(id);
    if (!before) return new Set<string>();
    mirror.prepare('DELETE FROM comments WHERE id = ?').run(id);
    rootComments(mirror, Number(before.post));
    return new Set([tag.comments(Number(before.post))]);
  });
}
