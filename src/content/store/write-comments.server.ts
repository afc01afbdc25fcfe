/** Writes of comments. */

import { tag } from '../../lib/content/tags.ts';
import type { IngestedComment } from '../ingest/document.ts';
import type { ContentStore } from './content-store.server.ts';

/** Points every comment under one document at the top-level comment that it belongs under. */
function rootComments(store: ContentStore, post: number): void {
  const rows = store.prepare('SELECT id, parent, root FROM comments WHERE post = ?').all(post);
  const parents = new Map(rows.map((row) => [Number(row.id), Number(row.parent)]));
  const update = store.prepare('UPDATE comments SET root = ? WHERE id = ?');
  const roots = new Map<number, number>();
  for (const row of rows) {
    const id = Number(row.id);
    const climbed: number[] = [];
    let at = id;
    // Each is climbed from once, however deep. WordPress does not make cycles; in one of a broken database the climb ends, too.
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

/** The top-level comment that a new one belongs under, where nothing answers it yet. */
function rootUnder(store: ContentStore, post: number, id: number, parent: number): number {
  if (parent === 0) return id;
  const above = store.prepare('SELECT root FROM comments WHERE id = ? AND post = ?').get(parent, post);
  return above ? Number(above.root) : parent;
}

/** Writes one approved comment. */
export function storeComment(store: ContentStore, comment: IngestedComment): Set<string> {
  return store.transaction(() => {
    const before = store
      .prepare('SELECT post, parent, author, content, date FROM comments WHERE id = ?')
      .get(comment.id);
    const { id, post, parent, author, contentHtml, date } = comment;
    const after = { post, parent, author, content: contentHtml, date };
    if (before && JSON.stringify(before) === JSON.stringify(after)) return new Set<string>();
    store
      .prepare(
        `INSERT INTO comments VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET post = excluded.post,
        parent = excluded.parent, root = excluded.root, author = excluded.author, content = excluded.content, date = excluded.date`,
      )
      .run(id, post, parent, rootUnder(store, post, id, parent), author, contentHtml, date);
    // Replies may have come before what they answer, and a comment may move: then all of them are looked at anew.
    const moved = before !== undefined && (before.post !== post || before.parent !== parent);
    if (moved || store.prepare('SELECT 1 FROM comments WHERE parent = ? LIMIT 1').get(id)) rootComments(store, post);
    const tags = new Set([tag.comments(post)]);
    if (before && before.post !== post) tags.add(tag.comments(Number(before.post)));
    return tags;
  });
}

/** Takes one comment out; replies below it stay in the content store but are not shown without it. */
export function withdrawComment(store: ContentStore, id: number): Set<string> {
  return store.transaction(() => {
    const before = store.prepare('SELECT post FROM comments WHERE id = ?').get(id);
    if (!before) return new Set<string>();
    store.prepare('DELETE FROM comments WHERE id = ?').run(id);
    rootComments(store, Number(before.post));
    return new Set([tag.comments(Number(before.post))]);
  });
}
