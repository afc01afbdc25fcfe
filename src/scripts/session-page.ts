/** What a page does about its reader: settles who it is. */
import { forgetRepair, recogniseFromAddress, repairOnce } from '../lib/accounts/session-client.ts';
import { $session, refreshSession } from '../stores/session.ts';

$session.subscribe((session) => {
  if (session.isAuthenticated) repairOnce();
  else if (session.status === 'anonymous') forgetRepair();
  // For nobody else is it even fetched; a module is run once.
  if (session.activeProduct === 'reader') import('./print-upsell.ts').catch(() => {});
});

if (document.querySelector('.paywall')) import('./wall.ts').catch(() => {});

if (await recogniseFromAddress()) await refreshSession();
