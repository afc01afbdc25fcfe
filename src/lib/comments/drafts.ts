/**
 * Drafts that survive a reload, and the articles where a comment waits for approval. A separate module, because the header's sign-out
 * loads it on every page.
 */
import { readStored, readStoredJson, storedNames, writeStored } from '../browser-storage.ts';

export interface Draft {
  readonly text: string;
  /** Id of the draft: sending it again creates no second comment. */
  readonly key: string;
}

/** How long a draft is stored, milliseconds. */
const storedFor = 7 * 24 * 60 * 60 * 1000;
const prefix = 'comment-draft:';
/** scripts/comments.ts has a copy. */
const waitingName = 'comments-waiting';

/** Name of a draft's entry in local storage. */
export const draftName = (articleId: number, parentId: number): string => `${prefix}${articleId}:${parentId}`;

/** A new id for a draft. */
export const newDraftKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

export function readDraft(articleId: number, parentId: number, now = Date.now()): Draft | null {
  const { text, key, at } = (readStoredJson(draftName(articleId, parentId)) ?? {}) as Partial<Draft & { at: number }>;
  if (typeof text !== 'string' || typeof key !== 'string' || typeof at !== 'number') return null;
  return now - at > storedFor ? null : { text, key };
}

/** Stores a draft; one without text is removed. */
export function storeDraft(articleId: number, parentId: number, draft: Draft, now = Date.now()): void {
  const value = draft.text.trim() === '' ? null : JSON.stringify({ ...draft, at: now });
  writeStored(draftName(articleId, parentId), value);
}

/** Deletes all drafts and notes of waiting comments, when the user signs out. */
export function forgetDrafts(): void {
  for (const name of storedNames()) if (name.startsWith(prefix) || name === waitingName) writeStored(name, null);
}

/**
 * Records whether a comment of this browser waits for approval under an article: only then the page loads the user's comments
 * on its own.
 */
export function noteWaiting(articleId: number, waits: boolean): void {
  const stored = (readStored(waitingName) ?? '').split(',').filter((id) => id !== '' && id !== String(articleId));
  const ids = waits ? [String(articleId), ...stored].slice(0, 50) : stored;
  writeStored(waitingName, ids.length > 0 ? ids.join(',') : null);
}
