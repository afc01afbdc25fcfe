/** What the reader has written and reported under an article. */

import { commentCall, isPublished } from '../../../../../lib/comments/routes.server.ts';
import { refuse } from '../../../../../lib/http/answer.ts';
import { allowOnly } from '../../../../../lib/http/routes.server.ts';
import { parseId } from '../../../../../lib/text.ts';

export const GET = commentCall({}, async ({ comments, session, context }) => {
  const article = parseId(context.url.searchParams.get('article') ?? '');
  if (article === null) return refuse(400, 'article is missing or not valid.');
  const body = await comments.mine(session, article, isPublished(context.locals.content));
  return { status: 200, body };
});
export const ALL = allowOnly('GET');
