/** Calls of the comments in the browser. They return values and never throw. */
import { ask, type Refused, type Reply } from '../http/ask.ts';
import { failureMessage } from '../http/messages.ts';
import {
  changeFailed,
  commentFailed,
  type EditBody,
  type MineAnswer,
  type OwnAnswer,
  type PostBody,
} from './schema.ts';

/** Milliseconds; longer than the server waits for WordPress. */
const timeoutMs = 30_000;

export const myComments = (articleId: number): Promise<Reply<MineAnswer>> =>
  ask(`/api/v1/comments/mine?article=${articleId}`);

export const postComment = (comment: PostBody): Promise<Reply<OwnAnswer>> =>
  ask('/api/v1/comments', { body: comment, timeoutMs });

export const editComment = (id: string, content: string): Promise<Reply<OwnAnswer>> =>
  ask(`/api/v1/comments/mine/${id}`, { method: 'PATCH', body: { content } satisfies EditBody, timeoutMs });

export const removeComment = (id: string): Promise<Reply<unknown>> =>
  ask(`/api/v1/comments/mine/${id}`, { method: 'DELETE', timeoutMs });

export const reportComment = (commentId: number): Promise<Reply<unknown>> =>
  ask(`/api/v1/comments/${commentId}/report`, { method: 'POST', body: {} });

export const refusedMessage = ({ status, message }: Refused): string => failureMessage(status, commentFailed, message);

/** The same message for a refused edit, deletion or report. */
export const changeRefused = ({ status, message }: Refused): string => failureMessage(status, changeFailed, message);

/** The field that the server rejected, if it named one. */
export function refusedField({ body }: Refused): 'name' | 'content' | null {
  const field: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'field') : null;
  return field === 'name' || field === 'content' ? field : null;
}
