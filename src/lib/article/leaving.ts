/**
 * What this browser has kept of a reader who signs out: what they were writing, and the stories that could be read without a network.
 * The next reader of the browser may be another. A session that only expired leaves both: its reader has not left.
 */
import { forgetDrafts } from '../comments/drafts.ts';

/** Where the service worker keeps stories, and their pictures (src/client/story-worker.ts). */
export const keptStories = 'broadsheet-stories';
const keptPictures = 'broadsheet-pictures';

/** Removes the stories, whether the worker knows of this page or not: of one that was reloaded past it, it hears nothing. */
export async function forgetStories(): Promise<void> {
  try {
    await Promise.all([keptStories, keptPictures].map((name) => caches.delete(name)));
  } catch {
    // Without storage there is none.
  }
}

/** Never fails. */
export async function forgetReader(): Promise<void> {
  forgetDrafts();
  await forgetStories();
}
