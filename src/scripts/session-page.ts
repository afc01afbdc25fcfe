/**
 * Settles who reads the page: repairs a session, recognizes readers of a newsletter by its link, and reloads a restricted article once the
 * session shows that its reader has access. They may have paid in another tab or on another device, or the access cookie had expired.
 */

import type { Session } from '../lib/accounts/session.ts';
import { recogniseFromAddress, repairOnce } from '../lib/accounts/session-client.ts';
import { forgetRepair } from '../lib/accounts/storage.ts';
import { correctionsId, toldPath, type UntoldAnswer } from '../lib/corrections/schema.ts';
import { ask } from '../lib/http/ask.ts';
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

/**
 * @param where `sessionStorage`: in this tab; `localStorage`: in all tabs
 * @returns whether something is due, and counts as done; never if that can't be remembered
 */
function isDue(key: string, every: number, where: 'sessionStorage' | 'localStorage'): boolean {
  try {
    if (Date.now() - Number(window[where].getItem(key) ?? 0) < every) return false;
    window[where].setItem(key, String(Date.now()));
    return true;
  } catch {
    return false;
  }
}

/** Once a page: the session may change under a notice. */
let asked = false;

/** Asks which stories of the reader's history were corrected, once an hour while there are none. */
async function askCorrections(): Promise<void> {
  const key = correctionsId;
  if (asked || !isDue(key, 3_600_000, 'localStorage')) return;
  asked = true;
  const answer = await ask<UntoldAnswer>(toldPath);
  if (!answer.ok || !answer.value.until) return;
  const { tell } = await import('./corrections.ts');
  tell(answer.value, { path: toldPath, anchor: correctionsId }, (may) =>
    localStorage.setItem(key, String(may ? 0 : Date.now())),
  );
}

$session.subscribe((session) => {
  if (session.isAuthenticated) {
    repairOnce();
    idle(() => void askCorrections().catch(() => {}));
  } else if (session.status === 'anonymous') forgetRepair();
  // No other reader fetches it; a module runs once.
  if (session.activeProduct === 'reader') import('./print-upsell.ts').catch(() => {});
  const wall = document.querySelector<HTMLElement>('.paywall[data-level]');
  // After a payment on this page the paywall opens the article itself.
  if (
    wall &&
    !$ui.get().paywall.open &&
    mayRead(wall.dataset.level, session) &&
    isDue(`wall:${location.pathname}`, once, 'sessionStorage')
  )
    location.reload();
});

if (await recogniseFromAddress()) await refreshSession();
