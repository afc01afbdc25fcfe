/**
 * Reloads a restricted article once the session shows that its reader has access: they paid in another tab or on another device, or
 * the access cookie had expired.
 */
import type { Session } from '../lib/accounts/session.ts';
import { $session } from '../stores/session.ts';
import { $ui } from '../stores/ui.ts';

/** How long a page is not reloaded a second time, milliseconds. */
const once = 60_000;

/** Whether the session has access to this level. */
const mayRead = (level: string | undefined, session: Session): boolean =>
  level === 'registered' ? session.isAuthenticated : session.isPayingSubscriber || session.isTrialing;

/** @returns whether this page may be reloaded; never if that can't be remembered */
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
  // After a payment on this page the paywall opens the article itself.
  if (!wall || $ui.get().paywall.open || !mayRead(wall.dataset.level, session)) return;
  if (firstTime(() => sessionStorage, location.pathname, Date.now())) location.reload();
});
