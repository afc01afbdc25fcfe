/** Settles who reads the page: repairs a session, and recognizes readers of a newsletter by its link. */
import { recogniseFromAddress, repairOnce } from '../lib/accounts/session-client.ts';
import { forgetRepair } from '../lib/accounts/storage.ts';
import { $session, refreshSession } from '../stores/session.ts';

$session.subscribe((session) => {
  if (session.isAuthenticated) repairOnce();
  else if (session.status === 'anonymous') forgetRepair();
  // No other reader fetches it; a module runs once.
  if (session.activeProduct === 'reader') import('./print-upsell.ts').catch(() => {});
});

if (document.querySelector('.paywall')) import('./wall.ts').catch(() => {});

if (await recogniseFromAddress()) await refreshSession();
