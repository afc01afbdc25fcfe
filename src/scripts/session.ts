/**
 * Loads the session if the reader may be signed in: a cookie shows it, they were at the last page, or they come from a newsletter. All
 * others are anonymous and load nothing until another tab, or a popup in this one, signs in. A prerendered page asks when it is shown.
 */
import { readVisitor, sessionName, tabs } from '../lib/accounts/visitor.ts';
import { whenShown } from '../lib/when-shown.ts';

let started = false;

function start(): void {
  if (started) return;
  started = true;
  import('./session-page.ts').catch((error: unknown) => {
    started = false;
    console.error('The session could not be loaded', error);
  });
}

function wasSignedIn(): boolean {
  try {
    return localStorage.getItem(sessionName) !== null;
  } catch {
    return false;
  }
}

const marked = () => readVisitor(document.cookie) !== null || document.documentElement.dataset.visitor !== undefined;

whenShown(() => {
  if (marked() || wasSignedIn() || /[?&]recognized_email=/.test(location.search)) start();
  else tabs(start);

  // A page from the back-forward cache may have missed a sign-in.
  addEventListener('pageshow', () => marked() && start());
});
