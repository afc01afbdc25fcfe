/** What the reader has written and reported under an article. */
import { refuse } from '../../../../../lib/accounts/answers.ts';
import { only } from '../../../../../lib/accounts/http.server.ts';
import { personal } from '../../../../../lib/comments/answers.ts';
import { commentCall, isPublished } from '../../../../../lib/comments/http.server.ts';
import { commentNumber } from '../../../../../lib/comments/paging.ts';

export const GET = commentCall({}, async ({ comments, session, context }) => {
  const article = commentNumber(context.url.searchParams.get('article') ?? '');
  if (article === null) return refuse(400, 'article is missing or not as it should be.');
  const body = await comments.mine(session, article, isPublished(context.locals.content));
  return personal({ status: 200, body });
});
export const ALL = only('GET');
