/**
 * Handles a change of the reader: repairs a session, recognizes readers of a newsletter by its link, and reloads a restricted article once
 * the session shows that the reader has access: the reader may have paid in another tab or on another device, or the access cookie had
 * expired.
 */

import { isOfferedPrint } from '../lib/accounts/products.ts';
import type { Session } from '../lib/accounts/session.ts';
import { recognizeFromAddress, repairOnce } from '../lib/accounts/session-client.ts';
import { forgetRepair } from '../lib/accounts/storage.ts';
import { correctionsId, seenPath, type UnseenAnswer } from '../lib/corrections/schema.ts';
import { ask } from '../lib/http/ask.ts';
import { $session, refreshSession } from '../stores/session.ts';
import { $ui } from '../stores/ui.ts';

/** Milliseconds in which a page is reloaded once at most. */
const reloadEveryMs = 60_000;

/** Whether the session has access to this level. */
const mayRead = (level: string | undefined, session: Session): boolean =>
  level === 'registered' ? session.isAuthenticated : session.isPayingSubscriber || session.isTrialing;

/** @returns whether this tab may reload the page now, and records it as done; false if that can't be stored */
function claimReload(): boolean {
  const key = `reload:${location.pathname}`;
  try {
    if (Date.now() - (sessionStorage[key] ?? 0) < reloadEveryMs) return false;
    sessionStorage[key] = Date.now();
    return true;
  } catch {
    return false;
  }
}

/** Only once for a page: the session may change while a notice is shown. */
let asked = false;

/**
 * Asks which stories of the reader's history were corrected: while there are none, once an hour for all tabs together.
 *
 * @throws DOMException where the browser stores nothing
 */
async function askCorrections(): Promise<void> {
  // A time in the future was written by a wrong clock.
  if (asked || Math.abs(Date.now() - (localStorage[correctionsId] ?? 0)) < 3_600_000) return;
  asked = true;
  const setDue = (due: boolean): void => {
    localStorage[correctionsId] = due ? 0 : Date.now();
  };
  setDue(false);
  const answer = await ask<UnseenAnswer>(seenPath);
  if (!answer.ok || !answer.value.until) return;
  const { showNotice } = await import('./corrections.ts');
  showNotice(answer.value, { path: seenPath, anchor: correctionsId }, setDue);
}

$session.subscribe((session) => {
  if (session.isAuthenticated) {
    repairOnce();
    // Delayed, because loading the page is more important.
    setTimeout(() => {
      // The reader may have signed out by then.
      if ($session.get().isAuthenticated) askCorrections().catch(() => {});
    }, 3000);
  } else if (session.status === 'anonymous') forgetRepair();
  // Only readers who may get the offer load its code; a module runs only once.
  if (isOfferedPrint(session.activeProduct)) import('./print-upsell.ts').catch(() => {});
  const wall = document.querySelector<HTMLElement>('.paywall[data-level]');
  // After a payment on this page the paywall opens the article itself.
  if (wall && !$ui.get().paywall.open && mayRead(wall.dataset.level, session) && claimReload()) location.reload();
});

if (await recognizeFromAddress()) await refreshSession();
