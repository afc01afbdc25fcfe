/** Comments in the browser: the calls, which return values and never throw, and drafts that survive a reload. */
import { type Answer, ask, type Refused } from '../http/ask.ts';
import { commentFailed, type EditBody, type MineAnswer, type OwnAnswer, type PostBody } from './schema.ts';

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

export function refusedMessage({ status, message }: Refused): string {
  if (status === 0) return commentFailed.offline;
  if (status === 401) return commentFailed.signedOut;
  return message ?? commentFailed.wrong;
}

/** Which field the server has named, if any. */
export function refusedField({ body }: Refused): 'name' | 'content' | null {
  const field: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'field') : null;
  return field === 'name' || field === 'content' ? field : null;
}

export interface KeptDraft {
  readonly text: string;
  /** Number of the draft: sent again under it, it is the same comment. */
  readonly key: string;
}

/** Milliseconds that a draft is kept. */
const keptFor = 7 * 24 * 60 * 60 * 1000;
const prefix = 'comment-draft:';
const waitingName = 'comments-waiting';

const nameOf = (articleId: number, parentId: number): string => `${prefix}${articleId}:${parentId}`;

function attempt<T>(action: () => T): T | null {
  try {
    return action();
  } catch {
    return null;
  }
}

/** A new number for a draft. */
export const newDraftKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

export function readDraft(articleId: number, parentId: number, now = Date.now()): KeptDraft | null {
  return attempt(() => {
    const kept: unknown = JSON.parse(localStorage.getItem(nameOf(articleId, parentId)) ?? 'null');
    if (typeof kept !== 'object' || kept === null) return null;
    const { text, key, at } = kept as Partial<KeptDraft & { at: number }>;
    if (typeof text !== 'string' || typeof key !== 'string' || typeof at !== 'number' || now - at > keptFor)
      return null;
    return { text, key };
  });
}

export function keepDraft(articleId: number, parentId: number, draft: KeptDraft, now = Date.now()): void {
  attempt(() => {
    if (draft.text.trim() === '') localStorage.removeItem(nameOf(articleId, parentId));
    else localStorage.setItem(nameOf(articleId, parentId), JSON.stringify({ ...draft, at: now }));
  });
}

export function dropDraft(articleId: number, parentId: number): void {
  attempt(() => localStorage.removeItem(nameOf(articleId, parentId)));
}

/** Everything that was typed in this browser, and where something waits: for when its reader leaves. */
export function forgetDrafts(): void {
  attempt(() => {
    for (const name of Object.keys(localStorage))
      if (name.startsWith(prefix) || name === waitingName) localStorage.removeItem(name);
  });
}

/** Articles under which a comment of this browser waits: only there the page asks for it by itself. */
const readWaiting = (): readonly string[] =>
  (attempt(() => localStorage.getItem(waitingName)) ?? '').split(',').filter((id) => id !== '');

export function noteWaiting(articleId: number, waits: boolean): void {
  const others = readWaiting().filter((id) => id !== String(articleId));
  const ids = waits ? [String(articleId), ...others].slice(0, 50) : others;
  attempt(() =>
    ids.length > 0 ? localStorage.setItem(waitingName, ids.join(',')) : localStorage.removeItem(waitingName),
  );
}
