/** One article that the reader has read. */
import { allowOnly } from '../../../../../lib/http/routes.server.ts';
import type { ReadingAnswer } from '../../../../../lib/saved/model.ts';
import { noSuchArticle, savedStoriesRoute } from '../../../../../lib/saved/routes.server.ts';

export const DELETE = savedStoriesRoute({}, async ({ savedStories, session, articleId }) => {
  if (articleId === null) return noSuchArticle();
  await savedStories.forgetRead(session.userId, articleId);
  return { status: 200, body: { noted: false } satisfies ReadingAnswer };
});
export const ALL = allowOnly('DELETE');
