/** Reports a comment to the editors. */

import { commentNumber } from '../../../../../lib/comments/model.ts';
import { answerOf, commentCall, isPublished, refusalOf } from '../../../../../lib/comments/routes.server.ts';
import { allowOnly } from '../../../../../lib/http/routes.server.ts';

export const POST = commentCall({}, async ({ comments, session, caller, context }) => {
  const id = commentNumber(context.params.comment ?? '');
  if (id === null || !isPublished(context.locals.content)(id)) return refusalOf({ kind: 'gone' });
  const outcome = await comments.report(session, id, caller);
  return answerOf(outcome, 200, () => ({ message: 'Comment reported' }));
});
export const ALL = allowOnly('POST');
