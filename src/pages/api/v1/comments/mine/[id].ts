/** Edits or deletes a comment while there is time (spec: an edit window of five minutes). */

import { answerOf, commentCall, editBody, longestBody } from '../../../../../lib/comments/routes.server.ts';
import type { OwnAnswer } from '../../../../../lib/comments/schema.ts';
import { allowOnly } from '../../../../../lib/http/routes.server.ts';

export const PATCH = commentCall(
  { body: editBody, limit: longestBody },
  async ({ comments, session, body, caller, context }) => {
    const outcome = await comments.edit(session, context.params.id ?? '', body.content, caller);
    return answerOf(outcome, 200, (comment): OwnAnswer => ({ comment }));
  },
);
export const DELETE = commentCall({}, async ({ comments, session, context }) =>
  answerOf(await comments.remove(session, context.params.id ?? ''), 200, () => ({ message: 'Comment deleted' })),
);
export const ALL = allowOnly('PATCH', 'DELETE');
