/** One article that the reader has read. */
import { allowOnly } from '../../../../../lib/http/routes.server.ts';
import { libraryCall, noSuchArticle } from '../../../../../lib/saved/routes.server.ts';
import type { ReadingAnswer } from '../../../../../lib/saved/schema.ts';

export const DELETE = libraryCall({}, async ({ library, session, articleId }) => {
  if (articleId === null) return noSuchArticle();
  await library.forgetRead(session.userId, articleId);
  return { status: 200, body: { noted: false } satisfies ReadingAnswer };
});
export const ALL = allowOnly('DELETE');
