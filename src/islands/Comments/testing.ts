/** A comment of the signed-in reader, for tests. */
import type { OwnComment } from '../../lib/comments/schema.ts';

/** @param now epoch milliseconds; the comment may be changed for a minute from then on */
export const ownComment = (now: number, change: Partial<OwnComment> = {}): OwnComment => ({
  id: 'one',
  commentId: null,
  articleId: 7,
  parentId: 0,
  author: 'Ada',
  content: 'First words',
  date: new Date(now).toISOString(),
  status: 'published',
  changeableUntil: new Date(now + 60_000).toISOString(),
  ...change,
});
