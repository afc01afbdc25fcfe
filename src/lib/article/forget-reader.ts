/**
 * Deletes what this browser stores for a user who signs out or whose session was ended elsewhere: drafts of comments, which stories were
 * read and heard, the order and the sign-in of this tab, and stories for reading offline. The next user of the browser may be another
 * person. A session that only expired deletes nothing.
 */
import { removePending } from '../accounts/storage.ts';
import { writeStored } from '../browser-storage.ts';
import { forgetDrafts } from '../comments/drafts.ts';

/** Caches of the service worker for stories and their pictures (src/client/story-worker.ts). */
export const keptStories = 'broadsheet-stories';
const keptPictures = 'broadsheet-pictures';

/** Names in session storage (stores/paywall.ts): the order with the reader's address, and the purchase attempt. */
export const checkoutNames = ['broadsheet-checkout', 'broadsheet-checkout-attempt'] as const;

/** Deletes the stories without the service worker, which may not control this page. */
export async function forgetStories(): Promise<void> {
  try {
    await Promise.all([keptStories, keptPictures].map((name) => caches.delete(name)));
  } catch {
    // The browser has no cache storage, so nothing is stored.
  }
}

/** Never fails. */
export async function forgetReader(): Promise<void> {
  forgetDrafts();
  removePending();
  // Articles that were read, and positions of recordings (scripts/article/reading.ts, scripts/sound.ts). The meter stays: it counts what
  // was read here without an account, and a sign-out must not reset it.
  writeStored('trackedArticles', null);
  writeStored('sound', null);
  for (const name of checkoutNames) writeStored(name, null, 'sessionStorage');
  await forgetStories();
}
