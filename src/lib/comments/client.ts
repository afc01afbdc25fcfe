/** The calls of the comments that the browser makes. Values, never errors. */
import { type Answer, ask } from '../http/ask.ts';
import type { EditBody, MineAnswer, OwnAnswer, PostBody } from './wire.ts';

/** WordPress may take its time, and the server waits for it: longer than the server does. */
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
