/**
 * Opens the article of a page that ends at its wall as soon as it is known that its reader may read on: because they have paid in
 * another tab or on another device, or because the cookie had run out. The page is loaded again, once, and is the full one then.
 */
import type { Session } from '../lib/accounts/session.ts';
import { $session } from '../stores/session.ts';
import { $ui } from '../stores/ui.ts';

/** Milliseconds within which a page is not loaded again for the same reason. */
const once = 60_000;

/** Whether this reader may read what a wall of this level stands before. */
const mayRead = (level: string | undefined, session: Session): boolean =>
  level === 'registered' ? session.isAuthenticated : session.isPayingSubscriber || session.isTrialing;

/** @returns whether this page may be loaded again; never, where that cannot be remembered */
function firstTime(storage: () => Storage, path: string, now: number): boolean {
  try {
    const key = `wall:${path}`;
    if (now - Number(storage().getItem(key) ?? 0) < once) return false;
    storage().setItem(key, String(now));
    return true;
  } catch {
    return false;
  }
}

$session.subscribe((session) => {
  const wall = document.querySelector<HTMLElement>('.paywall[data-level]');
  // Who has just paid here gets the article by the paywall itself.
  if (!wall || $ui.get().paywall.open || !mayRead(wall.dataset.level, session)) return;
  if (firstTime(() => sessionStorage, location.pathname, Date.now())) location.reload();
});
