/** Calls of the comments in the browser. They return values and never throw. */
import { type Answer, ask, type Refused } from '../http/ask.ts';
import { failureMessage } from '../http/messages.ts';
import { commentFailed, type EditBody, type MineAnswer, type OwnAnswer, type PostBody } from './schema.ts';

/** Milliseconds; longer than the server waits for WordPress. */
const patience = 30_000;

export const myComments = (articleId: number): Promise<Answer<MineAnswer>> =>
  ask(`/api/v1/comments/mine?article=${articleId}`);

export const postComment = (comment: PostBody): Promise<Answer<OwnAnswer>> =>
  ask('/api/v1/comments', { body: comment, patience });

export const editComment = (id: string, content: string): Promise<Answer<OwnAnswer>> =>
  ask(`/api/v1/comments/mine/${id}`, { method: 'PATCH', body: { content } satisfies EditBody, patience });

export const removeComment = (id: string): Promise<Answer<unknown>> =>
  ask(`/api/v1/comments/mine/${id}`, { method: 'DELETE', patience });

export const reportComment = (commentId: number): Promise<Answer<unknown>> =>
  ask(`/api/v1/comments/${commentId}/report`, { method: 'POST', body: {} });

export const refusedMessage = ({ status, message }: Refused): string => failureMessage(status, commentFailed, message);

/** The field that the server rejected, if it named one. */
export function refusedField({ body }: Refused): 'name' | 'content' | null {
  const field: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'field') : null;
  return field === 'name' || field === 'content' ? field : null;
}
