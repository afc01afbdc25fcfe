/** What the comments keep of a user; the words lie in WordPress, which is told to take the name away. */
import type { PersonalData } from '../personal-data.ts';
import type { RunningComments } from './service.server.ts';

export const commentData = (comments: Pick<RunningComments, 'exportData' | 'forget' | 'disown'>): PersonalData => ({
  tables: { comment_posts: 'gone', comment_reports: 'gone' },
  export: async ({ userId }) => ({ comments: await comments.exportData(userId) }),
  // Before the account is gone, which takes with it whose the comments were.
  erase: ({ userId }) => comments.forget(userId),
  disown: comments.disown,
});
