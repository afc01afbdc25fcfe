/**
 * Drafts that survive a reload, and the articles where a comment waits for approval. A module of its own, because the sign-out in the
 * header of every page loads it.
 */

export interface KeptDraft {
  readonly text: string;
  /** Id of the draft: sent again under it, it is the same comment. */
  readonly key: string;
}

/** How long a draft is kept, milliseconds. */
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

/** A new id for a draft. */
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

/** Deletes all drafts and notes of waiting comments, when the user signs out. */
export function forgetDrafts(): void {
  attempt(() => {
    for (const name of Object.keys(localStorage))
      if (name.startsWith(prefix) || name === waitingName) localStorage.removeItem(name);
  });
}

/** Articles where a comment of this browser waits: only there the page loads the user's comments by itself. */
const readWaiting = (): readonly string[] =>
  (attempt(() => localStorage.getItem(waitingName)) ?? '').split(',').filter((id) => id !== '');

export function noteWaiting(articleId: number, waits: boolean): void {
  const others = readWaiting().filter((id) => id !== String(articleId));
  const ids = waits ? [String(articleId), ...others].slice(0, 50) : others;
  attempt(() =>
    ids.length > 0 ? localStorage.setItem(waitingName, ids.join(',')) : localStorage.removeItem(waitingName),
  );
}
