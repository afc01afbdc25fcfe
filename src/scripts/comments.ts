/**
 * Loads comments-page.ts when a reader follows a link in the comments, or at once if a comment of this reader waits for approval.
 */
import { readStored } from '../lib/browser-storage.ts';
import { isPlainClick } from '../lib/plain-click.ts';
import { whenShown } from '../lib/when-shown.ts';

const region = document.querySelector<HTMLElement>('[data-comments]');

/** The name is a copy of `waitingName` in lib/comments/drafts.ts, which would be more code than this. */
const isWaiting = (): boolean =>
  (readStored('comments-waiting') ?? '').split(',').includes(region?.dataset.comments ?? '');

region?.addEventListener('click', (event) => {
  const link = (event.target as Element).closest<HTMLAnchorElement>('a[data-more],a[data-sort],a[data-act]');
  if (!link || !isPlainClick(event)) return;
  // The page that the link leads to asks the reader to sign in.
  if (link.dataset.act && !document.documentElement.dataset.visitor) return;
  event.preventDefault();
  import('./comments-page.ts').then(
    ({ follow }) => follow(link),
    () => location.assign(link.href),
  );
});

whenShown(() => {
  if (region && document.documentElement.dataset.visitor && isWaiting())
    import('./comments-page.ts').then(({ wake }) => wake()).catch(() => {});
});
