/** Reports a comment to the editors. */

import { answerOf, commentCall, isPublished, refusalOf } from '../../../../../lib/comments/routes.server.ts';
import { allowOnly } from '../../../../../lib/http/routes.server.ts';
import { parseId } from '../../../../../lib/text.ts';

export const POST = commentCall({}, async ({ comments, session, caller, context }) => {
  const id = parseId(context.params.comment ?? '');
  if (id === null || !isPublished(context.locals.content)(id)) return refusalOf({ kind: 'gone' });
  const outcome = await comments.report(session, id, caller);
  return answerOf(outcome, 200, () => ({ message: 'Comment reported' }));
});
export const ALL = allowOnly('POST');
