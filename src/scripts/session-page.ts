/** What a page does about its reader: settles who it is, and tells the audience tool where there is one. */
import { forgetRepair, recogniseFromAddress, repairOnce } from '../lib/accounts/chores.ts';
import { createAudience } from '../lib/audience/audience.ts';
import { loadMarfeel, marfeel } from '../lib/audience/marfeel.ts';
import { publication } from '../publication.ts';
import { $session, refreshSession } from '../stores/session.ts';

const account = document.querySelector<HTMLMetaElement>('meta[name="audience-account"]')?.content;
const audience = account ? createAudience(marfeel(), publication.visitorTypeCodes) : null;
if (account) loadMarfeel(account);

$session.subscribe((session) => {
  audience?.session(session);
  if (session.isAuthenticated) repairOnce();
  else if (session.status === 'anonymous') forgetRepair();
});

if (audience) {
  addEventListener('popstate', audience.route);
  addEventListener('pageshow', (event) => event.persisted && audience.route());
}

if (document.querySelector('.paywall')) import('./wall.ts').catch(() => {});

if (await recogniseFromAddress()) await refreshSession();
