/**
 * Settles who reads the page: repairs a session, recognizes readers of a newsletter by its link, and reloads a restricted article once the
 * session shows that its reader has access. They may have paid in another tab or on another device, or the access cookie had expired.
 */

import type { Session } from '../lib/accounts/session.ts';
import { recogniseFromAddress, repairOnce } from '../lib/accounts/session-client.ts';
import { forgetRepair } from '../lib/accounts/storage.ts';
import { $session, refreshSession } from '../stores/session.ts';
import { $ui } from '../stores/ui.ts';

/** What can wait runs when the browser is idle. */
const idle = (action: () => void): unknown =>
  typeof requestIdleCallback === 'function' ? requestIdleCallback(action) : setTimeout(action, 1000);

/** Milliseconds in which a page is reloaded once at most. */
const once = 60_000;

/** Whether the session has access to this level. */
const mayRead = (level: string | undefined, session: Session): boolean =>
  level === 'registered' ? session.isAuthenticated : session.isPayingSubscriber || session.isTrialing;

/** @returns whether this page may be reloaded; never if that can't be remembered */
function mayReload(): boolean {
  try {
    const key = `wall:${location.pathname}`;
    if (Date.now() - Number(sessionStorage.getItem(key) ?? 0) < once) return false;
    sessionStorage.setItem(key, String(Date.now()));
    return true;
  } catch {
    return false;
  }
}

$session.subscribe((session) => {
  if (session.isAuthenticated) {
    repairOnce();
    idle(() => void import('./corrections.ts').catch(() => {}));
  } else if (session.status === 'anonymous') forgetRepair();
  // No other reader fetches it; a module runs once.
  if (session.activeProduct === 'reader') import('./print-upsell.ts').catch(() => {});
  const wall = document.querySelector<HTMLElement>('.paywall[data-level]');
  // After a payment on this page the paywall opens the article itself.
  if (wall && !$ui.get().paywall.open && mayRead(wall.dataset.level, session) && mayReload()) location.reload();
});

if (await recogniseFromAddress()) await refreshSession();
