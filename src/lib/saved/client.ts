/** Calls about saved and read articles from the browser. They return values and never throw. */
import { ask, type Reply } from '../http/ask.ts';
import type { ReadingAnswer, ReadingBody, SavedState } from './model.ts';

const saved = (id: number): string => `/api/v1/me/saved/${id}`;

/** Whether the user has saved an article. */
export const isSaved = (id: number): Promise<Reply<SavedState>> => ask(saved(id));

/** Saves an article. 401: not signed in; the site remembers the article for an hour. The request outlives the page. */
export const saveArticle = (id: number): Promise<Reply<SavedState>> =>
  ask(saved(id), { method: 'PUT', keepalive: true });

export const unsaveArticle = (id: number): Promise<Reply<SavedState>> => ask(saved(id), { method: 'DELETE' });

/** Records that an article was read. */
export const noteReading = (articleId: number): Promise<Reply<ReadingAnswer>> =>
  ask('/api/v1/me/history', { body: { articleId } satisfies ReadingBody, keepalive: true });

export const forgetReading = (id: number): Promise<Reply<ReadingAnswer>> =>
  ask(`/api/v1/me/history/${id}`, { method: 'DELETE' });
