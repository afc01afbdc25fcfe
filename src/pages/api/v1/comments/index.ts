/** Posts a comment: WordPress stores it, and its editors approve it. */

import { answerOf, commentCall, longestBody, placeOf, postBody } from '../../../../lib/comments/routes.server.ts';
import type { OwnAnswer } from '../../../../lib/comments/schema.ts';
import { allowOnly } from '../../../../lib/http/routes.server.ts';

export const POST = commentCall(
  { body: postBody, limit: longestBody },
  async ({ comments, session, body, caller, context }) => {
    const { articleId, parentId, content, name, draft } = body;
    const place = placeOf(context.locals.content, articleId, parentId);
    const outcome = await comments.post(session, { place, content, name, draft }, caller);
    return answerOf(outcome, 201, (comment): OwnAnswer => ({ comment }));
  },
);
export const ALL = allowOnly('POST');
