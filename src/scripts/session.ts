/**
 * Loads the session if the reader may be signed in: a cookie shows it, they were at the last page, or they come from a newsletter. All
 * others are anonymous and load nothing until another tab, or a popup in this one, signs in. A prerendered page asks when it is shown.
 */
import { readVisitor, sessionName, tabs } from '../lib/accounts/visitor.ts';
import { readStored } from '../lib/browser-storage.ts';
import { whenShown } from '../lib/when-shown.ts';

/** A module runs only once, even if it is imported repeatedly. */
function start(): void {
  import('./session-page.ts').catch(console.error);
}

const marked = () => readVisitor(document.cookie) ?? document.documentElement.dataset.visitor;

whenShown(() => {
  if (marked() || readStored(sessionName) || /[?&]recognized_email=/.test(location.search)) start();
  else tabs(start);

  // A page from the back-forward cache may have missed a sign-in.
  addEventListener('pageshow', () => marked() && start());

  // The alert may have changed while the page was hidden.
  let left = Date.now();
  addEventListener('visibilitychange', () => {
    const now = Date.now();
    if (!document.hidden && now - left > 60_000)
      import('./alert.ts').then((alert) => alert.renewAlert()).catch(console.error);
    left = now;
  });
});
